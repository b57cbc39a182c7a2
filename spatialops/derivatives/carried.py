"""How joints' axes move, and what links carry: all that derivatives of the dynamics are made of.

A change of coordinate j moves all that its joint carries rigidly by the twist S(j): the change of a
quantity X of a carried link is S(j) x X, but for what the velocity and acceleration of the parent
do not take part in. With V, A the spatial velocity and acceleration of the joint's parent at the
link's origin, V' the velocity of its body, and

    S' = V x S,    S'' = A x S + V x S',    S'_b = V' x S,

I the composite inertia, f the composite force, and the matrix of Coriolis forces

    2 B = V x* I - I V x + (I V) x-*   (that is, (I V) x-* m = m x* (I V)),

one has, where j is i's ancestor or of the same joint (Singh, Russell and Wensing 2022),

    d tau(i) / dq(j) = S(i)* (2 B S'(j) + I S''(j)),
    d tau(j) / dq(i) = S(j)* (2 B S'(i) + I S''(i) + S(i) x* f), the last only from an ancestor,
    d tau(i) / dv(j) = S(i)* (2 B S(j) + I (S'(j) + S'_b(j))), and the same with i and j exchanged.

About the link's own origin 2 B has twelve numbers only: with the second moment E = tr(J) / 2 - J,
first moment h and momentum p of what is carried,

    2 B (w, u) = (T w, -2 p x w),   T = -2 (w~ E + h~ v~) summed over links, shifted by -2 r~ p~.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Mat3, Sym3, Vec3
from spatialops._compile.jit import inlined
from spatialops.algebra.simd import WIDTH
from spatialops.algebra.vectors import (
    ZERO3,
    add3,
    cross,
    dot,
    mat3,
    minus,
    plus,
    plus_scaled,
    put3,
    put_sym3,
    rotate,
    rotate_back,
    scaled,
    sym3,
    sym_rotated,
    sym_times,
    vec3,
)
from spatialops.dynamics.composite_lanes import shift_of_inertia
from spatialops.dynamics.kinematics import axis_of
from spatialops.dynamics.newton_euler import put_inertial_force

# What a link carries, in columns of the workspace that articulated inertias leave free. Forces are
# in MOMENT and FORCE.
INERTIA = layout.ART_J  # 6: J
CORIOLIS = layout.ART_B  # 9: T, column after column
CENTER = layout.ART_C  # 3: h
MOMENTUM = layout.ART_C + 3  # 3: p
MASS = layout.RESIDUAL

# The table of motions has a row for every link: in component i, eight numbers from 8 i on are
# component i of
AXIS = 0  # S, also in places 1, 2 and 5,
SECOND = 3  # S'',
BOTH = 4  # S' + S'_b,
FIRST = 6  # S'. They are to be multiplied by eight wrenches at a time.
AXES = (0, 1, 2, 5)
EMPTY = 7

Pair = tuple[Vec3, Vec3]  # motion (angular, linear) or wrench (moment, force)


@inlined
def force_on(work: Array, k: int) -> Pair:
    """Composite force of link k."""
    return vec3(work, k, layout.MOMENT), vec3(work, k, layout.FORCE)


@inlined
def one_of_eight(table: Array, k: int, place: int) -> Pair:
    """One of the eight motions, or wrenches, of row k."""
    return (
        (table[k, place], table[k, place + WIDTH], table[k, place + 2 * WIDTH]),
        (table[k, place + 3 * WIDTH], table[k, place + 4 * WIDTH], table[k, place + 5 * WIDTH]),
    )


@inlined
def put_one_of_eight(table: Array, k: int, place: int, a: Pair) -> None:
    for i in range(3):
        table[k, place + WIDTH * i] = a[0][i]
        table[k, place + WIDTH * (i + 3)] = a[1][i]


@inlined
def sum_of(a: Pair, b: Pair) -> Pair:
    return plus(a[0], b[0]), plus(a[1], b[1])


@inlined
def power(force: Pair, motion: Pair) -> float:
    return dot(force[0], motion[0]) + dot(force[1], motion[1])


@inlined
def moved_by(V: Pair, S: Pair) -> Pair:
    """V x S of motions."""
    return cross(V[0], S[0]), plus(cross(V[0], S[1]), cross(V[1], S[0]))


@inlined
def turned_by_twist(S: Pair, f: Pair) -> Pair:
    """S x* f of a motion and a wrench."""
    return plus(cross(S[0], f[0]), cross(S[1], f[1])), cross(S[0], f[1])


@inlined
def shifted(r: Vec3, f: Pair) -> Pair:
    """phi(parent, k): wrench f about the parent's origin, r before the link's."""
    return plus(f[0], cross(r, f[1])), f[1]


@inlined
def double_cross(a: Vec3, b: Vec3) -> Mat3:
    """Columns of a~ b~, one after the other: a x (b x e_j) = b a_j - e_j (a . b)."""
    d = dot(a, b)
    x = scaled(a[0], b)
    y = scaled(a[1], b)
    z = scaled(a[2], b)
    return (x[0] - d, x[1], x[2]), (y[0], y[1] - d, y[2]), (z[0], z[1], z[2] - d)


@inlined
def axis_motion(tree: IntArray, links: Array, work: Array, k: int) -> Pair:
    """S of link k: velocity of its origin's frame at unit rate."""
    axis, motion = axis_of(tree, work, k), tree[k, layout.MOTION]
    angular = ZERO3 if motion == layout.LINEAR else axis
    if motion == layout.ROTARY:
        return angular, ZERO3
    return angular, scaled(1.0 if motion == layout.LINEAR else links[k, layout.PITCH], axis)


