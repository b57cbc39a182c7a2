"""Many steps, and products of their derivative with vectors from either side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike, array
from spatialops.errors import ContactError
from spatialops.simulation.linearization.linearizer import Linearizer
from spatialops.simulation.linearization.products import JVP, VJP, Product
from spatialops.simulation.runs.one_thread import OneThread
from spatialops.tree.state import State


class RolloutTangent(NamedTuple):
    """What `LinearizedRollout.jvp` returns.

    Parameters
    ----------
    q, v : (n + 1, nv) arrays
        Changes of all states, on the tangent spaces.
    """

    q: Array
    v: Array


class RolloutGradient(NamedTuple):
    """What `LinearizedRollout.vjp` returns.

    Parameters
    ----------
    q, v : (nv,) arrays
        By the state at the start, on the tangent space.
    tau : (n, nv) array
        By the forces of all steps.
    """

    q: Array
    v: Array
    tau: Array


@dataclass(frozen=True, eq=False)
class LinearizedRollout:
    """Steps from a state under given forces, to be differentiated.

    `Simulator.linearize_rollout` makes it.

    Only states are kept, one a step or one in several. Each step is made again where its derivative
    is wanted, and nothing larger than its equations is ever in memory.

    Parameters
    ----------
    states : tuple of State
        The one that it begins at, every one after so many steps, and the last: n + 1 of them
        where all are kept.
    forces : (n, nv) array
        Joint forces of the steps as they acted.
    acted : (n, nv) array
        0 where a force was cut to an effort limit, else 1.
    linearizer : Linearizer
        Makes the steps.
    one_thread : OneThread
        The simulator's.
    every : int
        Steps from one state that is kept to the next. Those between are made again, a stretch at
        a time, which takes `vjp` the time of the rollout once more.
    """

    states: tuple[State, ...]
    forces: Array
    acted: Array
    linearizer: Linearizer
    one_thread: OneThread
    every: int = 1

    def jvp(self, dq: ArrayLike, dv: ArrayLike, dtau: ArrayLike | None = None) -> RolloutTangent:
        """Changes of all states for changes at the start and of the forces.

        Parameters
        ----------
        dq, dv : (nv,) array_like
            Of the state at the start, on the tangent space.
        dtau : (n, nv) array_like, optional
            Of the forces. Default: none.

        Returns
        -------
        RolloutTangent
            `q` and `v`, a row for each state.

        Raises
        ------
        ArgumentError
            For wrong shapes, NaN or infinity.
        ContactError
            For a step whose derivative is not known, see `Simulator.linearize`.
        """
        n, nv = self.forces.shape
        changes = np.zeros((n + 1, 3, nv))
        changes[0, 0] = array(dq, (nv,), "dq", finite=True)
        changes[0, 1] = array(dv, (nv,), "dv", finite=True)
        if dtau is not None:
            changes[:n, 2] = self.acted * array(dtau, (n, nv), "dtau", finite=True)
        with self.one_thread:
            for first in range(0, n, self.every):
                for k, state in enumerate(self._stretch(first), first):
                    self._differentiate(JVP, k, state, (changes[k], changes[k + 1, :2]))
        return RolloutTangent(changes[:, 0].copy(), changes[:, 1].copy())

    def vjp(self, by_q: ArrayLike, by_v: ArrayLike) -> RolloutGradient:
        """Gradient of a sum over all states, given its derivatives by each of them.

        Parameters
        ----------
        by_q, by_v : (n + 1, nv) array_like
            Derivatives of the sum by coordinates, on the tangent spaces, and by velocities.

        Returns
        -------
        RolloutGradient
            By the state at the start and by the forces.

        Raises
        ------
        ArgumentError
            For wrong shapes, NaN or infinity.
        ContactError
            For a step whose derivative is not known, see `Simulator.linearize`.

        Examples
        --------
        >>> import numpy as np, spatialops as so
        >>> pendulum = so.models.pendulum(2)
        >>> simulator = so.Simulator(pendulum.scene(), dt=0.01)
        >>> rollout = simulator.linearize_rollout(pendulum.state, np.zeros((5, 2)))
        >>> by_q, by_v = np.zeros((6, 2)), np.zeros((6, 2))
        >>> by_q[-1, 0] = 1.0  # of the first angle at the end
        >>> gradient = rollout.vjp(by_q, by_v)
        >>> ahead = rollout.jvp([0.0, 1.0], [0.0, 0.0])
        >>> bool(np.isclose(gradient.q[1], ahead.q[-1, 0]))
        True
        """
        n, nv = self.forces.shape
        weights = np.empty((n + 1, 2, nv))
        weights[:, 0] = array(by_q, (n + 1, nv), "by_q", finite=True)
        weights[:, 1] = array(by_v, (n + 1, nv), "by_v", finite=True)
        tau, back = np.empty((n, nv)), np.zeros((3, nv))
        with self.one_thread:
            for first in reversed(range(0, n, self.every)):
                for k, state in reversed(list(enumerate(self._stretch(first), first))):
                    weights[k + 1] += back[:2]
                    self._differentiate(VJP, k, state, (weights[k + 1], back))
                    tau[k] = self.acted[k] * back[2]
        first = weights[0] + back[:2]
        return RolloutGradient(first[0], first[1], tau)

    def _stretch(self, first: int) -> list[State]:
        """States that steps begin at, from a kept one to the next."""
        kept = self.states[first // self.every]
        between = self.forces[first : first + self.every][:-1]
        return [kept, *(self.linearizer.steps(kept, between) if len(between) else ())]

    def _differentiate(
        self, product: Product, k: int, state: State, arrays: tuple[Array, Array]
    ) -> None:
        try:
            self.linearizer.differentiate(product, state, self.forces[k], arrays)
        except ContactError as error:
            raise ContactError(f"step {k}: {error}") from None
