"""Joint forces of the fourth-order rule: given ones, damping, springs and actuators as they are.

A force of an element within its range is affine in its length and rate, which are sums over joints.
What bears the weight of bodies is a joint force too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops.derivatives.passive_forces import borne_weight_derivative
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.forces import _layout as el
from spatialops.forces.elements import signal
from spatialops.forces.passive import borne_weight
from spatialops.forces.path_length import Placed, path_length
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization.made_step import Start
from spatialops.simulation.linearization.pulls.path_arms import put_path_changes
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.model import Model


class JointForces(NamedTuple):
    """Forces (nv,), and what they change by (nv, nv) with coordinates and velocities."""

    forces: Array
    by_q: Array
    by_v: Array


def joint_forces(model: Model, t: Tables, start: Start, q: Array, v: Array) -> JointForces:
    """Of an evaluation at a state of a step that began at `start`."""
    damping = t.links[:, layout.DAMPING]
    result = JointForces(start.tau - damping * v, np.zeros((v.size, v.size)), -np.diag(damping))
    middle = 0.5 * float(t.settings[at.DT])
    for e, (row, own) in enumerate(zip(t.element_ints, t.elements, strict=True)):
        terms = slice(row[el.FIRST], row[el.FIRST] + row[el.COUNT])
        arms, joints = t.arms[terms], t.element_joints[terms]
        links = joints[:, el.LINK]
        u = signal(row[None], own[None], 0, t.ctrl, start.activation, middle)
        slopes = own[el.GAIN : el.GAIN + 3] * u + own[el.BIAS : el.BIAS + 3]
        length, turning = 0.0, np.zeros((v.size, v.size))
        if row[el.POINTS] > 0:
            length, arms, turning = path_at(t, e, q)
            links = np.arange(v.size)
        else:
            length = float(arms @ q[joints[:, el.COORDINATE]])
        motion = np.array([1.0, length, arms @ v[links]])
        force = float(slopes @ motion)
        inside = own[el.FORCE_LOW] < force < own[el.FORCE_HIGH]
        force = min(max(force, own[el.FORCE_LOW]), own[el.FORCE_HIGH])
        np.add.at(result.forces, links, force * arms)
        if inside:
            pulls = np.outer(arms, arms)
            np.add.at(result.by_q, np.ix_(links, links), slopes[1] * pulls)
            np.add.at(result.by_v, np.ix_(links, links), slopes[2] * pulls)
            if row[el.POINTS] > 0:
                result.by_q[:] += slopes[2] * np.outer(arms, v @ turning)
        result.by_q[:] += force * turning
    if model.compensation.any():
        result.forces[:] += borne_weight(model, q)
        result.by_q[:] += borne_weight_derivative(model, q)
    return result


def path_at(t: Tables, e: int, q: Array) -> tuple[float, Array, Array]:
    """Length of element e, a path; its arms (nv,), and their changes (nv, nv)."""
    n = t.v.size
    placed = Placed(t.tree, t.links, q, np.zeros((n, layout.WORK_COLUMNS)), np.zeros(n))
    poses_kernel(t.tree, t.links, q, placed.work)
    length = path_length(t.element_ints, t.element_joints, t.arms, e, placed)
    changes = np.zeros((n, n))
    put_path_changes(t.element_ints, t.element_joints, t.arms, e, placed, changes)
    return float(length), placed.arms, changes
