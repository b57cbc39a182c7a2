"""Rows of closures as sums of terms: unit wrench pairs between two links at a world point ([J] 29).

Everything that needs a closure, its Jacobian row, its row of L, its velocity and acceleration,
follows from the terms; kinds are told apart only where terms are written (`put_terms`), in errors
of position, and in the two parts of the acceleration that a term does not hold (the curvature of a
distance, the turning of a driven frame).

A linear row d is fixed to the frame on B and taken at P, the origin of the frame on A. With
velocities relative to B at P its value d.(p_a - p_b) has the rates, exact also where the closure is
open,

    d.v_rel     and     d.(a_a - a_b(P) - 2 w_b x v_rel),

and an angular one d.w_rel and d.(alpha_a - alpha_b - w_b x w_rel).
"""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Mat3, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    dot,
    mat3,
    minus,
    plus,
    put3,
    rotate,
    rotate_back,
    scaled,
    times,
    vec3,
)
from spatialops.dynamics.kinematics import axis_of

_LINEAR_ROWS = (3, 3, 3, 2)  # of ball, weld, revolute, prismatic
_ANGULAR_ROWS = (0, 3, 2, 3)

COINCIDE = 1e-12  # m; points that are nearer have no direction between them
_SMALL = 1e-6  # sine below which a rotation is next to none, or to half a turn
_UPRIGHT = 1e-12  # the same of a tilt, which loses no digits


@inlined
def world_point(work: Array, k: int, offset: Vec3) -> Vec3:
    """World position of a point of link k (-1: the world)."""
    if k < 0:
        return offset
    return plus(vec3(work, k, layout.ORIGIN), rotate(mat3(work, k, layout.ROTATION), offset))


@inlined
def world_axes(work: Array, k: int, axes: Mat3) -> Mat3:
    """World rotation of a frame of link k (-1: the world)."""
    return axes if k < 0 else times(mat3(work, k, layout.ROTATION), axes)


@inlined
def column(m: Mat3, j: int) -> Vec3:
    return m[0][j], m[1][j], m[2][j]


@inlined
def unit_line(line: Vec3) -> Vec3:
    """Direction of a distance; z where the points coincide."""
    length = math.sqrt(dot(line, line))
    return (0.0, 0.0, 1.0) if length < COINCIDE else scaled(1.0 / length, line)


@inlined
def put_term(terms: Array, n: int, point: Vec3, angular: Vec3, linear: Vec3) -> None:
    put3(terms, n, layout.TERM_POINT, point)
    put3(terms, n, layout.TERM_ANGULAR, angular)
    put3(terms, n, layout.TERM_LINEAR, linear)


@kernel
def put_terms(
    tree: IntArray,
    loop_ints: IntArray,
    loops: Array,
    ratios: Array,
    term_ints: IntArray,
    work: Array,
    terms: Array,
) -> None:
    """Terms of all closures at the poses in `work`."""
    for i in range(loop_ints.shape[0]):
        kind, n = loop_ints[i, layout.LOOP_KIND], loop_ints[i, layout.LOOP_TERM]
        if kind == layout.CLOSE_COUPLER:
            for j in range(n, n + loop_ints[i, layout.LOOP_TERMS]):
                k = term_ints[j, layout.TERM_A]
                axis, none = scaled(ratios[j], axis_of(tree, work, k)), ZERO3
                linear = tree[k, layout.MOTION] == layout.LINEAR
                put_term(
                    terms,
                    j,
                    vec3(work, k, layout.ORIGIN),
                    none if linear else axis,
                    axis if linear else none,
                )
            continue
        a, b = loop_ints[i, layout.LOOP_A], loop_ints[i, layout.LOOP_B]
        point = world_point(work, a, vec3(loops, i, layout.LOOP_POINT_A))
        if kind == layout.CLOSE_DISTANCE:
            other = world_point(work, b, vec3(loops, i, layout.LOOP_POINT_B))
            put_term(terms, n, point, ZERO3, unit_line(minus(point, other)))
            continue
        axes = world_axes(work, b, mat3(loops, i, layout.LOOP_AXES_B))
        for j in range(_LINEAR_ROWS[kind]):
            put_term(terms, n, point, ZERO3, column(axes, j))
            n += 1
        for j in range(_ANGULAR_ROWS[kind]):
            put_term(terms, n, point, column(axes, j), ZERO3)
            n += 1


