"""The contact problem of a mechanism whose motors move as demanded."""

import numpy as np
import pytest

from spatialops.contact import ConeCoulomb, Coulomb, MaxDissipation
from spatialops.control.inverse_dynamics.inverse_problem import inverse_problem
from tests.control.cases import MOTORS, prediction


def test_compliance_is_the_papers_block_of_the_inverse():
    _, _, ahead = prediction()
    wanted = np.random.default_rng(0).normal(size=12) * 1e-3
    problem = inverse_problem(ahead, MOTORS, wanted)
    P = np.eye(18)[MOTORS]
    X = np.linalg.inv(np.block([[ahead.mass, P.T], [P, np.zeros((12, 12))]]))[:18, :18]
    G = problem.jacobian
    assert problem.compliance == pytest.approx(G @ X @ G.T, abs=1e-12 * np.abs(G @ X @ G.T).max())
    assert problem.velocity[MOTORS] == pytest.approx(wanted)


@pytest.mark.parametrize("law", [ConeCoulomb(), Coulomb(), MaxDissipation()])
def test_motor_forces_satisfy_the_equation_of_motion(law):
    _, sim, ahead = prediction()
    problem = inverse_problem(ahead, MOTORS, 1e-3 * np.random.default_rng(1).normal(size=12))
    answer = law.solve(problem)
    assert answer.solved
    p = answer.impulses.ravel()
    tau = problem.forces(ahead, p, sim.dt)
    left = ahead.mass @ (problem.after(p) - ahead.free) - sim.dt * tau - problem.jacobian.T @ p
    assert np.abs(left).max() < 1e-12
    assert not tau[:6].any()
