"""A trot by forces, compiled: what is seen of a robot, and where its feet go.

Feet that stand stay; feet that swing go to where the robot will need them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Mat3, Vec3
from spatialops._compile.held import held
from spatialops._compile.jit import inlined
from spatialops.algebra.vectors import (
    plus,
    plus_scaled,
    put3,
    put_mat3,
    rotate,
    rotation_from_quaternion,
    vec3,
)
from spatialops.dynamics.nodes import node_points
from spatialops.kinematics.center_motion import JACOBIAN, PLACE, center_motion_kernel

_AIMED = 0.8  # part of a swing from which on its end stays where it is


class Now(NamedTuple):
    """A robot at a state."""

    rotation: Array  # (3, 3) of the base
    heading: Array  # (1,) rad
    center: Array  # (3,)
    rates: Array  # (6,) of attitude and centre of mass, world axes
    feet: Array  # (k, 3)
    motion: Array  # (3, 2 + nv) of the centre of mass


class Steps(NamedTuple):
    """What is known of steps, and kept from one command to the next."""

    touchdown: Array  # (k,) of the gait
    rest: Array  # (k, 3) of feet below the hips, heading frame
    goals: Array  # (3, k + 2, 3) places, rates, accelerations of feet, attitude, centre of mass
    lifted: Array  # (k, 3) where swings began
    ends: Array  # (k, 3) and where they end
    stood: IntArray  # (k,) which feet stood


class Pace(NamedTuple):
    """Numbers of a gait."""

    period: float  # s
    duty: float
    step_height: float  # m
    ground: float  # m
    capture: float  # s: of velocity that is too much
    forward: float  # m/s
    sideways: float  # m/s
    turning: float  # rad/s


@inlined
def about_up(heading: float) -> Mat3:
    """Rotation about the vertical."""
    c = math.cos(heading)
    s = math.sin(heading)
    return (c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)


@held
def see_kernel(
    now: Now,
    mechanism: tuple[IntArray, Array, Array],
    q: Array,
    v: Array,
    base: tuple[int, int],
    nodes: tuple[IntArray, Array],
) -> int:
    """What is seen of a robot whose base's quaternion and spin begin at `base` of q and v."""
    tree, links, work = mechanism
    status = center_motion_kernel(tree, links, q, v, work, now.motion)
    if status != layout.OK:
        return status
    i = base[0]
    length = math.sqrt(q[i] * q[i] + q[i + 1] * q[i + 1] + q[i + 2] * q[i + 2] + q[i + 3] ** 2)
    if length == 0.0:
        return layout.NOT_FINITE
    s = 1.0 / length
    R = rotation_from_quaternion(s * q[i], s * q[i + 1], s * q[i + 2], s * q[i + 3])
    put_mat3(now.rotation.reshape((1, 9)), 0, 0, R)
    now.heading[0] = math.atan2(R[1][0], R[0][0])
    spin = rotate(R, (v[base[1]], v[base[1] + 1], v[base[1] + 2]))
    for c in range(3):
        now.center[c] = now.motion[c, PLACE]
        now.rates[c] = spin[c]
        now.rates[3 + c] = 0.0
        for k in range(v.size):
            now.rates[3 + c] += now.motion[c, JACOBIAN + k] * v[k]
    node_points(nodes[0], nodes[1], work, now.feet)
    return status


@inlined
def velocity_ahead(pace: Pace, turn: Mat3) -> Vec3:
    """That of a base that is turned so, m/s."""
    return rotate(turn, (pace.forward, pace.sideways, 0.0))


@inlined
def landing(pace: Pace, now: Now, steps: Steps, i: int, left: float) -> Vec3:
    """Where a foot that lands in `left` seconds is needed."""
    turn = about_up(now.heading[0] + left * pace.turning)
    wanted = velocity_ahead(pace, turn)
    v = now.rates[3], now.rates[4], now.rates[5]
    place = plus_scaled((now.center[0], now.center[1], now.center[2]), left, v)
    place = plus(place, rotate(turn, vec3(steps.rest, i, 0)))
    place = plus_scaled(place, 0.5 * pace.period * pace.duty - pace.capture, wanted)
    place = plus_scaled(place, pace.capture, v)
    return place[0], place[1], pace.ground


@held
def step_kernel(now: Now, steps: Steps, time: float, pace: Pace) -> int:
    """Goals of feet; how many of them stand."""
    count = 0
    span = pace.period * (1.0 - pace.duty)
    for i in range(steps.touchdown.size):
        goal = steps.goals[:, i]
        phase = (time / pace.period - steps.touchdown[i]) % 1.0
        if phase < pace.duty:
            put3(goal, 0, 0, vec3(now.feet, i, 0))
            put3(goal, 1, 0, (0.0, 0.0, 0.0))
            put3(goal, 2, 0, (0.0, 0.0, 0.0))
            put3(steps.ends, i, 0, vec3(now.feet, i, 0))
            steps.stood[i] = 1
            count += 1
            continue
        s = (phase - pace.duty) / (1.0 - pace.duty)
        if steps.stood[i] == 1:
            put3(steps.lifted, i, 0, vec3(now.feet, i, 0))
        steps.stood[i] = 0
        if s < _AIMED:
            put3(steps.ends, i, 0, landing(pace, now, steps, i, (1.0 - s) * span))
        r = s * (1.0 - s)
        h = pace.step_height
        for c in range(3):
            way = steps.ends[i, c] - steps.lifted[i, c]
            goal[0, c] = steps.lifted[i, c] + s * s * (3.0 - 2.0 * s) * way
            goal[1, c] = 6.0 * r / span * way
            goal[2, c] = 6.0 * (1.0 - 2.0 * s) / (span * span) * way
        goal[0, 2] += 16.0 * h * r * r
        goal[1, 2] += 32.0 * h * r * (1.0 - 2.0 * s) / span
        goal[2, 2] += 32.0 * h * (1.0 - 6.0 * r) / (span * span)
    return count