@inlined
def turn_between(m: Mat3) -> Vec3:
    """Rotation vector of a rotation, of length up to pi."""
    s = 0.5 * (m[2][1] - m[1][2]), 0.5 * (m[0][2] - m[2][0]), 0.5 * (m[1][0] - m[0][1])
    sine, cosine = math.sqrt(dot(s, s)), 0.5 * (m[0][0] + m[1][1] + m[2][2] - 1.0)
    if sine > _SMALL:
        return scaled(math.atan2(sine, cosine) / sine, s)
    if cosine > 0.0:
        return s
    # Half a turn: the axis from the symmetric part, (1 + m_jj) / 2 = n_j^2.
    return (
        math.pi * math.sqrt(max(0.5 * (1.0 + m[0][0]), 0.0)),
        math.copysign(math.pi * math.sqrt(max(0.5 * (1.0 + m[1][1]), 0.0)), m[0][1]),
        math.copysign(math.pi * math.sqrt(max(0.5 * (1.0 + m[2][2]), 0.0)), m[0][2]),
    )


@inlined
def tilt_between(z: Vec3) -> Vec3:
    """Rotation vector, its z zero, that takes the third axis to the unit vector `z`.

    Its length is up to pi.
    """
    sine = math.sqrt(z[0] * z[0] + z[1] * z[1])
    if sine < _UPRIGHT:
        return (-z[1], z[0], 0.0) if z[2] > 0.0 else (math.pi, 0.0, 0.0)
    factor = math.atan2(sine, z[2]) / sine
    return -factor * z[1], factor * z[0], 0.0


@kernel
def closure_errors(
    tree: IntArray,
    loop_ints: IntArray,
    loops: Array,
    ratios: Array,
    term_ints: IntArray,
    q: Array,
    work: Array,
    errors: Array,
) -> None:
    """How far every row is open, m and rad; poses must be in `work`.

    At closure the rate of the error is the row's velocity.
    """
    for i in range(loop_ints.shape[0]):
        kind, row = loop_ints[i, layout.LOOP_KIND], loop_ints[i, layout.LOOP_ROW]
        if kind == layout.CLOSE_COUPLER:
            total, n = -loops[i, layout.LOOP_TARGET], loop_ints[i, layout.LOOP_TERM]
            for j in range(n, n + loop_ints[i, layout.LOOP_TERMS]):
                total += ratios[j] * q[tree[term_ints[j, layout.TERM_A], layout.FIRST_Q]]
            errors[row] = total
            continue
        a, b = loop_ints[i, layout.LOOP_A], loop_ints[i, layout.LOOP_B]
        point_a = world_point(work, a, vec3(loops, i, layout.LOOP_POINT_A))
        point_b = world_point(work, b, vec3(loops, i, layout.LOOP_POINT_B))
        line = minus(point_a, point_b)
        if kind == layout.CLOSE_DISTANCE:
            errors[row] = math.sqrt(dot(line, line)) - loops[i, layout.LOOP_TARGET]
            continue
        axes_a = world_axes(work, a, mat3(loops, i, layout.LOOP_AXES_A))
        axes_b = world_axes(work, b, mat3(loops, i, layout.LOOP_AXES_B))
        local = rotate_back(axes_b, line)
        for j in range(_LINEAR_ROWS[kind]):
            errors[row + j] = local[j]
        row += _LINEAR_ROWS[kind]
        if kind == layout.CLOSE_REVOLUTE:
            turn = tilt_between(rotate_back(axes_b, column(axes_a, 2)))
        else:
            turn = turn_between(
                times((column(axes_b, 0), column(axes_b, 1), column(axes_b, 2)), axes_a)
            )
        for j in range(_ANGULAR_ROWS[kind]):
            errors[row + j] = turn[j]
