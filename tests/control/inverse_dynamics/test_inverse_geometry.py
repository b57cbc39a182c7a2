"""What inverse problems of the same posture and contacts share."""

import numpy as np
import pytest

from spatialops.control.inverse_dynamics.inverse_geometry import Geometries, InverseGeometry
from spatialops.control.inverse_dynamics.inverse_problem import inverse_problem
from tests.control.cases import MOTORS, prediction


def test_equal_rows_and_mass_are_one_geometry_and_the_mass_alone_shares_its_factors():
    problem = prediction()[2].problem
    M = prediction()[2].mass
    kept = Geometries()
    first = kept.of(M, problem.jacobian, MOTORS)
    assert kept.of(M.copy(), problem.jacobian.copy(), MOTORS) is first
    assert first.coupling.shape == (6, 12)
    turned = kept.of(M, -problem.jacobian, MOTORS)
    assert turned is not first
    assert turned.factor is first.factor
    assert turned.reach == pytest.approx(-first.reach)
    heavier = kept.of(2.0 * M, problem.jacobian, MOTORS)
    assert heavier.factor == pytest.approx(first.factor / np.sqrt(2.0))
    assert kept.of(M, problem.jacobian, np.arange(6, 18)[::-1]).given is not MOTORS


def test_a_problem_is_the_same_with_what_was_kept():
    ahead = prediction()[2]
    wanted = 0.1 * np.random.default_rng(0).normal(size=12)
    kept = Geometries()
    for scale in (1.0, 2.0):
        alone = inverse_problem(ahead, MOTORS, scale * wanted)
        shared = inverse_problem(ahead, MOTORS, scale * wanted, kept=kept)
        assert np.array_equal(alone.velocity, shared.velocity)
        assert np.array_equal(alone.reach, shared.reach)
    assert shared.geometry is inverse_problem(ahead, MOTORS, wanted, kept=kept).geometry


def test_tied_contacts_answer_as_least_squares_do():
    ahead = prediction()[2]
    geometry = InverseGeometry(ahead.mass, ahead.problem.jacobian, MOTORS)
    rows = np.repeat([True, False, True, True], 3)
    tied = geometry.tied(rows)
    assert geometry.tied(rows.copy()) is tied
    Q = tied.left[:, tied.rank :]
    u = np.random.default_rng(1).normal(size=9)
    expected = np.linalg.lstsq(Q.T @ tied.J, Q.T @ u, rcond=1e-9)[0]
    assert tied.answer @ (Q.T @ u) == pytest.approx(expected, abs=1e-12)
    assert (tied.left[:, : tied.rank] * tied.values[: tied.rank]) @ tied.right[
        : tied.rank
    ] == pytest.approx(geometry.reach[rows], abs=1e-12)
