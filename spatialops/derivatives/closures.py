"""How rows of closures change with coordinates and velocities: accelerations, and G* lambda.

A row is fixed to the frame on B, so that what counts is the motion of A seen from there, at P:
with x the line from B's origin to A's, V = V_A - V_B and E = A_A - A_B - V_B x V (spatial ones),

    xdot = v,   xddot = E_lin + w x v,

and rows have d.xddot, d.E_ang, or for a length d.xddot + |v_across|^2 / |x|. A coordinate of a
joint that carries both bodies moves them together and changes none of these. So one that carries B
changes what one that carried A with the same twist would, with the opposite sign; and for those of
A (`carried.py` has S', S'' and S'_b, of spatial motions)

    by q:  dV = S x V_A + S',  dA = S x A_A + S'' + S' x V_A,  P moves by s, S's linear part at P,
    by v:  dV = S,             dA = S' + S'_b + S x V_A.

Multipliers make a wrench (N, F) at P of a closure. With S = (w, s) at P, signs +1 for joints that
carry A and -1 for those of B, and `outer` a joint that is nearer to B on the path from there to A,

    d(G* lambda)_i / dq_j = +-(N.(w_j x w_i) + F.(w_j x s_i)) where j is outer,
                            +-F.(w_i x s_j) where not,

and a rod, which turns with its ends, lambda / |x| times the product of s_i and s_j across it on
top. A coupler's rows are constant.
"""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import ZERO3, cross, dot, minus, plus, plus_scaled, scaled, vec3
from spatialops.derivatives.carried import (
    AXIS,
    BOTH,
    FIRST,
    SECOND,
    Pair,
    moved_by,
    one_of_eight,
    put_axes,
    sum_of,
)
from spatialops.dynamics.kinematics import move_link, place_link
from spatialops.dynamics.loops.rows import acceleration_at, motion_at
from spatialops.dynamics.loops.terms import COINCIDE, world_point
from spatialops.dynamics.newton_euler import accelerate_link, lifted

# Columns of a path.
LINK = 0
SIGN = 1
PATH_COLUMNS = 2


@kernel
def motions_kernel(
    tree: IntArray, links: Array, q: Array, v: Array, a: Array, stack: Array
) -> None:
    """Motions of the links, and of their axes as `put_axes` has them, into a stack of the model."""
    n = tree.shape[0]
    base = lifted(links)
    for k in range(n):
        place_link(tree, links, q, stack, k)
        move_link(tree, links, v, stack, k)
        accelerate_link(tree, links, base, a, stack, k)
    put_axes(tree, links, base, stack[:n], stack[n : 2 * n + 1])


@inlined
def put_path(tree: IntArray, a: int, b: int, path: IntArray) -> int:
    """Write the joints that carry one of two links but not both; returns their number."""
    count = 0
    while a != b:  # a parent has the smaller number
        sign = 1 if a > b else -1
        path[count, LINK] = max(a, b)
        path[count, SIGN] = sign
        if sign > 0:
            a = tree[a, layout.PARENT]
        else:
            b = tree[b, layout.PARENT]
        count += 1
    return count


@inlined
def at_point(stack: Array, k: int, point: Vec3, S: Pair) -> Pair:
    """A motion of link k at its origin, taken at `point`."""
    return S[0], plus(S[1], cross(S[0], minus(point, vec3(stack, k, layout.ORIGIN))))


@inlined
def axis_at(stack: Array, n: int, k: int, point: Vec3, place: int) -> Pair:
    """One of the motions of joint k's axis, at `point`."""
    return at_point(stack, k, point, one_of_eight(stack[n:], k, place))


@inlined
def spatial_motion(stack: Array, base: Vec3, k: int, point: Vec3) -> tuple[Pair, Pair]:
    """Spatial velocity and acceleration of link k at `point`."""
    V = motion_at(stack, k, point)
    alpha, accel = acceleration_at(stack, base, k, point)
    return V, (alpha, minus(accel, cross(V[0], V[1])))


