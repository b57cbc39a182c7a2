"""Forces of joints and wrenches on bodies between events: given ones, springs and actuators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.forces import _layout as of
from spatialops.forces.elements import add_element_forces, advance_activations
from spatialops.forces.external import ExternalWrenches
from spatialops.forces.passive import compensation
from spatialops.forces.path_length import Placed
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.state import State

_NO_WRENCHES = np.zeros((0, 6))


class JointForces:
    """All that acts on the joints of a scene but damping, contacts and closures.

    Attributes
    ----------
    control : callable
        control(time, q, v) -> joint forces (nv,) that are given.
    ctrl : (n_actuators,) array
        Controls of the present `dt`.
    activation : (n_states,) array
        Activations at the beginning of it.
    began : float
        When that was, s.
    external : ExternalWrenches or None
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.control: Callable[[float, Array, Array], Array] = lambda time, q, v: np.zeros(
            scene.model.nv
        )
        self.ctrl = scene.ctrl.copy()
        self.activation = np.zeros(scene.elements.n_states)
        self.began = 0.0
        self.external: ExternalWrenches | None = None
        self._has_paths = bool(scene.elements.ints[:, of.POINTS].any())
        model = scene.model
        work = np.empty((model.nv, layout.WORK_COLUMNS))
        self._placed = Placed(model.tree, model.links, scene.state.q, work, np.zeros(model.nv))
        self._borne = bool(scene.model.compensation.any())

    def begin(self, state: State) -> None:
        """Take up a state; activations that are not given are zero."""
        self.activation[:] = state.activation if state.activation.size else 0.0
        self.began = state.time

    def advance(self, time: float) -> None:
        """Begin the next `dt` at a time."""
        own = self.scene.elements
        passed = time - self.began
        advance_activations(own.ints, own.floats, self.ctrl, self.activation, passed)
        self.began = time

    def state(self, time: float, q: Array, v: Array) -> State:
        """The state at a time within the present `dt`, with its activations then."""
        own, activation = self.scene.elements, self.activation.copy()
        advance_activations(own.ints, own.floats, self.ctrl, activation, time - self.began)
        return State(q.copy(), v.copy(), time, activation)

    def __call__(self, time: float, q: Array, v: Array) -> Array:
        """Joint forces (nv,)."""
        tau, own = self.control(time, q, v), self.scene.elements
        if not len(own.ints):
            return tau
        total, placed = tau.copy(), self._placed._replace(q=q)
        if self._has_paths:
            poses_kernel(placed.tree, placed.links, q, placed.work)
        add_element_forces(
            own.ints,
            own.floats,
            own.joints,
            own.arms,
            placed,
            v,
            self.ctrl,
            self.activation,
            time - self.began,
            total,
        )
        return total

    def wrenches(self, time: float, q: Array, v: Array) -> Array:
        """Wrenches (n_bodies, 6) about the bodies' origins, world axes; no rows: none."""
        if self.external is None and not self._borne:
            return _NO_WRENCHES
        total = compensation(self.scene.model, q)
        if self.external is not None:
            total += self.external(time, self.state(time, q, v))
        return total
