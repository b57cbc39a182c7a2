"""Free bodies that nothing hangs on: energy and angular momentum to rounding at any spin.

With I the inertia about the centre of mass, w and w+ the angular velocities in body axes before and
after, and w_m their mean, the body turns by exp(h w_m) and

    I (w+ - w) + h k w_m x I w_m = h moment,    k = tan(h |w_m| / 2) / (h |w_m| / 2).

w_m . (w_m x I w_m) = 0: energy is kept. exp(h w_m) = (1 - T)^-1 (1 + T) with T = (h / 2) k [w_m x]:
(1 + T) I w+ = (1 - T) I w + h moment is what keeps angular momentum in the world. Newton's method
in three variables finds w+; the centre of mass moves as a point. Contacts act at the middle, at
the turn of half a step without them; what they change is turned afterwards.

Velocities of free bodies are those of the origin. The centre of mass lies at c from it, and moves
at u = v + w x c.
"""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array, Mat3, Sym3, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    mat3,
    minus,
    plus,
    plus_scaled,
    rotate,
    rotate_back,
    scaled,
    sym3,
    sym_times,
    vec3,
)
from spatialops.dynamics.newton_euler import lifted
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.loop_constraints import turn_by
from spatialops.simulation.stepping.integrators.joint_forces import n_lone
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import transport

_MOST_ROUNDS = 20  # of Newton's method; with k of the round before it gains (h w)^2 a round
_LARGEST_HALF_TURN = 1.2  # rad: tan grows without bound at pi / 2
_ROUNDING = 1e-15


@inlined
def three(v: Array, k: int) -> Vec3:
    """Entries k to k + 2."""
    return v[k], v[k + 1], v[k + 2]


@inlined
def put_three(v: Array, k: int, a: Vec3) -> None:
    v[k] = a[0]
    v[k + 1] = a[1]
    v[k + 2] = a[2]


@inlined
def about_center(links: Array, k: int) -> Sym3:
    """Inertia of link k about its centre of mass, I - m (c.c 1 - c c^T)."""
    xx, xy, xz, yy, yz, zz = sym3(links, k, layout.INERTIA)
    x, y, z = vec3(links, k, layout.COM)
    m = links[k, layout.MASS]
    return (
        xx - m * (y * y + z * z),
        xy + m * x * y,
        xz + m * x * z,
        yy - m * (x * x + z * z),
        yz + m * y * z,
        zz - m * (x * x + y * y),
    )


@inlined
def solve_three(m: Mat3, b: Vec3) -> Vec3:
    """x with m x = b, by Cramer's rule."""
    first = (m[0][0], m[1][0], m[2][0])
    second = (m[0][1], m[1][1], m[2][1])
    third = (m[0][2], m[1][2], m[2][2])
    normal = cross(second, third)
    f = 1.0 / dot(first, normal)
    return (
        f * dot(b, normal),
        f * dot(first, cross(b, third)),
        f * dot(first, cross(second, b)),
    )


@inlined
def spin_slope(inertia: Sym3, w: Vec3, f: float) -> Mat3:
    """Derivative I + f ([w x] I - [(I w) x]) of the equation by w+."""
    xx, xy, xz, yy, yz, zz = inertia
    x, y, z = sym_times(inertia, w)
    a = cross(w, (xx, xy, xz))
    b = cross(w, (xy, yy, yz))
    c = cross(w, (xz, yz, zz))
    return (
        (xx + f * a[0], xy + f * (b[0] + z), xz + f * (c[0] - y)),
        (xy + f * (a[1] - z), yy + f * b[1], yz + f * (c[1] + x)),
        (xz + f * (a[2] + y), yz + f * (b[2] - x), zz + f * c[2]),
    )


@inlined
def tangent_over(x: float) -> float:
    """The quotient tan(x) / x, by its series near zero."""
    square = x * x
    if square < 1e-4:
        return 1.0 + square * (1.0 / 3.0 + square * (2.0 / 15.0))
    return math.tan(x) / x


