"""Among forces that do the same: the nearest, and those that ask least of the motors."""

import numpy as np
import pytest

from spatialops.contact import ConeCoulomb
from spatialops.control.inverse_dynamics.force_distribution import allowed, least_torque, nearest
from spatialops.control.inverse_dynamics.inverse_problem import inverse_problem
from spatialops.control.inverse_dynamics.landing_contacts import part
from tests.control.cases import MOTORS, prediction

DT = 1e-3


@pytest.fixture(scope="module")
def standing():
    _, _, ahead = prediction()
    problem = inverse_problem(ahead, MOTORS, np.zeros(12))
    return ahead, problem, ConeCoulomb().solve(problem).impulses


def test_what_is_free_moves_nothing(standing):
    _, problem, p = standing
    room = allowed(problem, p, law="coulomb")
    assert room.basis.shape == (12, 12)  # four feet that press and stick
    rng = np.random.default_rng(0)
    target = p + 0.01 * rng.normal(size=p.shape)
    other = nearest(problem, p, target, room)
    assert np.abs(problem.reach.T @ (other - p).ravel()).max() < 1e-12
    floor = np.minimum(room.rows @ p.ravel(), 0.0)  # rows may stay as far below as they were
    assert (room.rows @ other.ravel() - floor).min() > -1e-12
    assert np.linalg.norm(other - target) < np.linalg.norm(p - target)


def test_a_target_that_does_the_same_is_taken_as_it_is(standing):
    _, problem, p = standing
    room = allowed(problem, p, law="coulomb")
    null = np.linalg.svd(problem.reach.T)[2][6:]
    middle = nearest(problem, p, p * [1.0, 0.0, 0.0], room)  # well inside the cones
    target = middle + 1e-4 * null[0].reshape(4, 3)
    assert nearest(problem, p, target, room) == pytest.approx(target, abs=1e-12)


def test_least_torque_is_least(standing):
    ahead, problem, p = standing
    room = allowed(problem, p, law="coulomb")
    torques = problem.forces(ahead, p.ravel(), DT)[problem.given]
    best = least_torque(problem, p, torques, DT, room)
    least = np.linalg.norm(problem.forces(ahead, best.ravel(), DT))
    assert least <= np.linalg.norm(torques)
    null = np.linalg.svd(problem.reach.T)[2][6:]
    for step in 1e-3 * null:
        for sign in (1.0, -1.0):
            other = best.ravel() + sign * step
            inside = (room.rows @ other).min() >= 0.0
            assert not inside or np.linalg.norm(problem.forces(ahead, other, DT)) >= least - 1e-9


def test_laws_bind_contacts_differently(standing):
    _, problem, p = standing
    sliding = p.copy()
    sliding[0] = (1.0, 50.0, 0.0)  # throws the robot: its feet slip and part
    bases = {
        law: allowed(problem, sliding, law=law).basis.shape[1]
        for law in ("coulomb", "no-slip", "dissipation")
    }
    assert bases["no-slip"] <= bases["coulomb"] < bases["dissipation"]
    assert bases["dissipation"] == 4  # a ray of each foot, whether it parts or not


def test_nothing_is_free_without_contacts(standing):
    ahead, *_ = standing
    problem = inverse_problem(part(ahead, np.zeros(4, dtype=bool)), MOTORS, np.zeros(12))
    none = np.zeros((0, 3))
    room = allowed(problem, none, law="coulomb")
    assert room.basis.shape == (0, 0)
