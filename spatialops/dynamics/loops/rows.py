"""Rows of closures from their terms: velocities, accelerations, Jacobian G and L = G S.

Kinds are told apart only in the two parts of the acceleration that a term does not hold: the
curvature of a distance, and the turning of a driven frame.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
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
    scaled,
    vec3,
)
from spatialops.dynamics.kinematics import axis_of
from spatialops.dynamics.loops.terms import COINCIDE, world_axes, world_point
from spatialops.dynamics.response import add_wrench_row


@inlined
def motion_at(work: Array, k: int, point: Vec3) -> tuple[Vec3, Vec3]:
    """Angular velocity, and velocity of the point of link k that is at `point`."""
    if k < 0:
        return ZERO3, ZERO3
    omega = vec3(work, k, layout.OMEGA)
    return omega, plus(
        vec3(work, k, layout.VELOCITY), cross(omega, minus(point, vec3(work, k, layout.ORIGIN)))
    )


@inlined
def acceleration_at(work: Array, base: Vec3, k: int, point: Vec3) -> tuple[Vec3, Vec3]:
    """Angular acceleration of link k, and that of its point at `point`; `base` is the world's."""
    if k < 0:
        return ZERO3, base
    omega = vec3(work, k, layout.OMEGA)
    alpha = vec3(work, k, layout.ALPHA)
    lever = minus(point, vec3(work, k, layout.ORIGIN))
    swing = plus(cross(alpha, lever), cross(omega, cross(omega, lever)))
    return alpha, plus(vec3(work, k, layout.ACCEL), swing)


@kernel
def closure_velocities(term_ints: IntArray, terms: Array, work: Array, rates: Array) -> None:
    """G v of all rows; terms, and the links' velocities in `work`, must be there."""
    for i in range(rates.size):
        rates[i] = 0.0
    for n in range(term_ints.shape[0]):
        point = vec3(terms, n, layout.TERM_POINT)
        omega_a, velocity_a = motion_at(work, term_ints[n, layout.TERM_A], point)
        omega_b, velocity_b = motion_at(work, term_ints[n, layout.TERM_B], point)
        turn = dot(vec3(terms, n, layout.TERM_ANGULAR), minus(omega_a, omega_b))
        rates[term_ints[n, layout.TERM_ROW]] += turn + dot(
            vec3(terms, n, layout.TERM_LINEAR), minus(velocity_a, velocity_b)
        )


@kernel
def closure_accelerations(
    loop_ints: IntArray,
    loops: Array,
    term_ints: IntArray,
    terms: Array,
    base: Vec3,
    work: Array,
    rates: Array,
) -> None:
    """G a + Gdot v of all rows, from the links' velocities and accelerations in `work`.

    With accelerations of zero joint accelerations it is the bias Gdot v. `base` is the acceleration
    of the world that they were made with: it cancels between two bodies."""
    for i in range(rates.size):
        rates[i] = 0.0
    for n in range(term_ints.shape[0]):
        a = term_ints[n, layout.TERM_A]
        b = term_ints[n, layout.TERM_B]
        point = vec3(terms, n, layout.TERM_POINT)
        omega_a, velocity_a = motion_at(work, a, point)
        omega_b, velocity_b = motion_at(work, b, point)
        alpha_a, accel_a = acceleration_at(work, base, a, point)
        alpha_b, accel_b = acceleration_at(work, base, b, point)
        turn = minus(minus(alpha_a, alpha_b), cross(omega_b, minus(omega_a, omega_b)))
        coriolis = scaled(2.0, cross(omega_b, minus(velocity_a, velocity_b)))
        slide = minus(minus(accel_a, accel_b), coriolis)
        angular, linear = vec3(terms, n, layout.TERM_ANGULAR), vec3(terms, n, layout.TERM_LINEAR)
        rates[term_ints[n, layout.TERM_ROW]] += dot(angular, turn) + dot(linear, slide)
    for i in range(loop_ints.shape[0]):
        if loop_ints[i, layout.LOOP_KIND] == layout.CLOSE_DISTANCE:
            add_curvature(loop_ints, loops, terms, work, i, rates)
        elif (
            loop_ints[i, layout.LOOP_DRIVEN] != 0
            and loop_ints[i, layout.LOOP_KIND] != layout.CLOSE_COUPLER
        ):
            add_frame_turning(loop_ints, loops, terms, work, i, rates)