@kernel
def spin_change(inertia: Sym3, w: Vec3, pushed: Vec3, moment: Vec3, s: float) -> tuple[Vec3, bool]:
    """Change w+ - w without `pushed`, what contacts are to add, and whether it was found."""
    change = step = ZERO3
    speed = 0.0
    for _ in range(_MOST_ROUNDS):
        w_m = plus_scaled(w, 0.5, plus(change, pushed))
        speed = math.sqrt(dot(w_m, w_m))
        if not 0.5 * s * speed < _LARGEST_HALF_TURN:
            return change, False
        f = s * tangent_over(0.5 * s * speed)
        left = plus_scaled(sym_times(inertia, change), f, cross(w_m, sym_times(inertia, w_m)))
        step = solve_three(spin_slope(inertia, w_m, 0.5 * f), minus(left, moment))
        change = minus(change, step)
        if dot(step, step) <= _ROUNDING * _ROUNDING * (speed * speed + dot(change, change)):
            return change, True
    return change, dot(step, step) <= 1e-18 * (speed * speed)  # what rounding keeps moving


@inlined
def pushing_moment(t: Tables, k: int) -> Vec3:
    """Moment of joint forces about the centre of lone body k, body axes."""
    force = three(t.tau, k + 3)
    return minus(three(t.tau, k), cross(vec3(t.links, k + 5, layout.COM), force))


@kernel
def turn_lone(t: Tables, guess: Array, dv: Array) -> bool:
    """Changes of the spins of lone bodies over the piece, into `dv`; whether all were found."""
    s = t.monitor[at.PIECE]
    found = True
    for i in range(n_lone(t)):
        k = t.lone[i]
        change, sure = spin_change(
            about_center(t.links, k + 5),
            three(t.v, k),
            three(guess, k),
            scaled(s, pushing_moment(t, k)),
            s,
        )
        put_three(dv, k, change)
        found = found and sure
    return found


@kernel
def aim_lone(t: Tables, aim: Array, dv: Array) -> None:
    """Changes of the spins of lone bodies without contacts, where `aim` is the whole change."""
    s = t.monitor[at.PIECE]
    for i in range(n_lone(t)):
        k = t.lone[i]
        inertia = about_center(t.links, k + 5)
        w_m = plus_scaled(three(t.v, k), 0.5, three(aim, k))
        f = tangent_over(0.5 * s * math.sqrt(dot(w_m, w_m)))
        gyroscopic = scaled(f, cross(w_m, sym_times(inertia, w_m)))
        left = scaled(s, minus(pushing_moment(t, k), gyroscopic))
        put_three(dv, k, solve_three(spin_slope(inertia, ZERO3, 0.0), left))


@kernel
def put_lone(t: Tables, change: Array, dv: Array) -> None:
    """Velocity changes of lone bodies into `dv`; poses must be in `work`.

    The spins are in `change`; the centre of mass gains s (g + f / m), the origin less by dw x c.
    """
    s = t.monitor[at.PIECE]
    up = lifted(t.links)
    for i in range(n_lone(t)):
        k = t.lone[i]
        spin = three(change, k)
        pull = rotate_back(mat3(t.work, k, layout.ROTATION), up)
        gained = minus(scaled(1.0 / t.links[k + 5, layout.MASS], three(t.tau, k + 3)), pull)
        turned = cross(spin, vec3(t.links, k + 5, layout.COM))
        put_three(dv, k, spin)
        put_three(dv, k + 3, minus(scaled(s, gained), turned))


@kernel
def to_centers(t: Tables, v: Array, sign: float) -> None:
    """Linear velocities of lone bodies from their origins to their centres (1), or back (-1)."""
    for i in range(n_lone(t)):
        k = t.lone[i]
        swing = cross(three(v, k), vec3(t.links, k + 5, layout.COM))
        put_three(v, k + 3, plus_scaled(three(v, k + 3), sign, swing))


@kernel
def carry(t: Tables, q_from: Array, q_to: Array, v: Array) -> None:
    """`transport`, in which it is the centres of lone bodies that go straight."""
    to_centers(t, v, 1.0)
    transport(t.tree, q_from, q_to, v)
    to_centers(t, v, -1.0)


@kernel
def place_lone(t: Tables, v: Array, s: float, gain: Array, s_gain: float, move: Array) -> None:
    """Ways of the origins of lone bodies that turn by the rotation vectors in `move`.

    Their centres go by s u + s_gain du with the velocities u of `v` and du of `gain`, and the
    origins swing about them: that way + c - exp(turn) c.
    """
    for i in range(n_lone(t)):
        k = t.lone[i]
        c = vec3(t.links, k + 5, layout.COM)
        u = plus(three(v, k + 3), cross(three(v, k), c))
        du = plus(three(gain, k + 3), cross(three(gain, k), c))
        way = plus_scaled(scaled(s, u), s_gain, du)
        swung = minus(c, rotate(turn_by(three(move, k)), c))
        put_three(move, k + 3, plus(way, swung))
