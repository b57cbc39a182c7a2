"""What the runs of all experiments report alike."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from spatialops._arrays import NOTHING, Array
from spatialops.control.inverse_dynamics.base import ContactInverseDynamics
from spatialops.control.inverse_dynamics.measured_forces import MeasuredForcesController
from spatialops.control.joint_tracking import PIDController
from spatialops.simulation.plain_data import PlainData

Measured: TypeAlias = PIDController | MeasuredForcesController | ContactInverseDynamics


def torque_rates(tau: Array, dt: float) -> Array:
    """|d tau / dt| (n - 1, k) of torques (n, k), N m/s."""
    return np.asarray(np.abs(np.diff(tau, axis=0)) / dt)


def relative_error(predicted: Array, measured: Array) -> float:
    """Mean difference of forces relative to the mean of those measured."""
    return float(np.abs(predicted - measured).sum() / max(measured.sum(), NOTHING))


def ending(statuses: dict[str, int], fault: str) -> PlainData:
    """How many commands had which status, and the fault if there was one."""
    return {
        **{f"status_{name}": count for name, count in statuses.items()},
        **({"fault": fault} if fault else {}),
    }
