"""Rollouts as functions of PyTorch that have gradients: `pip install spatialops[torch]`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from spatialops.errors import ArgumentError, MissingLibraryError
from spatialops.interop.differentiable_rollouts import DifferentiableRollouts, States
from spatialops.simulation.simulator import Simulator

try:
    import torch
except ImportError as error:
    raise MissingLibraryError(
        "spatialops.interop.torch: torch is not installed: pip install spatialops[torch]"
    ) from error

__all__ = ["rollout", "step"]

Tensors: TypeAlias = tuple[torch.Tensor, torch.Tensor]
Function: TypeAlias = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], Tensors]


def rollout(simulator: Simulator, *, threads: int | None = None) -> Function:
    """A function of PyTorch that makes T steps, of one environment or of B.

    Parameters
    ----------
    simulator : Simulator
        Makes the steps.
    threads : int, optional
        As of `Batch`.

    Returns
    -------
    callable
        Of q (..., nq), v (..., nv) and taus (..., T, nv), where the leading axis is B or is not
        there; returns q (..., T + 1, nq) and v (..., T + 1, nv). Tensors are float64 on the CPU.
        Quaternions are made unit first, and the gradient by them has no part along them. There are
        no second derivatives.

    Raises
    ------
    ArgumentError
        For what `Simulator.linearize` refuses; the function for tensors that do not fit.

    Examples
    --------
    See docs/derivatives.md.
    """
    rollouts = DifferentiableRollouts(simulator, threads=threads)

    def roll(q: torch.Tensor, v: torch.Tensor, taus: torch.Tensor) -> Tensors:
        for name, tensor in (("q", q), ("v", v), ("taus", taus)):
            _check(name, tensor)
        if taus.ndim == 3:
            return _Rollout.apply(rollouts, q, v, taus)
        many = _Rollout.apply(rollouts, q[None], v[None], taus[None])
        return many[0][0], many[1][0]

    return roll


def step(simulator: Simulator, *, threads: int | None = None) -> Function:
    """A function of PyTorch that makes one step, as `rollout`.

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

    def make(q: torch.Tensor, v: torch.Tensor, tau: torch.Tensor) -> Tensors:
        _check("tau", tau)
        states = roll(q, v, tau[..., None, :])
        return states[0][..., 1, :], states[1][..., 1, :]

    return make


def _check(name: str, tensor: torch.Tensor) -> None:
    if not isinstance(tensor, torch.Tensor):
        raise ArgumentError(f"{name}: expected a tensor, got {type(tensor).__name__}")
    if tensor.device.type != "cpu":
        raise ArgumentError(f"{name}: expected a tensor on the CPU, got one on {tensor.device}")
    if tensor.dtype != torch.float64:
        raise ArgumentError(f"{name}: expected float64, got {tensor.dtype}")


class _Rollout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rollouts, q, v, taus):  # type: ignore[no-untyped-def]
        given = [tensor.detach().numpy() for tensor in (q, v, taus)]
        states = rollouts.forward(*given)
        made = torch.from_numpy(states.q), torch.from_numpy(states.v)
        ctx.rollouts = rollouts
        ctx.save_for_backward(*made, taus)
        return made

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, by_q, by_v):  # type: ignore[no-untyped-def]
        q, v, taus = (tensor.detach().numpy() for tensor in ctx.saved_tensors)
        by = ctx.rollouts.backward(States(q, v), taus, by_q.numpy(), by_v.numpy())
        return None, *(torch.from_numpy(one) for one in by)