@inlined
def add_curvature(
    loop_ints: IntArray, loops: Array, terms: Array, work: Array, i: int, rates: Array
) -> None:
    """A distance turns with its ends: + |v_across|^2 / length."""
    n = loop_ints[i, layout.LOOP_TERM]
    a = loop_ints[i, layout.LOOP_A]
    b = loop_ints[i, layout.LOOP_B]
    point = vec3(terms, n, layout.TERM_POINT)
    line = vec3(terms, n, layout.TERM_LINEAR)
    velocity = minus(motion_at(work, a, point)[1], motion_at(work, b, point)[1])
    across = plus_scaled(velocity, -dot(line, velocity), line)
    other = world_point(work, b, vec3(loops, i, layout.LOOP_POINT_B))
    length = dot(line, minus(point, other))
    if length > COINCIDE:
        rates[loop_ints[i, layout.LOOP_ROW]] += dot(across, across) / length


@inlined
def add_frame_turning(
    loop_ints: IntArray, loops: Array, terms: Array, work: Array, i: int, rates: Array
) -> None:
    """Rows of a frame driven to turn against B with the angular velocity s.

    They gain -d.(s x v_rel) and -d.(s x w_rel).
    """
    b, first = loop_ints[i, layout.LOOP_B], loop_ints[i, layout.LOOP_TERM]
    spin = rotate(
        world_axes(work, b, mat3(loops, i, layout.LOOP_AXES_B)), vec3(loops, i, layout.LOOP_SPIN)
    )
    for j in range(loop_ints[i, layout.LOOP_TERMS]):
        n = first + j
        point = vec3(terms, n, layout.TERM_POINT)
        omega_a, velocity_a = motion_at(work, loop_ints[i, layout.LOOP_A], point)
        omega_b, velocity_b = motion_at(work, b, point)
        turn = dot(vec3(terms, n, layout.TERM_ANGULAR), cross(spin, minus(omega_a, omega_b)))
        slide = dot(vec3(terms, n, layout.TERM_LINEAR), cross(spin, minus(velocity_a, velocity_b)))
        rates[loop_ints[i, layout.LOOP_ROW] + j] -= turn + slide


@kernel
def closure_rows(
    tree: IntArray,
    links: Array,
    work: Array,
    term_ints: IntArray,
    terms: Array,
    corner: tuple[int, int],
    L: Array,
) -> None:
    """Rows of L = G S of closures; terms, and factors in `work`, must be there.

    `corner`: the row and the column that L begins with, beyond which these closures have nothing.
    """
    for i in range(L.shape[0]):
        for k in range(L.shape[1]):
            L[i, k] = 0.0
    for n in range(term_ints.shape[0]):
        point = vec3(terms, n, layout.TERM_POINT)
        moment = vec3(terms, n, layout.TERM_ANGULAR)
        force = vec3(terms, n, layout.TERM_LINEAR)
        row = L[term_ints[n, layout.TERM_ROW] - corner[0]]
        add_wrench_row(
            tree,
            links,
            work,
            (term_ints[n, layout.TERM_A], term_ints[n, layout.TERM_B]),
            point,
            moment,
            force,
            row,
            -corner[1],
        )


@inlined
def add_jacobian(
    tree: IntArray,
    links: Array,
    work: Array,
    k: int,
    point: Vec3,
    angular: Vec3,
    linear: Vec3,
    row: Array,
) -> None:
    """Add the row of a wrench at `point` on link k, for every joint from there to the base."""
    while k >= 0:
        axis, motion = axis_of(tree, work, k), tree[k, layout.MOTION]
        if motion != layout.LINEAR:
            row[k] += dot(axis, angular) + dot(
                linear, cross(axis, minus(point, vec3(work, k, layout.ORIGIN)))
            )
        if motion != layout.ROTARY:
            row[k] += (1.0 if motion == layout.LINEAR else links[k, layout.PITCH]) * dot(
                axis, linear
            )
        k = tree[k, layout.PARENT]


@kernel
def closure_jacobian(
    tree: IntArray, links: Array, work: Array, term_ints: IntArray, terms: Array, G: Array
) -> None:
    """Rows of G of all closures; terms, and poses in `work`, must be there."""
    for i in range(G.shape[0]):
        for k in range(G.shape[1]):
            G[i, k] = 0.0
    for n in range(term_ints.shape[0]):
        point = vec3(terms, n, layout.TERM_POINT)
        angular = vec3(terms, n, layout.TERM_ANGULAR)
        linear = vec3(terms, n, layout.TERM_LINEAR)
        row = G[term_ints[n, layout.TERM_ROW]]
        add_jacobian(tree, links, work, term_ints[n, layout.TERM_A], point, angular, linear, row)
        add_jacobian(
            tree,
            links,
            work,
            term_ints[n, layout.TERM_B],
            point,
            scaled(-1.0, angular),
            scaled(-1.0, linear),
            row,
        )
