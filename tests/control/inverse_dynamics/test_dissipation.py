"""Feet that part under the QP."""

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import MaxDissipation
from spatialops.control import DissipationController
from spatialops.control.inverse_dynamics.dissipation import Released
from spatialops.control.inverse_dynamics.inverse_problem import inverse_problem
from spatialops.errors import ArgumentError
from spatialops.simulation.lookahead import Lookahead
from tests.control.cases import MOTORS, quadruped_simulator


def sliding():
    """Feet that slide fast while they are lifted slowly."""
    robot, sim = quadruped_simulator("coulomb")
    v = np.zeros(18)
    v[3], v[5] = 0.5, 0.01
    ahead = Lookahead(sim).predict(so.State(robot.state.q, v))
    return inverse_problem(ahead, MOTORS, np.zeros(12))


def test_the_program_presses_on_contacts_that_part_and_released_it_does_not():
    problem = sliding()
    for law, presses in ((MaxDissipation(), True), (Released(), False)):
        answer = law.solve(problem)
        assert answer.solved
        u = (problem.jacobian @ problem.after(answer.impulses.ravel()))[::3] + problem.gap_bias
        parts = u > 1e-6
        assert (parts & (answer.impulses[:, 0] > 1e-6)).any() == presses
    with pytest.raises(ArgumentError, match="parting"):
        DissipationController(
            quadruped_simulator()[1], lambda time, state: np.zeros(12), parting="never"
        )