@inlined
def less(a: Pair, b: Pair) -> Pair:
    return minus(a[0], b[0]), minus(a[1], b[1])


@inlined
def seen_from_b(V_b: Pair, V: Pair, E: Pair, dV: Pair, dA: Pair, dx: Vec3) -> tuple[Pair, Pair]:
    """Changes of (w, xdot) and of (E_ang, xddot), for changes of A's motion and of P."""
    dE = less(dA, moved_by(V_b, dV))
    rate = plus(dV[1], cross(V[0], dx))
    accel = plus(plus(dE[1], cross(E[0], dx)), plus(cross(dV[0], V[1]), cross(V[0], rate)))
    return (dV[0], rate), (dE[0], accel)


@inlined
def length_change(
    line: Vec3, V: Pair, E: Pair, dx: Vec3, rate_change: Vec3, accel_change: Vec3
) -> float:
    """Change of d.xddot + (|xdot|^2 - (d.xdot)^2) / |x|, d = x / |x|; `line` is x."""
    length = math.sqrt(dot(line, line))
    if length < COINCIDE:  # there d is z, and nothing more
        return accel_change[2]
    d = scaled(1.0 / length, line)
    turn = scaled(1.0 / length, plus_scaled(dx, -dot(d, dx), d))
    accel = plus(E[1], cross(V[0], V[1]))
    along = dot(d, V[1])
    across = dot(V[1], V[1]) - along * along
    swing = 2.0 * dot(V[1], rate_change)
    swing -= 2.0 * along * (dot(turn, V[1]) + dot(d, rate_change))
    swing -= across * dot(d, dx) / length
    return dot(turn, accel) + dot(d, accel_change) + swing / length


@inlined
def line_of(loop_ints: IntArray, loops: Array, terms: Array, stack: Array, i: int) -> Vec3:
    """From B's origin of closure i to A's."""
    other = world_point(stack, loop_ints[i, layout.LOOP_B], vec3(loops, i, layout.LOOP_POINT_B))
    return minus(vec3(terms, loop_ints[i, layout.LOOP_TERM], layout.TERM_POINT), other)


@kernel
def closure_changes_kernel(
    tree: IntArray,
    links: Array,
    loop_ints: IntArray,
    loops: Array,
    terms: Array,
    stack: Array,
    path: IntArray,
    by_q: Array,
    by_v: Array,
) -> None:
    """Derivatives of G a + Gdot v of all rows by q and v, into zeros; motions must be in `stack`.

    `path` has room for all links.
    """
    n, base = tree.shape[0], lifted(links)
    for i in range(loop_ints.shape[0]):
        kind = loop_ints[i, layout.LOOP_KIND]
        if kind == layout.CLOSE_COUPLER:
            continue
        a, b = loop_ints[i, layout.LOOP_A], loop_ints[i, layout.LOOP_B]
        first, row = loop_ints[i, layout.LOOP_TERM], loop_ints[i, layout.LOOP_ROW]
        point, line = vec3(terms, first, layout.TERM_POINT), ZERO3
        if kind == layout.CLOSE_DISTANCE:
            line = line_of(loop_ints, loops, terms, stack, i)
        V_a, A_a = spatial_motion(stack, base, a, point)
        V_b, A_b = spatial_motion(stack, base, b, point)
        V = less(V_a, V_b)
        E = less(less(A_a, A_b), moved_by(V_b, V))
        for p in range(put_path(tree, a, b, path)):
            k, sign = path[p, LINK], float(path[p, SIGN])
            S, prime = axis_at(stack, n, k, point, AXIS), axis_at(stack, n, k, point, FIRST)
            second, both = axis_at(stack, n, k, point, SECOND), axis_at(stack, n, k, point, BOTH)
            dA = sum_of(sum_of(moved_by(S, A_a), second), moved_by(prime, V_a))
            q_rate, q_accel = seen_from_b(V_b, V, E, sum_of(moved_by(S, V_a), prime), dA, S[1])
            dA = sum_of(both, moved_by(S, V_a))
            v_rate, v_accel = seen_from_b(V_b, V, E, S, dA, ZERO3)
            if kind == layout.CLOSE_DISTANCE:
                change = length_change(line, V, E, S[1], q_rate[1], q_accel[1])
                by_q[row, k] = sign * change
                by_v[row, k] = sign * length_change(line, V, E, ZERO3, v_rate[1], v_accel[1])
                continue
            for j in range(loop_ints[i, layout.LOOP_TERMS]):
                angular = vec3(terms, first + j, layout.TERM_ANGULAR)
                linear = vec3(terms, first + j, layout.TERM_LINEAR)
                by_q[row + j, k] = sign * (dot(angular, q_accel[0]) + dot(linear, q_accel[1]))
                by_v[row + j, k] = sign * (dot(angular, v_accel[0]) + dot(linear, v_accel[1]))


