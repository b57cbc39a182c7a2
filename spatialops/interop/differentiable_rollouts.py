"""Rollouts of one simulator and their gradients over plain arrays: what the bridges are made of.

States of B environments are made by `Batch`. Gradients go back along each of them by the adjoint
of `LinearizedRollout`, which makes steps again, a stretch at a time, and forms no matrices;
environments are shared out to threads, each of which has a loop of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike, array, whole
from spatialops._processors import processors
from spatialops.errors import ArgumentError, ContactError
from spatialops.interop.coordinate_gradients import to_coordinates, to_tangent
from spatialops.simulation.batch.batch import Batch
from spatialops.simulation.linearization.linearizer import Linearizer
from spatialops.simulation.linearization.rollout import LinearizedRollout
from spatialops.simulation.runs.one_thread import OneThread
from spatialops.simulation.simulator import Simulator
from spatialops.tree.state import State

_EVERY = 20  # steps that are made again together


class States(NamedTuple):
    """What rollouts of B environments in T steps are.

    Parameters
    ----------
    q : (B, T + 1, nq) array
        Coordinates, the first row those that it begins at, with quaternions of unit length.
    v : (B, T + 1, nv) array
        Velocities.
    """

    q: Array
    v: Array


class Gradients(NamedTuple):
    """What `DifferentiableRollouts.backward` returns.

    Parameters
    ----------
    q : (B, nq) array
        By coordinates at the start; along a quaternion itself, none.
    v : (B, nv) array
        By velocities at the start.
    taus : (B, T, nv) array
        By joint forces.
    """

    q: Array
    v: Array
    taus: Array


class DifferentiableRollouts:
    """Rollouts of many environments of one simulator, and their gradients.

    Parameters
    ----------
    simulator : Simulator
        What each environment is of.
    threads : int, optional
        That make steps and gradients, as of `Batch`. Default: one a processor.

    Raises
    ------
    ArgumentError
        For what `Simulator.linearize` refuses, and for actuators that have activations.
    """

    def __init__(self, simulator: Simulator, *, threads: int | None = None) -> None:
        if simulator.scene.elements.n_states:
            raise ArgumentError("rollout: actuators with activations are not known yet")
        self.simulator = simulator
        self.model = simulator.scene.model
        self._threads = whole(threads or processors(), "threads", low=1)
        self._batch: Batch | None = None
        # Refuses here what cannot be differentiated.
        simulator.linearize_rollout(simulator.scene.state, np.zeros((0, self.model.nv)))
        self._linearizers = [Linearizer(simulator.stepping)]

    def forward(self, q: ArrayLike, v: ArrayLike, taus: ArrayLike) -> States:
        """States of all environments.

        Parameters
        ----------
        q, v : (B, nq), (B, nv) array_like
            Where they begin. Quaternions are made unit.
        taus : (B, T, nv) array_like
            Joint forces, N m or N; cut to effort limits.

        Returns
        -------
        States
            The T + 1 states of each.

        Raises
        ------
        ArgumentError
            For wrong shapes, NaN or infinity.
        ContactError
            For a step that fails; it says of which environment.
        """
        model = self.model
        forces = array(taus, (None, None, model.nv), "taus", finite=True)
        n_all, n_steps = forces.shape[:2]
        starts = array(q, (n_all, model.nq), "q", finite=True)
        speeds = array(v, (n_all, model.nv), "v", finite=True)
        out = States(
            np.empty((n_all, n_steps + 1, model.nq)), np.empty((n_all, n_steps + 1, model.nv))
        )
        for e in range(n_all):
            out.q[e, 0] = State(starts[e], speeds[e]).checked(model).q
        out.v[:, 0] = speeds
        if forces.size == 0:
            return out
        made = self._batch_of(n_all).rollout(forces, out.q[:, 0], speeds)
        for e, failure in made.failures.items():
            raise ContactError(f"environment {e}, step {failure.step}: {failure.error}")
        out.q[:, 1:] = made.q
        out.v[:, 1:] = made.v
        return out

    def backward(self, states: States, taus: ArrayLike, by_q: Array, by_v: Array) -> Gradients:
        """Gradient of a sum, given its derivatives by all states.

        Parameters
        ----------
        states : States
            What `forward` has returned.
        taus : (B, T, nv) array_like
            What it was given.
        by_q, by_v : (B, T + 1, nq), (B, T + 1, nv) arrays
            Derivatives of the sum.

        Returns
        -------
        Gradients
            By the states at the start and by the forces.

        Raises
        ------
        ContactError
            For a step whose derivative is not known, see `Simulator.linearize`.
        """
        model = self.model
        forces = array(taus, (len(states.q), None, model.nv), "taus", finite=True)
        on_tangent = to_tangent(model, states.q, by_q)
        by_start = np.empty((len(forces), model.nv))
        out = Gradients(np.empty(0), np.empty_like(by_start), np.empty_like(forces))

        def go_back(linearizer: Linearizer, which: range) -> None:
            for e in which:
                linearizer.forget()  # so that nothing depends on who comes before
                rollout = self._linearized(linearizer, states.q[e], states.v[e], forces[e])
                try:
                    by_start[e], out.v[e], out.taus[e] = rollout.vjp(on_tangent[e], by_v[e])
                except ContactError as error:
                    raise ContactError(f"environment {e}, {error}") from error

        self._on_threads(go_back, len(forces))
        return out._replace(q=to_coordinates(model, states.q[:, 0], by_start))

    def _on_threads(self, task: Callable[[Linearizer, range], None], size: int) -> None:
        """Share environments out."""
        count = max(1, min(self._threads, size))
        while len(self._linearizers) < count:
            self._linearizers.append(Linearizer(self.simulator.stepping))
        shares = [range(first, size, count) for first in range(count)]
        if count == 1:
            task(self._linearizers[0], shares[0])
            return
        with ThreadPoolExecutor(count) as pool:
            for done in [pool.submit(task, *pair) for pair in zip(self._linearizers, shares)]:
                done.result()

    def _linearized(
        self, linearizer: Linearizer, q: Array, v: Array, forces: Array
    ) -> LinearizedRollout:
        """The rollout through states that are known."""
        limit, dt = self.simulator.effort.limit, self.simulator.dt
        cut = np.clip(forces, -limit, limit)
        states = tuple(State(q[k], v[k], k * dt) for k in range(0, len(q), _EVERY))
        acted = (cut == forces).astype(np.float64)
        return LinearizedRollout(states, cut, acted, linearizer, OneThread(), _EVERY)

    def _batch_of(self, size: int) -> Batch:
        """The batch of the last call, if it has this size."""
        if self._batch is None or self._batch.size != size:
            if self._batch is not None:
                self._batch.close()
            self._batch = Batch(self.simulator, size, threads=self._threads)
        return self._batch
