"""Many steps, and products of their derivative with vectors from either side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, ArrayLike, array
from spatialops._compile.held import Held
from spatialops.errors import ArgumentError, ContactError
from spatialops.simulation.linearization.events.event_driven_step import EventLinearizer
from spatialops.simulation.linearization.kept_steps import jvp_held, state_at, vjp_held
from spatialops.simulation.linearization.linearizer import Linearizer
from spatialops.simulation.linearization.results import (
    ParameterGradient,
    RolloutGradient,
    RolloutTangent,
)
from spatialops.simulation.runs.one_thread import OneThread
from spatialops.tree.state import State


@dataclass(frozen=True, eq=False)
class LinearizedRollout:
    """Steps from a state under given forces, to be differentiated.

    `Simulator.linearize_rollout` makes it.

    Of every step is kept what its equations need, some 2 kB of a quadruped on its feet; nothing
    larger than the equations of one step is made of it.

    Parameters
    ----------
    states : tuple of State
        The one that it begins at, every one after so many steps, and the last: n + 1 of them
        where all are kept.
    forces : (n, nv) array
        Joint forces of the steps as they acted.
    acted : (n, nv) array
        0 where a force was cut to an effort limit, else 1.
    linearizer : Linearizer or EventLinearizer
        Makes the steps.
    one_thread : OneThread
        The simulator's.
    every : int
        Steps from one state that is kept to the next. Those between are made again, a stretch at
        a time, which takes products the time of the rollout once more.
    kept : Held or None
        The steps, where all are kept.
    """

    states: tuple[State, ...]
    forces: Array
    acted: Array
    linearizer: Linearizer | EventLinearizer
    one_thread: OneThread
    every: int = 1
    kept: Held | None = None

    def jvp(
        self,
        dq: ArrayLike,
        dv: ArrayLike,
        dtau: ArrayLike | None = None,
        *,
        inertial: ArrayLike | None = None,
        friction: ArrayLike | None = None,
        restitution: ArrayLike | None = None,
    ) -> RolloutTangent:
        """Changes of all states for changes at the start, of the forces and of parameters.

        Parameters
        ----------
        dq, dv : (nv,) array_like
            Of the state at the start, on the tangent space.
        dtau : (n, nv) array_like, optional
            Of the forces. Default: none.
        inertial : (10 n_bodies,) array_like, optional
            Of `inertial_parameters`. Default: none. By parameters every step is made again, in
            Python, some milliseconds each.
        friction, restitution : (n_pairs,) array_like, optional
            Of the coefficients of pairs of geoms. Default: none.

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
        theta = self._parameters(inertial, friction, restitution)
        with self.one_thread:
            for first in self._stretches():
                kept = self._made(first)
                if theta is None:
                    self._go_ahead(first, kept, changes[first:])
                else:
                    self._go_ahead_by(first, kept, changes[first:], theta)
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
        weights = np.zeros((n + 1, 3, nv))
        weights[:, 0] = array(by_q, (n + 1, nv), "by_q", finite=True)
        weights[:, 1] = array(by_v, (n + 1, nv), "by_v", finite=True)
        with self.one_thread:
            for first in reversed(self._stretches()):
                self._go_back(first, self._made(first), weights[first:])
        tau = self.acted * weights[:n, 2]
        return RolloutGradient(weights[0, 0].copy(), weights[0, 1].copy(), tau)

    def vjp_parameters(self, by_q: ArrayLike, by_v: ArrayLike) -> ParameterGradient:
        """The same gradient, with that by masses, friction and restitution.

        Parameters
        ----------
        by_q, by_v : (n + 1, nv) array_like
            As of `vjp`.

        Returns
        -------
        ParameterGradient
            By the state at the start, the forces and the parameters, which are those of
            `Simulator.linearize_parameters`. Every step is made again, in Python, some milliseconds
            each.

        Raises
        ------
        ArgumentError
            For wrong shapes, NaN or infinity, and with `EventDriven`.
        ContactError
            For a step whose derivative is not known, see `Simulator.linearize_parameters`.

        Examples
        --------
        >>> import numpy as np, spatialops as so
        >>> pendulum = so.models.pendulum(2)
        >>> simulator = so.Simulator(pendulum.scene(), dt=0.01)
        >>> rollout = simulator.linearize_rollout(pendulum.state, np.zeros((5, 2)))
        >>> by_q, by_v = np.zeros((6, 2)), np.zeros((6, 2))
        >>> by_q[-1, 0] = 1.0
        >>> gradient = rollout.vjp_parameters(by_q, by_v)
        >>> zero, heavier = np.zeros(2), so.inertial_parameters(pendulum.model)
        >>> ahead = rollout.jvp(zero, zero, inertial=heavier)
        >>> bool(np.isclose(gradient.inertial @ heavier, ahead.q[-1, 0]))
        True
        """
        n, nv = self.forces.shape
        weights = np.zeros((n + 1, 3, nv))
        weights[:, 0] = array(by_q, (n + 1, nv), "by_q", finite=True)
        weights[:, 1] = array(by_v, (n + 1, nv), "by_v", finite=True)
        bodies, pairs = self._stepped("vjp_parameters").n_parameters()
        by = np.zeros(bodies + 2 * pairs)
        with self.one_thread:
            for first in reversed(self._stretches()):
                kept = self._made(first)
                for k in reversed(range(len(kept.tables.forces))):
                    A, B, P = self._with_parameters(first, kept, k)
                    weight = weights[first + k + 1, :2].ravel()
                    weights[first + k, :2] += (A.T @ weight).reshape(2, -1)
                    weights[first + k, 2] = B.T @ weight
                    by += P.T @ weight
        tau = self.acted * weights[:n, 2]
        parts = np.split(by, [bodies, bodies + pairs])
        return ParameterGradient(weights[0, 0].copy(), weights[0, 1].copy(), tau, *parts)

    def _stepped(self, what: str) -> Linearizer:
        """The linearizer, of steps that parameters are known of."""
        if isinstance(self.linearizer, EventLinearizer):
            raise ArgumentError(
                f"{what}: EventDriven: by parameters steps from event to event are not known yet; "
                "take TimeStepping"
            )
        return self.linearizer

    def _parameters(self, *parts: ArrayLike | None) -> Array | None:
        """Changes of all parameters, side by side; None where none is given."""
        if all(part is None for part in parts):
            return None
        bodies, pairs = self._stepped("jvp").n_parameters()
        sizes = {"inertial": bodies, "friction": pairs, "restitution": pairs}
        return np.concatenate(
            [
                np.zeros(size) if part is None else array(part, (size,), name, finite=True)
                for (name, size), part in zip(sizes.items(), parts, strict=True)
            ]
        )

    def _stretches(self) -> range:
        """First steps of stretches that are in memory together."""
        n = len(self.forces)
        return range(0, n, self.every if self.kept is None else max(n, 1))

    def _made(self, first: int) -> Held:
        """Steps of a stretch."""
        if self.kept is not None:
            return self.kept
        state = self.states[first // self.every]
        return self.linearizer.keep(state, self.forces[first : first + self.every])

    def _go_ahead(self, first: int, kept: Held, changes: Array) -> None:
        """Changes of states along a stretch."""
        k, n = 0, len(kept.tables.forces)
        while (k := self.linearizer.sweep(jvp_held, kept, changes, k)) < n:
            A, B = self._matrices(first, kept, k)
            changes[k + 1, :2] = (A @ changes[k, :2].ravel() + B @ changes[k, 2]).reshape(2, -1)
            k += 1

    def _go_ahead_by(self, first: int, kept: Held, changes: Array, theta: Array) -> None:
        """The same with changes of parameters."""
        for k in range(len(kept.tables.forces)):
            A, B, P = self._with_parameters(first, kept, k)
            ahead = A @ changes[k, :2].ravel() + B @ changes[k, 2] + P @ theta
            changes[k + 1, :2] = ahead.reshape(2, -1)

    def _go_back(self, first: int, kept: Held, weights: Array) -> None:
        """Weights of states and forces back along a stretch."""
        k = len(kept.tables.forces)
        while (k := self.linearizer.sweep(vjp_held, kept, weights, k)) > 0:
            A, B = self._matrices(first, kept, k - 1)
            weight = weights[k, :2].ravel()
            weights[k - 1, :2] += (A.T @ weight).reshape(2, -1)
            weights[k - 1, 2] = B.T @ weight
            k -= 1

    def _matrices(self, first: int, kept: Held, k: int) -> tuple[Array, Array]:
        """A and B of step k of a stretch, which is made again."""
        nv = self.forces.shape[1]
        A, B = np.empty((2 * nv, 2 * nv)), np.empty((2 * nv, nv))
        state, tau = state_at(kept.tables, k), kept.tables.forces[k]
        try:
            self.linearizer.differentiate(state, tau, A, B)
        except ContactError as error:
            raise ContactError(f"step {first + k}: {error}") from None
        return A, B

    def _with_parameters(self, first: int, kept: Held, k: int) -> tuple[Array, Array, Array]:
        """A, B and the derivative by all parameters of step k of a stretch, which is made again."""
        state, tau = state_at(kept.tables, k), kept.tables.forces[k]
        try:
            return self._stepped("parameters").with_parameters(state, tau)
        except ContactError as error:
            raise ContactError(f"step {first + k}: {error}") from None


def linearized_rollout(
    linearizer: Linearizer | EventLinearizer,
    state: State,
    forces: tuple[Array, Array],
    one_thread: OneThread,
    every: int,
) -> LinearizedRollout:
    """Make the steps from a checked state under forces, given as they act and which of them do."""
    states, kept = [state], None
    n = len(forces[0])
    size = max(n, 1) if every == 1 else every
    linearizer.forget()
    for first in range(0, n, size):
        stretch = forces[0][first : first + size]
        made = linearizer.keep(states[-1], stretch)
        if every == 1:
            states += [state_at(made.tables, k + 1) for k in range(n)]
            kept = made
        else:
            states.append(state_at(made.tables, len(stretch)))
    return LinearizedRollout(tuple(states), *forces, linearizer, one_thread, every, kept)