@inlined
def wrench_of(loop_ints: IntArray, terms: Array, multipliers: Array, i: int) -> Pair:
    """(N, F) at P of closure i on A."""
    moment = ZERO3
    force = ZERO3
    row = loop_ints[i, layout.LOOP_ROW]
    for j in range(loop_ints[i, layout.LOOP_TERMS]):
        n = loop_ints[i, layout.LOOP_TERM] + j
        moment = plus_scaled(moment, multipliers[row + j], vec3(terms, n, layout.TERM_ANGULAR))
        force = plus_scaled(force, multipliers[row + j], vec3(terms, n, layout.TERM_LINEAR))
    return moment, force


@inlined
def is_outer(tree: IntArray, path: IntArray, i: int, j: int) -> bool:
    """Whether joint j of the path moves joint i against B."""
    if path[i, SIGN] != path[j, SIGN]:
        return path[j, SIGN] < 0
    first = path[j, LINK]
    while tree[first, layout.FRAME] == layout.SAME:  # axes of one joint turn with all of it
        first -= 1
    carries = first <= path[i, LINK]
    return carries if path[j, SIGN] > 0 else not carries


@kernel
def closure_stiffness_kernel(
    tree: IntArray,
    loop_ints: IntArray,
    loops: Array,
    terms: Array,
    multipliers: Array,
    stack: Array,
    path: IntArray,
    out: Array,
) -> None:
    """Add d(G* lambda) / dq, lambda as it is, to `out`; motions must be in `stack`."""
    n = tree.shape[0]
    for loop in range(loop_ints.shape[0]):
        kind = loop_ints[loop, layout.LOOP_KIND]
        if kind == layout.CLOSE_COUPLER:
            continue
        point = vec3(terms, loop_ints[loop, layout.LOOP_TERM], layout.TERM_POINT)
        moment, force = wrench_of(loop_ints, terms, multipliers, loop)
        line = line_of(loop_ints, loops, terms, stack, loop)
        length = math.sqrt(dot(line, line))
        pull = 0.0
        if kind == layout.CLOSE_DISTANCE and length > COINCIDE:
            pull = multipliers[loop_ints[loop, layout.LOOP_ROW]] / length
        count = put_path(tree, loop_ints[loop, layout.LOOP_A], loop_ints[loop, layout.LOOP_B], path)
        for i in range(count):
            S = axis_at(stack, n, path[i, LINK], point, AXIS)
            for j in range(count):
                T = axis_at(stack, n, path[j, LINK], point, AXIS)
                if is_outer(tree, path, i, j):
                    entry = dot(moment, cross(T[0], S[0])) + dot(force, cross(T[0], S[1]))
                else:
                    entry = dot(force, cross(S[0], T[1]))
                if pull != 0.0:
                    along = dot(line, S[1]) * dot(line, T[1]) / (length * length)
                    entry += pull * (dot(S[1], T[1]) - along)
                out[path[i, LINK], path[j, LINK]] += path[i, SIGN] * path[j, SIGN] * entry
