"""What a compiled command reads of the loop's tables: the step that is met, its rows."""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._compile.jit import merged
from spatialops.algebra.vectors import dot, vec3
from spatialops.collision import _layout as col
from spatialops.control.inverse_dynamics.compiled import layout as io
from spatialops.control.inverse_dynamics.compiled import workspace as of
from spatialops.control.inverse_dynamics.compiled.posture import (
    count_resting,
    put_factors,
    put_poses,
    put_rows,
)
from spatialops.control.inverse_dynamics.compiled.tables import Call, Robot
from spatialops.control.inverse_dynamics.compiled.workspace import Posture, Sizes, workspace
from spatialops.dynamics.composite_body import composite_body_kernel
from spatialops.dynamics.kinematics import velocities_kernel
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.held.looking_ahead import look
from spatialops.simulation.stepping.tables import Tables


@merged
def look_again(t: Tables, call: Call, push: int) -> int:
    """The coming step under joint forces, with what Coriolis forces count on."""
    v = call.vectors
    time = call.numbers[io.TIME]
    return look(t, time, call.q, v[io.Q_DOT], call.activation, v[push], v[io.GAIN])


@merged
def meets(t: Tables, call: Call, code: int) -> bool:
    """Whether the step's contacts are plain; velocities before it, and without contacts, are put.

    A step that is done has met none.
    """
    vectors = call.vectors
    nv = vectors.shape[1]
    if code == at.DONE:
        for k in range(nv):
            vectors[io.BEFORE, k] = t.vectors[at.V_E, k]
            vectors[io.WORK, k] = t.vectors[at.V_E, k] + t.vectors[at.DV, k]
        return True
    if code != at.SOLVE or t.control[at.STAGE] != at.CONTACT or t.control[at.MOMENTS] > 0:
        return False
    for k in range(nv):
        vectors[io.BEFORE, k] = t.vectors[at.V_E, k]
        vectors[io.WORK, k] = t.vectors[at.V_X, k]
    for i in range(t.control[at.ACTING]):
        of_joint = t.ints[i, col.CONTACT_FEATURE_A] == col.STOP
        of_joint = of_joint or t.ints[i, col.CONTACT_FEATURE_A] == col.DRY
        if of_joint or t.prior[i] != 0.0 or not t.floats[i, col.MU] < math.inf:
            return False
    return True


@merged
def is_there(t: Tables, call: Call, met: int) -> bool:
    """Whether the step meets the contacts that posture and rows are stated for."""
    if met != call.counts[io.MET]:
        return False
    for i in range(met):
        for c in range(3):
            if call.seen[i, c] != t.floats[i, col.POINT + c]:
                return False
        if (
            call.met[i, 0] != t.ints[i, col.CONTACT_PAIR]
            or call.met[i, 1] != t.ints[i, col.CONTACT_FEATURE_A]
            or call.met[i, 2] != t.ints[i, col.CONTACT_FEATURE_B]
        ):
            return False
    same = True
    for k in range(call.q.size):
        same = same and call.q_met[k] == t.vectors[at.Q_E, k]
    return same


@merged
def state_posture(t: Tables, robot: Robot, call: Call, met: int) -> int:
    """Rows and factors of the contacts that do not land; how many, -1 where it does not work."""
    vectors = call.vectors
    nv = vectors.shape[1]
    times = call.numbers[io.TIMES]
    if met > call.kept.size:
        return -1
    for i in range(met):
        for c in range(3):
            call.seen[i, c] = t.floats[i, col.POINT + c]
        call.met[i, 0] = t.ints[i, col.CONTACT_PAIR]
        call.met[i, 1] = t.ints[i, col.CONTACT_FEATURE_A]
        call.met[i, 2] = t.ints[i, col.CONTACT_FEATURE_B]
    for k in range(call.q.size):
        call.q_met[k] = t.vectors[at.Q_E, k]
    call.counts[io.MET] = met
    if not put_poses(t.tree, t.links, call.q_met, robot.work):
        return -1
    velocities_kernel(t.tree, t.links, vectors[io.BEFORE], robot.work)
    m = count_resting(t.ints, t.floats, met, robot.work, times, call.kept)
    call.counts[io.LANDING] = met - m
    call.counts[io.CONTACTS] = m
    work = workspace(Sizes(m, nv, robot.given.size), call.floats, call.ints)
    posture = work.posture
    put_rows(t.tree, t.links, t.ints, t.floats, call.kept, times, robot.work, posture)
    if composite_body_kernel(
        robot.tree, robot.constants, call.q_met, robot.lanes, robot.ordered, posture.mass
    ):
        return -1
    if t.control[at.DAMPED] != 0:
        for k in range(nv):
            posture.mass[k, k] += t.damped[k, layout.ARMATURE] - t.links[k, layout.ARMATURE]
    for i in range(m):
        work.tying.stands[i] = -1
    wholly = call.options[io.STANDING] == 1 or call.options[io.ALIGNED] > 0
    return m if put_factors(robot.given, robot.others, posture, wholly, work.scratch) else -1


@merged
def put_velocities(t: Tables, call: Call, posture: Posture) -> None:
    """The free velocity at the horizon, drifts, and frames unless they are aligned."""
    vectors = call.vectors
    times = call.numbers[io.TIMES]
    aligned = call.options[io.ALIGNED] > 0
    for k in range(vectors.shape[1]):
        before = vectors[io.BEFORE, k]
        vectors[io.FREE, k] = before + times * (vectors[io.WORK, k] - before)
    for i in range(posture.place.shape[0]):
        row = posture.names[i, of.ROW]
        drift = vec3(t.floats, row, col.DRIFT)
        for c in range(3):
            axis = vec3(posture.place, i, of.FRAME + 3 * c)
            posture.place[i, of.DRIFT + c] = times * dot(axis, drift)
        if not aligned:
            for c in range(9):
                posture.place[i, of.NOW + c] = t.floats[row, col.NORMAL + c]
