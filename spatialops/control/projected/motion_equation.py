"""The equation of motion of a mechanism that holds on to contacts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, not_finite, vector
from spatialops._compile.held import Held, held
from spatialops._compile.jit import inlined
from spatialops.control.projected.held_closures import HeldClosures
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.dynamics.composite_body import composite_body_kernel
from spatialops.dynamics.loops.closure_factors import LoopsLike
from spatialops.dynamics.newton_euler import NO_EXTERNAL
from spatialops.dynamics.newton_euler_lanes import newton_euler_kernel
from spatialops.forces.passive import borne_weight, dry_friction
from spatialops.tree.model import Model
from spatialops.tree.state import State

_SAME = 1e-6  # share of dry friction: less is no change


class _Mechanism(NamedTuple):
    """A model's tables, and what kernels work in."""

    tree: IntArray  # of branches
    constants: Array
    links: Array  # of the model
    work: Array
    ordered: Array
    still: Array  # (nv,) zeros
    external: Array  # none
    springs: Array  # (2, nv): stiffness, 0 where there is none, and coordinate at rest
    places: IntArray  # (nv,) of coordinates


class MotionTerms(NamedTuple):
    """Of M a + load = tau + A* lambda with A a + drift = 0.

    Parameters
    ----------
    M : (n, n) array
        Mass matrix.
    load : (n,) array
        bias(q, v) less passive forces, friction of joints and of contacts that slide, N m or N.
    A : (m, n) array
        Rows of contacts, then of closures.
    drift : (m,) array
        Adot v, m/s^2 and rad/s^2.
    """

    M: Array
    load: Array
    A: Array
    drift: Array


class MotionEquation:
    """Of a mechanism that holds on to contacts, with its closures.

    Parameters
    ----------
    model : Model
        The mechanism.
    loops : Loops, Loop or sequence of Loop
        Its closures; states are taken to be closed.
    """

    def __init__(self, model: Model, loops: LoopsLike = ()) -> None:
        self.model = model
        self._closures = HeldClosures(model, loops)
        branches = model.branches
        self._held = Held(
            _Mechanism(
                branches.tree,
                branches.constants,
                model.links,
                branches.workspace(),
                branches.room(),
                np.zeros(model.nv),
                NO_EXTERNAL,
                np.stack([model.stiffness, model.reference]),
                model.tree[:, layout.FIRST_Q].copy(),
            )
        )

    def at(self, state: State, grip: HeldContacts) -> MotionTerms:
        """The terms at a state.

        Parameters
        ----------
        state : State
            Configuration and velocity.
        grip : HeldContacts
            What is held.

        Returns
        -------
        MotionTerms
            In arrays of their own.

        Raises
        ------
        ArgumentError
            For a wrong shape, NaN or infinity.
        """
        model = self.model
        q, v = vector(state.q, model.nq, "q"), vector(state.v, model.nv, "v")
        M, load = np.empty((model.nv, model.nv)), np.empty(model.nv)
        if put_terms(self._held.address, q, v, M, load) != layout.OK:
            raise not_finite(q=q, v=v)
        if model.borne:
            load -= borne_weight(model, q)
        if model.dry_friction.any():
            load -= dry_friction(model, v)
        if grip.sliding:
            load -= grip.sliding_friction(q)
        A, drift = grip.rows(q, v)
        if self._closures.n_rows:
            G, turning = self._closures.rows(state)
            A, drift = np.vstack([A, G]), np.concatenate([drift, turning])
        return MotionTerms(M, load, A, drift)

    def turned(self, state: State, a: Array) -> Array | None:
        """What the load (nv,) has more where accelerations move joints that rest, or turn them.

        Parameters
        ----------
        state : State
            Configuration and velocity, at which `at` has found the load.
        a : (nv,) array
            Accelerations under the command that was made for it.

        Returns
        -------
        (nv,) array or None
            Dry friction against what begins less that against what goes on; None: no change.
        """
        model = self.model
        more = dry_friction(model, state.v) - dry_friction(model, state.v, a)
        return more if (np.abs(more) > _SAME * model.dry_friction).any() else None


@held
def put_terms(mechanism: _Mechanism, q: Array, v: Array, M: Array, load: Array) -> int:
    """Write mass matrix (nv, nv) and load (nv,)."""
    own = mechanism.tree, mechanism.constants
    work = mechanism.work
    still = mechanism.still, mechanism.external
    status = newton_euler_kernel(*own, q, v, *still, work, load)
    if status != layout.OK:
        return status
    take_off_passive(mechanism, q, v, load)
    return composite_body_kernel(*own, q, work, mechanism.ordered, M)


@inlined
def take_off_passive(mechanism: _Mechanism, q: Array, v: Array, load: Array) -> None:
    """What springs and damping give, motors need not."""
    for k in range(load.size):
        force = 0.0
        if mechanism.springs[0, k] != 0.0:
            force = mechanism.springs[0, k] * (mechanism.springs[1, k] - q[mechanism.places[k]])
        load[k] -= force - mechanism.links[k, layout.DAMPING] * v[k]
