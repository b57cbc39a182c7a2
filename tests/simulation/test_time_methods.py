"""How exactly time steps are made."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError
from spatialops.simulation import _layout as at
from tests.simulation.linearization.test_linearize import standing

TIGHT = so.TimeStepping(settled=1e-13)


def whirling(time):
    """End of a step of a pendulum under torques: velocities, and the largest of them."""
    robot = so.models.pendulum(5)
    simulator = so.Simulator(so.Scene(robot.model, []), dt=2e-3, time=time)
    state = so.State(np.linspace(0.1, 0.5, 5), np.array([3.0, -5.0, 4.0, 6.0, -2.0]))
    tau = 0.3 * np.arange(1.0, 6.0)
    end, _ = simulator.step(state, tau)
    return end.v, np.abs(end.v).max()


@pytest.mark.parametrize(("settled", "low"), [(1e-5, 1e-10), (1e-8, 1e-13)])
def test_velocities_are_off_by_what_is_asked_for_and_not_by_much_less(settled, low):
    exact, size = whirling(TIGHT)
    found, _ = whirling(so.TimeStepping(settled=settled))
    assert low * size < np.abs(found - exact).max() < settled * size


@pytest.mark.compiled
def test_contact_problems_are_solved_to_the_tolerance():
    robot = so.models.quadruped()
    state, tau = standing(robot)
    state = so.State(state.q, 1e-2 * np.random.default_rng(2).normal(size=18))
    for tolerance in (1e-4, 1e-12):
        time = so.TimeStepping(tolerance=tolerance)
        simulator = so.Simulator(robot.scene(friction=0.3), time=time)
        assert simulator.setup.settings[at.TOLERANCE] == tolerance
        record = simulator.run(state, 0.01, controller=lambda *_: tau)
        assert record.residuals.max() <= tolerance


@pytest.mark.parametrize(
    "options",
    [{"tolerance": 0.0}, {"tolerance": np.nan}, {"settled": 1e-16}, {"settled": "little"}],
)
def test_what_no_step_can_be_made_to_is_refused(options):
    with pytest.raises(ArgumentError, match=next(iter(options))):
        so.TimeStepping(**options)
