"""The derivative of a step by controls and activations: what an actuator's signal does is a force.

An actuator whose gain is a number g0 pulls with g0 u along its arms c, and by whatever its length
does besides. To first order a change of its signal u is a change g0 c du of the joint forces of the
step, which B takes on. The signal is that in the middle of the step: with activation w and control
u it is d w + e u there, d and e by `signal_slopes`, and so is the activation at the end:

    [dx'; dw'] = [[A, B R D], [0, D']] [dx; dw] + [B R E; E'] du,    R = [g0 c],

D, E after half of the step and D', E' after all of it. What is cut to a range does not change.
"""

from __future__ import annotations

import math

import numpy as np

from spatialops._arrays import Array
from spatialops.errors import ArgumentError, ContactError
from spatialops.forces import _layout as el
from spatialops.forces.actuators import Actuator
from spatialops.forces.elements import clamped
from spatialops.forces.tendons import arms_of
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization.results import Linearization
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.driver import Stepping
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import State

_WHOLE = 1e-12  # s: a last piece that is shorter than the step has others before it


def refuse_controls(stepping: Stepping) -> None:
    """What the derivative by controls is not known of yet."""
    scene = stepping.scene
    for one in scene.actuators:
        if np.any(one.gain[1:]):
            raise ArgumentError(
                f"linearize_controls: actuator {one.name!r}: gains that change with length or rate "
                "are not known yet"
            )
        if stepping.scheme == at.RK4 and not _is_alike(one):
            raise ArgumentError(
                f"linearize_controls: actuator {one.name!r}: under 'rk4' activations, ranges of "
                "force and paths are not known yet"
            )


def _is_alike(one: Actuator) -> bool:
    """Whether its signal and its arms are those of all parts of a step, and it is not cut."""
    steady = one.path is None and one.dynamics == "none"
    return steady and not np.isfinite(one.force_range).any()


def with_controls(scene: Scene, t: Tables, state: State, found: Linearization) -> Linearization:
    """The derivative of the step that the tables hold by activations and controls, too."""
    n, dt = len(found.A), float(t.settings[at.DT])
    n_states, n_controls = scene.elements.n_states, len(t.ctrl)
    activation = scene.activations(state)
    middle, end = (_by_signals(t, activation, x) for x in (0.5 * dt, dt))
    by_signals = found.B @ _forces(scene, t) @ middle
    A, B = np.zeros((n + n_states, n + n_states)), np.zeros((n + n_states, n_controls))
    A[:n, :n] = found.A
    A[:n, n:] = by_signals[:, :n_states]
    B[:n] = by_signals[:, n_states:]
    for e in range(n_controls):
        own = t.element_ints[e, el.STATE]
        if own >= 0:
            A[n + own, n:] = end[e, :n_states]
            B[n + own] = end[e, n_states:]
    return found._replace(A=A, B=B)


def _by_signals(t: Tables, activation: Array, x: float) -> Array:
    """Changes of all actuators' signals, a time x on, by activations and controls."""
    n_states = len(activation)
    by = np.zeros((len(t.ctrl), n_states + len(t.ctrl)))
    for e, ctrl in enumerate(t.ctrl.tolist()):
        own = int(t.element_ints[e, el.STATE])
        now = float(activation[own]) if own >= 0 else 0.0
        slopes = signal_slopes(t.element_ints[e], t.elements[e], ctrl, now, x)
        by[e, n_states + e] = slopes[1]
        if own >= 0:
            by[e, own] = slopes[0]
    return by


def _forces(scene: Scene, t: Tables) -> Array:
    """(nv, n_actuators) joint forces of a unit of each signal."""
    model, stages = scene.model, t.control[at.SCHEME] == at.RK4
    by = np.zeros((model.nv, len(scene.actuators)))
    whole = t.monitor[at.PIECE] > t.settings[at.DT] - _WHOLE
    for e, one in enumerate(scene.actuators):
        if not (whole or _is_alike(one)):
            raise ContactError(
                f"linearize_controls: actuator {one.name!r}: activations, ranges of force and "
                "paths in a step that is cut, by an impact or by what does not settle, are not "
                "known yet"
            )
        # What yields within the step may begin beyond its range: cut is what is at an end.
        if stages or t.pulls[e, at.PULLED] not in one.force_range:
            by[:, e] = one.gain[0] * arms_of(model, one, t.vectors[at.Q_E, : model.nq])
    return by


def signal_slopes(
    ints: Array, floats: Array, ctrl: float, activation: float, x: float
) -> tuple[float, float]:
    """Changes of an actuator's signal, a time x on, by its activation and its control.

    Zero beyond a range; at its end as within it.
    """
    low, high = float(floats[el.CONTROL_LOW]), float(floats[el.CONTROL_HIGH])
    within = float(low <= ctrl <= high)
    if ints[el.STATE] < 0:
        return 0.0, within
    kept, added = 1.0, x
    if ints[el.DYNAMICS] == el.FILTER:
        constant = float(floats[el.TIME_CONSTANT])
        kept = math.exp(-x / constant) if constant > 0.0 else 0.0
        added = 1.0 - kept
    after = kept * activation + added * clamped(ctrl, low, high)
    inside = float(floats[el.STATE_LOW] <= after <= floats[el.STATE_HIGH])
    return inside * kept, inside * added * within
