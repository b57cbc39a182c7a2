"""Upsilon, the kernel of Lambda ([J] 66-68), and how psi carries forces past a joint."""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Sym3, Vec3
from spatialops._compile.jit import inlined
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    mat3,
    plus,
    plus_scaled,
    put_mat3,
    put_sym3,
    rotate,
    rotate_back,
    scaled,
    sym3,
    sym_times,
    vec3,
)
from spatialops.dynamics.kinematics import axis_of


@inlined
def motion_axis(tree: IntArray, links: Array, work: Array, k: int) -> tuple[Vec3, Vec3]:
    """H*(k) = (angular, linear): the spatial velocity of link k at unit rate."""
    axis, motion = axis_of(tree, work, k), tree[k, layout.MOTION]
    if motion == layout.ROTARY:
        return axis, ZERO3
    if motion == layout.LINEAR:
        return ZERO3, axis
    return axis, scaled(links[k, layout.PITCH], axis)


@inlined
def shifted_compliance(ups: Array, k: int, r: Vec3) -> tuple[Sym3, tuple[Vec3, Vec3, Vec3], Sym3]:
    """Shift phi* Upsilon phi for a lever r: F' = F + E r~, G' = G + F^T r~ - r~ F' (E stays)."""
    E = sym3(ups, k, layout.UPS_E)
    F = mat3(ups, k, layout.UPS_F)
    G = sym3(ups, k, layout.UPS_G)
    # Row i of E r~ is E_i x r, because (r~)^T = -r~ and a^T r~ = (a x r)^T.
    f0 = plus(F[0], cross((E[0], E[1], E[2]), r))
    f1 = plus(F[1], cross((E[1], E[3], E[4]), r))
    f2 = plus(F[2], cross((E[2], E[4], E[5]), r))
    # F^T r~: row i is (column i of F) x r.  r~ F': row i of it from rows of F'.
    a0 = cross((F[0][0], F[1][0], F[2][0]), r)
    a1 = cross((F[0][1], F[1][1], F[2][1]), r)
    a2 = cross((F[0][2], F[1][2], F[2][2]), r)
    x, y, z = r
    g = (
        G[0] + a0[0] - (y * f2[0] - z * f1[0]),
        G[1] + a0[1] - (y * f2[1] - z * f1[1]),
        G[2] + a0[2] - (y * f2[2] - z * f1[2]),
        G[3] + a1[1] - (z * f0[1] - x * f2[1]),
        G[4] + a1[2] - (z * f0[2] - x * f2[2]),
        G[5] + a2[2] - (x * f1[2] - y * f0[2]),
    )
    return E, (f0, f1, f2), g


@inlined
def sym_minus_mixed(S: Sym3, a: Vec3, b: Vec3) -> Sym3:
    """S - a b^T - b a^T."""
    return (
        S[0] - 2.0 * a[0] * b[0],
        S[1] - a[0] * b[1] - a[1] * b[0],
        S[2] - a[0] * b[2] - a[2] * b[0],
        S[3] - 2.0 * a[1] * b[1],
        S[4] - a[1] * b[2] - a[2] * b[1],
        S[5] - 2.0 * a[2] * b[2],
    )


@inlined
def mat_minus_mixed(
    M: tuple[Vec3, Vec3, Vec3], a: Vec3, b: Vec3, c: Vec3, d: Vec3
) -> tuple[Vec3, Vec3, Vec3]:
    """M - a b^T - c d^T."""
    return (
        plus_scaled(plus_scaled(M[0], -a[0], b), -c[0], d),
        plus_scaled(plus_scaled(M[1], -a[1], b), -c[1], d),
        plus_scaled(plus_scaled(M[2], -a[2], b), -c[2], d),
    )


@inlined
def put_upsilon(
    tree: IntArray, links: Array, work: Array, ups: Array, k: int, above: int, row: int
) -> None:
    """Upsilon(k) = psi* Upsilon(parent) psi + H* D^-1 H ([J] 67).

    That of the parent is in row `above` of `ups` (-1 at the base), this one goes to row `row`.

    With Y = phi* Upsilon(parent) phi, h = Y U / D and s = H*: Y - s h^T - h s^T + s s^T (h.U + 1) /
    D. Y U is taken as phi* (Upsilon(parent) phi U), so that it need not wait for Y."""
    d_inverse = work[k, layout.D_INVERSE]
    s_w, s_v = motion_axis(tree, links, work, k)
    E: Sym3 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    F = (ZERO3, ZERO3, ZERO3)
    G = E
    h_w = ZERO3
    h_v = ZERO3
    f = d_inverse
    if above >= 0:
        lever, gain_f = vec3(work, k, layout.LEVER), vec3(work, k, layout.GAIN_F)
        gain_m = plus(vec3(work, k, layout.GAIN_M), cross(lever, gain_f))
        E = sym3(ups, above, layout.UPS_E)
        F = mat3(ups, above, layout.UPS_F)
        G = sym3(ups, above, layout.UPS_G)
        h_w = plus(sym_times(E, gain_m), rotate(F, gain_f))
        h_v = plus(rotate_back(F, gain_m), sym_times(G, gain_f))
        f = d_inverse + d_inverse * d_inverse * (dot(h_w, gain_m) + dot(h_v, gain_f))
        h_w, h_v = scaled(d_inverse, h_w), scaled(d_inverse, plus(h_v, cross(h_w, lever)))
        E, F, G = shifted_compliance(ups, above, lever)
    # - s h^T - h s^T + f s s^T = - s g^T - g s^T with g = h - (f / 2) s.
    g_w, g_v = plus_scaled(h_w, -0.5 * f, s_w), plus_scaled(h_v, -0.5 * f, s_v)
    put_sym3(ups, row, layout.UPS_E, sym_minus_mixed(E, s_w, g_w))
    put_mat3(ups, row, layout.UPS_F, mat_minus_mixed(F, s_w, g_v, g_w, s_v))
    put_sym3(ups, row, layout.UPS_G, sym_minus_mixed(G, s_v, g_v))
