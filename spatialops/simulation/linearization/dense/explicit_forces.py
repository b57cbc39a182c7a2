"""Joint forces of the fourth-order rule: given ones, damping, springs and actuators as they are.

A force of an element within its range is affine in its length and rate, which are sums over joints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops.forces import _layout as el
from spatialops.forces.elements import signal
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization.made_step import Start
from spatialops.simulation.stepping.tables import Tables


class JointForces(NamedTuple):
    """Forces (nv,), and what they change by (nv, nv) with coordinates and velocities."""

    forces: Array
    by_q: Array
    by_v: Array


def joint_forces(t: Tables, start: Start, q: Array, v: Array) -> JointForces:
    """Of an evaluation at a state of a step that began at `start`."""
    damping = t.links[:, layout.DAMPING]
    result = JointForces(start.tau - damping * v, np.zeros((v.size, v.size)), -np.diag(damping))
    middle = 0.5 * float(t.settings[at.DT])
    for row, own in zip(t.element_ints, t.elements, strict=True):
        terms = slice(row[el.FIRST], row[el.FIRST] + row[el.COUNT])
        arms, joints = t.arms[terms], t.element_joints[terms]
        links = joints[:, el.LINK]
        u = signal(row[None], own[None], 0, t.ctrl, start.activation, middle)
        slopes = own[el.GAIN : el.GAIN + 3] * u + own[el.BIAS : el.BIAS + 3]
        motion = np.array([1.0, arms @ q[joints[:, el.COORDINATE]], arms @ v[links]])
        force = float(slopes @ motion)
        inside = own[el.FORCE_LOW] < force < own[el.FORCE_HIGH]
        force = min(max(force, own[el.FORCE_LOW]), own[el.FORCE_HIGH])
        np.add.at(result.forces, links, force * arms)
        if inside:
            pulls = np.outer(arms, arms)
            np.add.at(result.by_q, np.ix_(links, links), slopes[1] * pulls)
            np.add.at(result.by_v, np.ix_(links, links), slopes[2] * pulls)
    return result
