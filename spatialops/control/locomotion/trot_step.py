"""A call of the trot, compiled: feet one step on, and joints that carry them there."""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.held import held
from spatialops._compile.jit import inlined, kernel
from spatialops.control.locomotion.foot_paths import Strides, feet_ahead, hermite
from spatialops.control.locomotion.leg_kernels import (
    LegTables,
    foot_jacobians,
    joint_rates,
    reach,
)

_ROUNDS = 20  # of inverse kinematics at most


class Walk(NamedTuple):
    """What is kept from call to call.

    Attributes
    ----------
    pace : (3,) array
        Forward, sideways and turning velocity, m/s and rad/s.
    change : (3,) array
        How fast it follows the command, m/s^2 and rad/s^2.
    rest, feet : (legs, 3) arrays
        Feet in the base's frame in the posture, and now, m.
    velocities : (legs, rows) array
        Of the feet, m/s; of soles then their angular ones, rad/s.
    ends : (legs, 2) array
        Where swings end, m.
    swing : (legs,) array
        How much of its swing each has done, below 0 where it stands.
    turned : (legs, 2) array
        Angle and rate of soles about the vertical, rad and rad/s.
    level, bodies, attitudes : (legs, 3, 3) arrays
        Soles that are not turned, axes of the feet's bodies in those of their links, and attitudes
        that are wanted of links.
    angles, rates : (legs, n) arrays
        Of joints, rad and rad/s.
    """

    pace: Array
    change: Array
    rest: Array
    feet: Array
    velocities: Array
    ends: Array
    swing: Array
    turned: Array
    level: Array
    bodies: Array
    attitudes: Array
    angles: Array
    rates: Array


class Beat(NamedTuple):
    """What a gait says of a step."""

    time: float  # s
    dt: float  # s
    period: float  # s
    duty: float
    step_height: float  # m


@held
def walk_on(
    legs: LegTables, walk: Walk, beat: Beat, touchdown: Array, wanted: Vec3, joints: Array
) -> float:
    """Angles, rates and accelerations (3, n) of joints in the order of the velocities.

    `touchdown` (legs,) are phases at which feet land, `wanted` the velocity that is asked for. How
    far feet are from where they should be comes back.
    """
    follow(walk, beat.dt, wanted)
    then = (beat.time + beat.dt) / beat.period
    for i in range(walk.swing.size):
        walk.swing[i] = ((then - touchdown[i]) % 1.0 - beat.duty) / (1.0 - beat.duty)
    strides = strides_of(walk, beat)
    feet_ahead(strides, walk.swing, walk.rest, walk.ends, walk.feet, walk.velocities)
    if walk.velocities.shape[1] > 3:
        turn_soles(walk, strides)
    put_before(legs, walk, joints)
    missed = reach(legs, walk.feet, walk.attitudes, walk.angles, _ROUNDS)
    foot_jacobians(legs)
    joint_rates(legs.J, walk.velocities, walk.rates, legs.factor)
    rates = walk.rates.reshape(walk.rates.size)
    for k in range(legs.order.size):
        joints[2, k] = (rates[legs.order[k]] - joints[1, k]) / beat.dt
    return missed


@inlined
def strides_of(walk: Walk, beat: Beat) -> Strides:
    """The same for paths of feet."""
    stance_time = beat.period * beat.duty
    swing_time = beat.period * (1.0 - beat.duty)
    pace = walk.pace[0], walk.pace[1], walk.pace[2]
    return Strides(beat.dt, stance_time, swing_time, beat.step_height, pace)


@kernel
def counted_on(phase: float, duty: float, touchdown: Array, links: IntArray, kept: IntArray) -> int:
    """Links of feet that stand, or are in the second half of their swing; how many they are."""
    count = 0
    for i in range(touchdown.size):
        swing = ((phase - touchdown[i]) % 1.0 - duty) / (1.0 - duty)
        if swing < 0.0 or swing > 0.5:
            kept[count] = links[i]
            count += 1
    return count


@inlined
def follow(walk: Walk, dt: float, wanted: Vec3) -> None:
    """The pace goes to what is wanted, no faster than it may."""
    for c in range(3):
        most = walk.change[c] * dt
        walk.pace[c] += min(max(wanted[c] - walk.pace[c], -most), most)


@inlined
def put_before(legs: LegTables, walk: Walk, joints: Array) -> None:
    """Joints as they were asked for in the call before."""
    angles = walk.angles.reshape(walk.angles.size)
    rates = walk.rates.reshape(walk.rates.size)
    for k in range(legs.order.size):
        joints[0, k] = angles[legs.order[k]]
        joints[1, k] = rates[legs.order[k]]


@kernel
def turn_soles(walk: Walk, strides: Strides) -> None:
    """Angles of soles about the vertical and their rates one step on, and attitudes of links."""
    rate = -strides.pace[2]  # of the ground against the base
    for i in range(walk.swing.size):
        angle = walk.turned[i, 0]
        if walk.swing[i] < 0.0:
            walk.turned[i, 0] = angle + strides.dt * rate
            walk.turned[i, 1] = rate
        else:
            left = (1.0 - walk.swing[i]) * strides.swing_time + strides.dt
            end = -0.5 * strides.stance_time * rate
            walk.turned[i, 0], walk.turned[i, 1] = hermite(
                strides.dt / left, left, angle, end, walk.turned[i, 1], rate
            )
        walk.velocities[i, 5] = walk.turned[i, 1]
        put_attitude(walk, i)


@inlined
def put_attitude(walk: Walk, i: int) -> None:
    """R of the link: R_z level bodies^T."""
    cosine = math.cos(walk.turned[i, 0])
    sine = math.sin(walk.turned[i, 0])
    level = walk.level[i]
    bodies = walk.bodies[i]
    for c in range(3):
        first = 0.0
        second = 0.0
        third = 0.0
        for k in range(3):
            first += (cosine * level[0, k] - sine * level[1, k]) * bodies[c, k]
            second += (sine * level[0, k] + cosine * level[1, k]) * bodies[c, k]
            third += level[2, k] * bodies[c, k]
        walk.attitudes[i, 0, c] = first
        walk.attitudes[i, 1, c] = second
        walk.attitudes[i, 2, c] = third
