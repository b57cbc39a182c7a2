"""Forces of actuators and of springs along paths in a step: means over its last piece.

The step has f at the state where it states its equation of motion, and takes what resists
implicitly: f falls by `YIELDS` times the change of the length's rate until the end of the piece
(`stepping.integrators.joint_forces`). RK4 has forces as they are; they are read at its start.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.dynamics.jacobian import Poses
from spatialops.forces import _layout as of
from spatialops.forces.actuators import Actuator
from spatialops.forces.element_tables import rows_along_paths
from spatialops.forces.path_lines import path_wrenches
from spatialops.forces.paths import TendonPath
from spatialops.forces.tendons import arms_of, length_of
from spatialops.simulation import _layout as at
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import State, transport


class Pulled(NamedTuple):
    """What a step says of its actuators and springs.

    Attributes
    ----------
    rows : (n_elements, PULL_COLUMNS) array
        As the step evaluated them, in the order of `Scene.elements`; unused by RK4.
    q : (nq,) array
        Where it did.
    change : (nv,) array
        Of the velocities over the piece, along the axes there.
    signals : (n_actuators,) array
        Controls and activations, for RK4.
    as_is : bool
        Whether forces are as they were at the start, as RK4 has them.
    """

    rows: Array
    q: Array
    change: Array
    signals: Array
    as_is: bool


def pulled(scene: Scene, t: Tables, start: State) -> Pulled | None:
    """What is left in the tables of actuators and springs; None without any."""
    count = len(scene.elements.ints)
    if not count:
        return None
    nq, nv = scene.model.nq, scene.model.nv
    q, after = t.vectors[at.Q_E, :nq].copy(), t.v.copy()
    as_is = bool(t.control[at.SCHEME] == at.RK4)
    if not as_is:
        transport(scene.model.tree, t.q, q, after)
    change = after - t.vectors[at.V_E, :nv]
    return Pulled(t.pulls[:count].copy(), q, change, _signals(scene, t.ctrl, start), as_is)


def actuator_forces(scene: Scene, found: Pulled, start: State) -> Array:
    """Forces along the lengths, (n_actuators,), N or N m."""
    model = scene.model
    if found.as_is:
        pairs = zip(scene.actuators, found.signals.tolist(), strict=True)
        return np.array([_as_is(scene, one, u, start) for one, u in pairs])
    rows = found.rows[: len(scene.actuators)]
    rates = [arms_of(model, one, found.q) @ found.change for one in scene.actuators]
    return np.asarray(rows[:, at.PULLED] - rows[:, at.YIELDS] * np.array(rates))


def pulling_wrenches(scene: Scene, found: Pulled, start: State, poses: Poses) -> Array:
    """[moment; force] (n_bodies, 6) of all that pulls along paths, at the bodies' origins."""
    model = scene.model
    total = np.zeros((model.n_bodies, 6))
    along = list(rows_along_paths(model, scene.actuators, scene.tendons))
    if not along:
        return total
    driven = actuator_forces(scene, found, start)
    for e, path in along:
        if e < len(scene.actuators):
            force = driven[e]
        elif found.as_is:
            force = _spring_as_is(scene, e, path, start)
        else:
            pull, yields = found.rows[e]
            force = pull - yields * (path.arms(model, found.q) @ found.change)
        total += force * path_wrenches(model, path, *poses)
    return total


def _spring_as_is(scene: Scene, e: int, path: TendonPath, state: State) -> float:
    """The law of a spring along a path at a state."""
    row = scene.elements.floats[e]
    length, arms = path.length(scene.model, state.q), path.arms(scene.model, state.q)
    force = row[of.BIAS : of.BIAS + 3] @ np.array([1.0, length, arms @ state.v])
    return float(np.clip(force, row[of.FORCE_LOW], row[of.FORCE_HIGH]))


def _signals(scene: Scene, ctrl: Array, start: State) -> Array:
    """What drives each: its control within its range, or its activation."""
    found, states = [], iter(start.activation.tolist())
    for one, u in zip(scene.actuators, ctrl.tolist(), strict=True):
        found.append(float(np.clip(u, *one.ctrl_range)) if one.dynamics == "none" else next(states))
    return np.array(found)


def _as_is(scene: Scene, one: Actuator, u: float, state: State) -> float:
    """The law of an actuator at a state."""
    length = length_of(scene.model, one, state.q)
    rate = float(arms_of(scene.model, one, state.q) @ state.v)
    terms = np.array([1.0, length, rate])
    return float(np.clip(one.gain @ terms * u + one.bias @ terms, *one.force_range))
