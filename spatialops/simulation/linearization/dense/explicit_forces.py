"""Joint forces that are taken as they are: given ones, damping, springs and actuators.

So the fourth-order rule takes them, and the motion from event to event.
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
from spatialops.forces.elements import Elements, signal
from spatialops.forces.passive import borne_weight
from spatialops.forces.path_length import Placed, path_length
from spatialops.simulation.linearization.pulls.path_arms import put_path_changes
from spatialops.tree.model import Model


class Given(NamedTuple):
    """What drives a mechanism.

    Attributes
    ----------
    tau : (nv,) array
        Joint forces.
    ctrl, activation : arrays
        Of its actuators.
    passed : float
        s since they had these activations.
    """

    tau: Array
    ctrl: Array
    activation: Array
    passed: float


class JointForces(NamedTuple):
    """Forces (nv,), and what they change by (nv, nv) with coordinates and velocities."""

    forces: Array
    by_q: Array
    by_v: Array


def joint_forces(model: Model, own: Elements, given: Given, q: Array, v: Array) -> JointForces:
    """At a state of a model with these springs and actuators."""
    damping = model.links[:, layout.DAMPING]
    result = JointForces(given.tau - damping * v, np.zeros((v.size, v.size)), -np.diag(damping))
    for e in range(len(own.ints)):
        add_element(model, own, e, given, (q, v), result)
    if model.compensation.any():
        result.forces[:] += borne_weight(model, q)
        result.by_q[:] += borne_weight_derivative(model, q)
    return result


def add_element(
    model: Model,
    own: Elements,
    e: int,
    given: Given,
    state: tuple[Array, Array],
    result: JointForces,
) -> None:
    """Add what element e pulls with."""
    q, v = state
    row, numbers = own.ints[e], own.floats[e]
    u = signal(own.ints, own.floats, e, given.ctrl, given.activation, given.passed)
    slopes = numbers[el.GAIN : el.GAIN + 3] * u + numbers[el.BIAS : el.BIAS + 3]
    if row[el.POINTS] > 0:
        length, arms, turning = path_at(model, own, e, q)
        links = np.arange(v.size)
    else:
        terms = slice(row[el.FIRST], row[el.FIRST] + row[el.COUNT])
        arms, links = own.arms[terms], own.joints[terms, el.LINK]
        length = float(arms @ q[own.joints[terms, el.COORDINATE]])
        turning = np.zeros((v.size, v.size))
    force = float(slopes @ np.array([1.0, length, arms @ v[links]]))
    inside = numbers[el.FORCE_LOW] < force < numbers[el.FORCE_HIGH]
    force = min(max(force, numbers[el.FORCE_LOW]), numbers[el.FORCE_HIGH])
    np.add.at(result.forces, links, force * arms)
    result.by_q[:] += force * turning
    if not inside:
        return
    pulls = np.outer(arms, arms)
    np.add.at(result.by_q, np.ix_(links, links), slopes[1] * pulls)
    np.add.at(result.by_v, np.ix_(links, links), slopes[2] * pulls)
    if row[el.POINTS] > 0:
        result.by_q[:] += slopes[2] * np.outer(arms, v @ turning)


def path_at(model: Model, own: Elements, e: int, q: Array) -> tuple[float, Array, Array]:
    """Length of element e, a path; its arms (nv,), and their changes (nv, nv)."""
    n = model.nv
    placed = Placed(model.tree, model.links, q, np.zeros((n, layout.WORK_COLUMNS)), np.zeros(n))
    poses_kernel(model.tree, model.links, q, placed.work)
    length = path_length(own.ints, own.joints, own.arms, e, placed)
    changes = np.zeros((n, n))
    put_path_changes(own.ints, own.joints, own.arms, e, placed, changes)
    return float(length), placed.arms, changes
