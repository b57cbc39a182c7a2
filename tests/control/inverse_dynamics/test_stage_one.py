"""Stage I of [Z] 6.2: three ways to its program are one program."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control.inverse_dynamics.stage_one import factored, plain, saving
from spatialops.simulation.lookahead import Lookahead

MOTORS = np.arange(6, 18)


@pytest.mark.parametrize("way", [saving, factored])
def test_the_savings_change_nothing(way):
    robot, rng = so.models.quadruped(), np.random.default_rng(0)
    sim = so.Simulator(robot.scene(), impact_threshold=100.0)
    v = 0.01 * rng.normal(size=18)
    ahead = Lookahead(sim).predict(so.State(robot.state.q, v))
    wanted = rng.normal(size=12)
    expected, found = plain(ahead, MOTORS, wanted), way(ahead, MOTORS, wanted)
    assert len(expected.u) >= 6
    assert found.W == pytest.approx(expected.W, abs=1e-11 * np.abs(expected.W).max())
    assert found.u == pytest.approx(expected.u, abs=1e-11 * np.abs(expected.u).max())
