"""What nuts that were turned off say of themselves: turns, travel, torque of contact."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.control.manipulation.dual_arm.nut_removal import N_NUTS, seat
from spatialops.control.manipulation.dual_arm.nut_run import NutRun
from spatialops.control.manipulation.dual_arm.wheel_removal import HUB
from spatialops.dynamics.jacobian import body_poses
from spatialops.models.lug_nut import HEIGHT, PITCH
from spatialops.models.wheel_on_hub import STUD_CIRCLE
from spatialops.simulation import _layout as at
from spatialops.simulation.scene.scene import Scene


class NutVerdict(NamedTuple):
    """What became of the nuts."""

    faults: list[str]  # what does not hold
    turns: list[float]  # of each nut on its thread
    screwing: float  # m: how far their travel is from pitch times angle
    torque: list[float]  # N m: the median in steps in which the socket turns each
    below: float  # m: the highest nut at the end


def contact_torques(run: NutRun, nut: int) -> tuple[Array, Array]:
    """What contacts give a nut along its screw while it is on its thread, in recorded steps.

    Their moment about the stud plus the pitch times their force along it: in steady turning that is
    the thread's friction.

    Returns
    -------
    times, torques : (k,) arrays
        s and N m; of the beginnings of recorded steps in which something touched it.
    """
    times: list[float] = []
    torques: list[float] = []
    for span in run.spans:
        if not span.threaded[nut]:
            break
        pairs = span.record.contact_records[:, at.RECORD_PAIR]
        sides = _touching(span.scene, span.scene.sides_of(pairs), f"nut{nut}")
        rows = span.record.contact_records[sides != 0]
        impulses = sides[sides != 0, None] * rows[:, at.RECORD_IMPULSE : at.RECORD_IMPULSE + 3]
        arms = rows[:, at.RECORD_POINT : at.RECORD_POINT + 3] - seat(nut)
        along = -(np.cross(arms, impulses)[:, 0] + PITCH * impulses[:, 0])
        steps, which = np.unique(rows[:, at.RECORD_TIME], return_inverse=True)
        dt = float(span.record.metadata["dt"])
        times += steps.tolist()
        torques += (np.bincount(which, along, minlength=len(steps)) / dt).tolist()
    return np.array(times), np.array(torques)


def _touching(scene: Scene, sides: IntArray, body: str) -> Array:
    """1 or -1 where geom A or B is the body's, 0 for others."""
    own = np.array([geom.body == body for geom in scene.geoms], dtype=float)
    return own[sides[:, 0]] - own[sides[:, 1]]


def judge(run: NutRun) -> NutVerdict:
    """What must hold of nuts that were turned off, from the records."""
    faults = [run.error] if run.error else []
    turns: list[float] = []
    torques: list[float] = []
    screwing = 0.0
    for i in range(N_NUTS):
        angles, travels = _screwed(run, i)
        turns.append(float(angles[-1]) / (2.0 * np.pi))
        screwing = max(screwing, float(abs(travels - PITCH * angles).max()))
        found = contact_torques(run, i)[1]
        torques.append(float(np.median(found)) if len(found) else 0.0)
    last, model = run.final, run.spans[-1].scene.model
    free = not any(run.spans[-1].threaded)
    if not free:
        faults.append("not all nuts are off their threads")
    heights = [float(last.q[model.q_slice(f"nut{i}").start + 2]) for i in range(N_NUTS) if free]
    below = max(heights, default=np.inf)
    if free and below > HUB[2] - STUD_CIRCLE - HEIGHT:
        faults.append("a nut is still up at the hub")
    return NutVerdict(faults, turns, screwing, torques, below)


def _screwed(run: NutRun, nut: int) -> tuple[Array, Array]:
    """How far a nut's pose has turned about -x and gone along it while on its thread: rad, m."""
    turned, gone = [], []
    for span in run.spans:
        if not span.threaded[nut]:
            break
        k = span.scene.model.body_index(f"nut{nut}")
        for q in span.record.q:
            poses = body_poses(span.scene.model, q)
            turned.append(np.arctan2(poses.rotations[k, 1, 2], poses.rotations[k, 1, 1]))
            gone.append(seat(nut)[0] - poses.positions[k, 0])
    angles = np.unwrap(turned)
    return angles - angles[0], np.array(gone)