@inlined
def parent_motion(tree: IntArray, base: Vec3, work: Array, k: int) -> tuple[Pair, Pair]:
    """Spatial velocity and acceleration of link k's parent at k's origin."""
    parent = tree[k, layout.PARENT]
    if parent < 0:
        return (ZERO3, ZERO3), (ZERO3, base)
    lever = vec3(work, k, layout.LEVER)
    omega, alpha = vec3(work, parent, layout.OMEGA), vec3(work, parent, layout.ALPHA)
    # Of the point that is at the origin now, w x (v + w x r) less what is conventional.
    spatial = minus(
        vec3(work, parent, layout.ACCEL), cross(omega, vec3(work, parent, layout.VELOCITY))
    )
    velocity = plus(vec3(work, parent, layout.VELOCITY), cross(omega, lever))
    return (omega, velocity), (alpha, plus(spatial, cross(alpha, lever)))


@inlined
def put_axes(tree: IntArray, links: Array, base: Vec3, work: Array, table: Array) -> None:
    """S, S', S'' and S' + S'_b of all links; velocities and accelerations must be in `work`."""
    V = (ZERO3, ZERO3)
    A = (ZERO3, ZERO3)
    last = 0
    for k in range(tree.shape[0]):
        if tree[k, layout.FRAME] != layout.SAME:
            V, A = parent_motion(tree, base, work, k)
            last = k + tree[k, layout.GROUP] - 1
        S = axis_motion(tree, links, work, k)
        first = moved_by(V, S)
        own = moved_by((vec3(work, last, layout.OMEGA), vec3(work, last, layout.VELOCITY)), S)
        for place in AXES:
            put_one_of_eight(table, k, place, S)
        put_one_of_eight(table, k, FIRST, first)
        put_one_of_eight(table, k, SECOND, sum_of(moved_by(A, S), moved_by(V, first)))
        put_one_of_eight(table, k, BOTH, sum_of(first, own))
        put_one_of_eight(table, k, EMPTY, (ZERO3, ZERO3))


