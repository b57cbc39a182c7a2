"""A trot by forces, compiled: what is wanted over a horizon, and what a plan says at a time.

The horizon is a body that goes on at the pace that is asked for, on feet that stand as the gait
says: where they do, or where they will land.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray, Mat3, Vec3
from spatialops._compile.held import held
from spatialops._compile.jit import inlined
from spatialops.algebra.vectors import (
    dot,
    plus,
    plus_scaled,
    put3,
    put_mat3,
    rotate,
    rotation_from_quaternion,
    times,
    vec3,
)
from spatialops.control.locomotion.centroidal_tables import Body, Wanted
from spatialops.control.task_space.rotation_coordinates import (
    mat3_of,
    rotation_vector_kernel,
    vector_rates_kernel,
)
from spatialops.control.whole_body.trot_kernels import (
    Now,
    Pace,
    Steps,
    about_up,
    velocity_ahead,
)

_SMALL = 1e-8  # rad, of half a rotation vector, below which its sine is the angle


@inlined
def rotation_of(x: Vec3) -> Mat3:
    """Rotation by a rotation vector."""
    half = 0.5 * math.sqrt(dot(x, x))
    scale = math.sin(half) / (2.0 * half) if half > _SMALL else 0.5
    return rotation_from_quaternion(scale * x[0], scale * x[1], scale * x[2], math.cos(half))


@inlined
def transposed(m: Mat3) -> Mat3:
    return (
        (m[0][0], m[1][0], m[2][0]),
        (m[0][1], m[1][1], m[2][1]),
        (m[0][2], m[1][2], m[2][2]),
    )


@inlined
def put_vector(R: Mat3, room: Array, x: Array) -> None:
    """Rotation vector of a rotation; `room` (3, 3) is overwritten."""
    put_mat3(room.reshape((1, 9)), 0, 0, R)
    rotation_vector_kernel(room, x)


@inlined
def put_places(
    pace: Pace,
    steps: Steps,
    headings: tuple[float, float],
    coordinates: Array,
    holds: IntArray,
    feet: Array,
) -> None:
    """Where feet stand in each step: as they do, or where they will land.

    `headings` are that of now, rad, and how much it grows in a step.
    """
    for i in range(steps.touchdown.size):
        place = vec3(steps.ends, i, 0)
        stood = steps.stood[i] == 1
        away = False
        for j in range(holds.shape[0]):
            if holds[j, i] == 0:
                away = away or stood
            elif away:
                turn = about_up(headings[0] + (j + 1) * headings[1])
                place = plus(vec3(coordinates, j, 3), rotate(turn, vec3(steps.rest, i, 0)))
                half = 0.5 * pace.period * pace.duty
                place = plus_scaled(place, half, velocity_ahead(pace, turn))
                place = place[0], place[1], pace.ground
                away = False
            stood = stood or holds[j, i] == 1
            put3(feet[j], i, 0, place)


@inlined
def put_inertia(now: Now, momentum: tuple[Array, int], inertia: Array) -> None:
    """That about the centre of mass, from the momentum of spins in the base's axes."""
    A, base = momentum
    for a in range(3):
        for b in range(3):
            total = 0.0
            for c in range(3):
                total += A[a, base + c] * now.rotation[b, c]
                total += A[b, base + c] * now.rotation[a, c]
            inertia[a, b] = 0.5 * total


@held
def horizon_kernel(
    now: Now,
    steps: Steps,
    moments: tuple[float, float, float],
    pace: Pace,
    turned: Array,
    momentum: tuple[Array, int],
    horizon: Wanted,
    body: Body,
) -> int:
    """What is wanted over the horizon, and the robot as one body; the number of steps.

    `moments` are the time of the command and the length of a step, s, and the height of the centre
    of mass, m; `turned` (2, 3, 3) the base at rest in the heading frame, and room; `momentum` the
    centroidal momentum matrix (6, nv), and where the base's spin is among its columns.
    """
    time, dt, height = moments
    coordinates, rates = horizon.coordinates, horizon.rates
    holds = horizon.holds
    heading = now.heading[0]
    place = now.center[0], now.center[1], height
    for j in range(coordinates.shape[0]):
        ahead = velocity_ahead(pace, about_up(heading + (j + 1) * dt * pace.turning))
        place = plus_scaled(place, dt, ahead)
        put3(coordinates, j, 0, (0.0, 0.0, 0.0))
        put3(coordinates, j, 3, place)
        put3(rates, j, 0, (0.0, 0.0, 0.0))
        put3(rates, j, 3, ahead)
        for i in range(steps.touchdown.size):
            phase = ((time + (j + 0.5) * dt) / pace.period - steps.touchdown[i]) % 1.0
            holds[j, i] = 1 if phase < pace.duty else 0
    put_places(pace, steps, (heading, dt * pace.turning), coordinates, holds, horizon.feet)
    wanted = times(about_up(heading), mat3_of(turned[0]))
    put_vector(times(mat3_of(now.rotation), transposed(wanted)), turned[1], body.coordinates)
    put_inertia(now, momentum, body.inertia)
    for c in range(3):
        body.coordinates[3 + c] = now.center[c]
        body.rates[c] = now.rates[c]
        body.rates[3 + c] = now.rates[3 + c]
    body.rates[2] -= pace.turning
    return holds.shape[0]


@held
def follow_kernel(
    steps: Steps,
    since: float,
    dt: float,
    began: float,
    turning: float,
    plan: tuple[Array, Array, Array],
    turned: Array,
    room: Array,
) -> int:
    """Goals of attitude and centre of mass, some time after a plan was made.

    `plan` are coordinates and rates (n + 1, 6) and accelerations (n, 6), dt apart, of a body that
    headed for `began`; `turned` (2, 3, 3) as `horizon_kernel` takes it, `room` (3, 3, 3).
    """
    coordinates, rates, accelerations = plan
    k = min(int(since / dt), accelerations.shape[0] - 1)
    left = since - k * dt
    x = vec3(coordinates, k, 0)
    x = plus_scaled(
        plus_scaled(x, left, vec3(rates, k, 0)), 0.5 * left * left, vec3(accelerations, k, 0)
    )
    place = plus_scaled(vec3(coordinates, k, 3), left, vec3(rates, k, 3))
    feet = steps.touchdown.size
    own = steps.goals[:, feet + 1]
    put3(own, 0, 0, plus_scaled(place, 0.5 * left * left, vec3(accelerations, k, 3)))
    put3(own, 1, 0, plus_scaled(vec3(rates, k, 3), left, vec3(accelerations, k, 3)))
    put3(own, 2, 0, vec3(accelerations, k, 3))
    spin = plus_scaled((0.0, 0.0, turning), 1.0, vec3(rates, k, 0))
    spin = plus_scaled(spin, left, vec3(accelerations, k, 0))
    R = times(rotation_of(x), times(about_up(began + turning * since), mat3_of(turned[0])))
    own = steps.goals[:, feet]
    put_vector(R, turned[1], own[0])
    put3(room[2], 0, 0, spin)
    vector_rates_kernel(own[0], room[2, 0], room[0], room[1])
    put3(own, 1, 0, rotate(mat3_of(room[0]), spin))
    bent = rotate(mat3_of(room[0]), vec3(accelerations, k, 0))
    put3(own, 2, 0, plus(bent, rotate(mat3_of(room[1]), spin)))
    return k
