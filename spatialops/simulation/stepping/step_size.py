"""Steps that are too long for how fast bodies spin: said before the state is lost."""

from __future__ import annotations

import warnings

import numpy as np

from spatialops import _layout as layout
from spatialops.errors import StepSizeWarning
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.step_check import level_of_caller
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.model import Model

# rad: turn of a step from which on an integrator is not to be trusted. Semi-implicit Euler takes
# gyroscopic forces at the old velocity and gains (dt w)^2 of the energy a step; RK4 loses
# (dt w)^6 / 72; the midpoint rule bounds it, but is a radian off after a few turns.
_MOST_TURN = {at.SEMI_IMPLICIT: 0.05, at.MOREAU: 1.0, at.RK4: 0.5}
_GOOD = 0.25  # of that turn: a step that would do


def fastest_spin(scheme: int, dt: float) -> float:
    """Spin, rad/s, above which `warn_of_spin` warns; slightly less, never more."""
    return (1.0 - 1e-12) * _MOST_TURN[scheme] / dt


def warn_of_spin(t: Tables, model: Model) -> None:
    """Warn of the fastest body since the last time, where it turned too far in a step.

    Warns
    -----
    StepSizeWarning
        With the body's name, and a step that would do.
    """
    dt, spin = float(t.settings[at.DT]), float(t.monitor[at.FASTEST])
    most = _MOST_TURN[int(t.control[at.SCHEME])]
    strained = int(t.control[at.STRAINED])
    t.monitor[at.FASTEST] = 0.0
    t.control[at.STRAINED] = 0
    if spin * dt <= most and not strained:
        return
    moving = np.flatnonzero(t.tree[:, layout.BODY] >= 0)
    link = moving[moving >= t.control[at.SPINNING]][0]  # axes come before the body they carry
    body = model.body_names[t.tree[link, layout.BODY]]
    good = min(_GOOD * most / spin, 0.5 * dt)
    warnings.warn(
        f"body {body!r} turns at {spin:.3g} rad/s, {spin * dt:.2g} rad in a step of {dt:g} s: "
        f"too far for this integrator; dt = {good:.1g} s would do",
        StepSizeWarning,
        stacklevel=level_of_caller(),
    )