@inlined
def second_moment(J: Sym3) -> Mat3:
    """E = tr(J) / 2 - J."""
    half = 0.5 * (J[0] + J[3] + J[5])
    return (half - J[0], -J[1], -J[2]), (-J[1], half - J[3], -J[4]), (-J[2], -J[4], half - J[5])


@inlined
def put_own(links: Array, work: Array, k: int) -> None:
    """Inertia and Coriolis matrix of link k alone."""
    rotation, mass = mat3(work, k, layout.ROTATION), links[k, layout.MASS]
    omega, v = vec3(work, k, layout.OMEGA), vec3(work, k, layout.VELOCITY)
    h = scaled(mass, rotate(rotation, vec3(links, k, layout.COM)))
    J = sym_rotated(rotation, sym3(links, k, layout.INERTIA))
    E, swing = second_moment(J), double_cross(h, v)
    work[k, MASS] = mass
    put3(work, k, CENTER, h)
    put_sym3(work, k, INERTIA, J)
    put3(work, k, CORIOLIS, scaled(-2.0, plus(cross(omega, E[0]), swing[0])))
    put3(work, k, CORIOLIS + 3, scaled(-2.0, plus(cross(omega, E[1]), swing[1])))
    put3(work, k, CORIOLIS + 6, scaled(-2.0, plus(cross(omega, E[2]), swing[2])))
    put3(work, k, MOMENTUM, plus_scaled(cross(omega, h), mass, v))


@inlined
def put_own_all(links: Array, work: Array) -> None:
    """Inertias, Coriolis matrices and forces of the links alone; external ones not taken off."""
    for k in range(links.shape[0]):
        put_own(links, work, k)
        put_inertial_force(links, work, k, vec3(work, k, layout.ALPHA), vec3(work, k, layout.ACCEL))


@inlined
def add_to_parent(tree: IntArray, work: Array, k: int) -> None:
    """Add what link k carries to what its parent does."""
    parent = tree[k, layout.PARENT]
    if parent < 0:
        return
    r = vec3(work, k, layout.LEVER)
    mass, h = work[k, MASS], vec3(work, k, CENTER)
    p, press = vec3(work, k, MOMENTUM), force_on(work, k)
    gain, swing = shift_of_inertia(mass, h, r), double_cross(r, p)
    work[parent, MASS] += mass
    add3(work, parent, CENTER, plus_scaled(h, mass, r))
    for i in range(6):
        work[parent, INERTIA + i] += work[k, INERTIA + i] + gain[i]
    for i in range(3):
        add3(
            work,
            parent,
            CORIOLIS + 3 * i,
            plus_scaled(vec3(work, k, CORIOLIS + 3 * i), -2.0, swing[i]),
        )
    add3(work, parent, MOMENTUM, p)
    press = shifted(r, press)
    add3(work, parent, layout.MOMENT, press[0])
    add3(work, parent, layout.FORCE, press[1])


@inlined
def inertia_times(work: Array, k: int, S: Pair) -> Pair:
    """I S of all that link k carries: (J w + h x u, m u + w x h)."""
    h = vec3(work, k, CENTER)
    return (
        plus(sym_times(sym3(work, k, INERTIA), S[0]), cross(h, S[1])),
        plus_scaled(cross(S[0], h), work[k, MASS], S[1]),
    )


@inlined
def coriolis_times(work: Array, k: int, S: Pair) -> Pair:
    """2 B S = (T w, -2 p x w)."""
    p = vec3(work, k, MOMENTUM)
    return rotate_back(mat3(work, k, CORIOLIS), S[0]), scaled(2.0, cross(S[0], p))


@inlined
def coriolis_back(work: Array, k: int, S: Pair) -> Vec3:
    """(2 B)* S = (T* w + 2 p x u, 0): its moment part, which no shift changes."""
    p = vec3(work, k, MOMENTUM)
    return plus_scaled(rotate(mat3(work, k, CORIOLIS), S[0]), 2.0, cross(p, S[1]))
