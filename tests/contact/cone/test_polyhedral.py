"""The friction polyhedra of the operational-space LCP tend to the cone."""

import numpy as np
import pytest

from spatialops.contact import solve
from spatialops.contact.friction import directions
from tests.support.heaps import box_on_plane, check_solved
from tests.support.scenes import operational_space


def polyhedral_velocities(problem, n_f):
    """Velocities of the LCP with n_f directions of friction."""
    m = problem.n_contacts
    lcp = operational_space(problem.W, problem.b.reshape(m, 3), problem.mu, np.zeros(m), n_f)
    solution = solve(lcp)
    assert solution.solved
    rows = solution.z[: m * (n_f + 1)].reshape(m, n_f + 1) / problem.W.diagonal().max()
    return problem.velocities(np.column_stack([rows[:, 0], rows[:, 1:] @ directions(n_f)]).ravel())


@pytest.mark.parametrize(
    "motion",
    [
        {"velocity": (0.7, 0.23, -0.0981)},
        {"velocity": (0.2, -0.1, -1.0)},
        {"spin": (0.0, 0.0, 2.0)},
        {"velocity": (0.3, -0.1, -0.5), "spin": (0.2, -0.4, 0.5)},
    ],
)
def test_polyhedra_tend_to_the_cone(motion):
    # Three contacts, so that the normal impulses are determined: with four the slip depends on how
    # they share the load.
    problem = box_on_plane(3, mu=0.4, **motion)
    exact = solve(problem)
    check_solved(problem, exact)
    error = {
        n_f: np.abs(polyhedral_velocities(problem, n_f) - exact.u).max() for n_f in (4, 16, 32)
    }
    # A direction is off by at most pi / n_f: the force by mu |r| times that, the velocities
    # likewise.
    force = 0.4 * np.abs(exact.r).max() * np.abs(problem.W).max() * 3.0
    assert error[16] <= force * np.pi / 16
    assert error[32] <= force * np.pi / 32
    assert error[32] <= 0.5 * error[4] + 1e-12


def test_the_two_agree_without_friction_and_where_nothing_slides():
    for problem in (box_on_plane(4, mu=0.0, velocity=(0.7, 0.2, -1.0)), box_on_plane(4, mu=0.8)):
        exact = solve(problem)
        assert np.abs(polyhedral_velocities(problem, 4) - exact.u).max() <= 1e-9
