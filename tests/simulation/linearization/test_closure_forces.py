"""Forces of closures that the loop reports against what inverse dynamics of a step ask of them."""

import copy

import numpy as np
import pytest

import spatialops as so
from spatialops.derivatives.constrained_dynamics import ClosureAnswer
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.dense.closed_piece import multipliers
from spatialops.simulation.linearization.dense.closing import factored, independent
from tests.simulation.linearization.test_closed import TOE, standing_leg
from tests.simulation.linearization.test_closed_impacts import approaching
from tests.simulation.linearization.test_linearize import EXACT


@pytest.mark.compiled
@pytest.mark.parametrize("friction", [0.1, 0.3])
def test_of_a_toe_whose_tangents_turn(friction):
    """The problem is stated again, and so is what closures answer to friction along tangents."""
    scene, q = standing_leg(friction, 0.0)
    v = approaching(scene, q, so.Node("foot", TOE), 1e-3)
    tau = np.random.default_rng(1).normal(size=scene.model.nv)
    tau[5] = -60.0
    simulator = so.Simulator(scene, dt=5e-3, time=EXACT)
    assert simulator.linearize(so.State(q, v), tau).statuses == ("sliding",)
    loop, held = simulator._linearizer.lend()
    t, room = loop.tables, held.tables
    assert t.control[at.TURNED] == 1
    loops = copy.copy(scene.loops)
    loops.floats = t.loops
    span = factored(loops, t.vectors[at.Q_E, : t.q.size].copy(), t.damped, independent(loops, q))
    asked = multipliers(t, room, span, ClosureAnswer(span, room.squares[of.MASS]))
    told = t.closure_vectors[at.FORCES, : asked.size]
    assert np.abs(told - asked).max() < 1e-11 * np.abs(asked).max()
