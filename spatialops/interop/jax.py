"""Rollouts as functions of JAX that have gradients: `pip install spatialops[jax]`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from spatialops.errors import ArgumentError, MissingLibraryError
from spatialops.interop.differentiable_rollouts import DifferentiableRollouts, Gradients, States
from spatialops.simulation.simulator import Simulator

try:
    import jax
except ImportError as error:
    raise MissingLibraryError(
        "spatialops.interop.jax: jax is not installed: pip install spatialops[jax]"
    ) from error

__all__ = ["rollout", "step"]

Function: TypeAlias = Callable[[jax.Array, jax.Array, jax.Array], tuple[jax.Array, jax.Array]]


def rollout(simulator: Simulator, *, threads: int | None = None) -> Function:
    """A function of JAX that makes T steps, of one environment or of B; also under `jit`.

    Parameters
    ----------
    simulator : Simulator
        Makes the steps, on the CPU.
    threads : int, optional
        As of `Batch`.

    Returns
    -------
    callable
        Of q (..., nq), v (..., nv) and taus (..., T, nv), where the leading axis is B or is not
        there; returns q (..., T + 1, nq) and v (..., T + 1, nv). Arrays are float64, which wants
        ``jax.config.update("jax_enable_x64", True)``. Quaternions are made unit first, and the
        gradient by them has no part along them. There are no second derivatives and no `jvp`.

    Raises
    ------
    ArgumentError
        For what `Simulator.linearize` refuses; the function for arrays that do not fit.

    Examples
    --------
    See docs/derivatives.md.
    """
    many = _many(DifferentiableRollouts(simulator, threads=threads))

    def roll(q: jax.Array, v: jax.Array, taus: jax.Array) -> tuple[jax.Array, jax.Array]:
        for name, given in (("q", q), ("v", v), ("taus", taus)):
            _check(name, given)
        if taus.ndim == 3:
            return many(q, v, taus)
        states = many(q[None], v[None], taus[None])
        return states[0][0], states[1][0]

    return roll


def step(simulator: Simulator, *, threads: int | None = None) -> Function:
    """A function of JAX that makes one step, as `rollout`.

    Parameters
    ----------
    simulator : Simulator
        Makes the step.
    threads : int, optional
        As of `Batch`.

    Returns
    -------
    callable
        Of q (..., nq), v (..., nv) and tau (..., nv); returns q and v at the end of the step.
    """
    roll = rollout(simulator, threads=threads)

    def make(q: jax.Array, v: jax.Array, tau: jax.Array) -> tuple[jax.Array, jax.Array]:
        _check("tau", tau)
        states = roll(q, v, tau[..., None, :])
        return states[0][..., 1, :], states[1][..., 1, :]

    return make


def _check(name: str, given: jax.Array) -> None:
    found = getattr(given, "dtype", type(given).__name__)
    if found != np.float64:
        raise ArgumentError(
            f"{name}: expected an array of float64, got {found}; "
            "jax.config.update('jax_enable_x64', True) has JAX keep it"
        )


def _many(rollouts: DifferentiableRollouts) -> Function:
    """The function of B environments, whose derivative JAX is told."""
    model = rollouts.model

    def ahead(q: jax.Array, v: jax.Array, taus: jax.Array) -> States:
        return rollouts.forward(*map(np.asarray, (q, v, taus)))

    def back(*given: jax.Array) -> Gradients:
        q, v, taus, by_q, by_v = map(np.asarray, given)
        return rollouts.backward(States(q, v), taus, by_q, by_v)

    @jax.custom_vjp
    def many(q, v, taus):  # type: ignore[no-untyped-def]
        rows = taus.shape[0], taus.shape[1] + 1
        shapes = States(*(_shape(*rows, n) for n in (model.nq, model.nv)))
        # One environment after the other under vmap: a leading axis is the way to many.
        return tuple(jax.pure_callback(ahead, shapes, q, v, taus, vmap_method="sequential"))

    def forward(q, v, taus):  # type: ignore[no-untyped-def]
        states = many(q, v, taus)
        return states, (*states, taus)

    def backward(kept, by):  # type: ignore[no-untyped-def]
        q, v, taus = kept
        shapes = Gradients(*(_shape(*one.shape) for one in (q[:, 0], v[:, 0], taus)))
        return tuple(jax.pure_callback(back, shapes, *kept, *by, vmap_method="sequential"))

    many.defvjp(forward, backward)
    return many


def _shape(*sizes: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, np.float64)
