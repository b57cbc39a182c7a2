"""Force programs with known answers, by the barrier method."""

from dataclasses import replace

import numpy as np

from spatialops.control import Barrier
from tests.control.cases import force_program, pulled_cone


def test_closed_form():
    """u_x = 3 in a cone of mu 0.5 about z takes u_z = 6; multipliers from stationarity."""
    found = Barrier().solve(pulled_cone())
    assert found.solved
    assert np.allclose(found.x, [3.0, 0.0, 6.0], atol=1e-8)
    # H x = E^T y + K^T z: z_n = 6, z_t = -z_n / mu ... in the dual cone, on its edge: z_t = -12.
    assert np.allclose(found.cones, [[6.0, -12.0, 0.0]], atol=1e-6)
    assert np.allclose(found.equality, [15.0], atol=1e-6)


def test_the_apex_of_a_cone():
    """No force is best: the apex, where the cone has no tangent."""
    case = force_program(
        np.eye(3), g=np.array([0.0, 0.0, 1.0]), K=np.eye(3)[[2, 0, 1]], k=np.zeros(3), mu=[0.5]
    )
    found = Barrier().solve(case)
    assert found.solved
    assert np.abs(found.x).max() < 1e-6
    assert np.allclose(found.cones[0, 0], 1.0, atol=1e-5)


def test_unconstrained_and_determined():
    free = Barrier().solve(force_program(np.diag([2.0, 4.0]), g=np.array([-2.0, 4.0])))
    assert free.solved
    assert np.allclose(free.x, [1.0, -1.0])
    fixed = Barrier().solve(
        force_program(np.eye(2), E=np.eye(2), e=np.array([1.0, 2.0]), D=np.eye(2), d=np.zeros(2))
    )
    assert fixed.solved
    assert np.allclose(fixed.x, [1.0, 2.0])
    outside = Barrier().solve(
        force_program(
            np.eye(2),
            E=np.eye(2),
            e=np.array([1.0, -2.0]),
            D=np.eye(2),
            d=np.zeros(2),
            names=("a", "b"),
        )
    )
    assert outside.status == "infeasible"
    assert outside.conflict == ("b",)


def test_redundant_and_contradicting_equalities():
    E = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]])
    box = {"D": np.vstack([np.eye(3), -np.eye(3)]), "d": np.full(6, 5.0)}
    assert Barrier().solve(force_program(np.eye(3), E=E, e=np.array([2.0, 4.0]), **box)).solved
    assert (
        Barrier().solve(force_program(np.eye(3), E=E, e=np.array([2.0, 5.0]), **box)).status
        == "inconsistent"
    )


def test_a_thin_interior_is_found():
    """|x| <= 1e-5 between two limits: feasible, if only just."""
    case = force_program(
        np.eye(1), g=np.array([1.0]), D=np.array([[1.0], [-1.0]]), d=np.array([1e-5, 1e-5])
    )
    found = Barrier().solve(case)
    assert found.solved
    assert np.isclose(found.x[0], -1e-5, rtol=1e-4)


def around_the_edge(rng):
    """A program, about as likely as not with a point inside."""
    n, r = 6, 2
    m, c = 8, 2
    return force_program(
        np.eye(n),
        g=rng.normal(size=n),
        E=rng.normal(size=(r, n)),
        e=rng.normal(size=r) * rng.uniform(0.0, 2.0),
        D=rng.normal(size=(m, n)),
        d=rng.uniform(0.0, 4.0, m),
        K=rng.normal(size=(3 * c, n)),
        k=2.0 * rng.normal(size=3 * c),
        mu=rng.uniform(0.2, 1.0, c),
    )


def test_the_quick_proof_is_that_of_the_thorough_one():
    """Random programs around the edge of what can be met: both say the same, one with less work."""
    rng = np.random.default_rng(7)
    quick = thorough = refused = 0
    for _ in range(400):
        case = around_the_edge(rng)
        first, (second, _) = Barrier().solve(case), Barrier().solve_and_center(case)
        assert second.status == first.status
        if first.status == "infeasible":
            refused += 1
            thorough += first.iterations
            quick += second.iterations
            assert second.violation >= first.violation - 1e-9  # that of the best point is less
        else:
            assert np.array_equal(first.x, second.x)
    assert 40 < refused < 360
    assert quick < 0.7 * thorough


def test_a_refused_program_says_where_the_next_one_is_refused():
    """A little later, from there: the same is found, in a fraction of the steps."""
    rng = np.random.default_rng(11)
    cold = warm = refused = given_up = 0
    for _ in range(400):
        case = around_the_edge(rng)
        near, center = Barrier().solve_and_center(case)
        later = replace(case, d=case.d + 1e-3 * rng.normal(size=len(case.d)))
        first, _ = Barrier().solve_and_center(later)
        second, _ = Barrier().solve_and_center(later, near.x if center is None else center)
        if first.status == "failed":  # one of them, where roundings are others
            given_up += 1
            continue
        assert second.status == first.status
        if first.status == "infeasible":
            refused += 1
            cold += first.iterations
            warm += second.iterations
    assert 40 < refused < 360
    assert given_up <= 1
    assert warm < 0.5 * cold


def test_a_guess_that_hardly_misses_does_not_mislead():
    """|x| < 1 with y free: from just outside, and from where all is wrong, y = 0 is found."""
    case = force_program(
        np.eye(2), g=np.array([0.0, 1.0]), D=np.array([[1.0, 0.0], [-1.0, 0.0]]), d=np.ones(2)
    )
    for x in (1.0, 1.0 + 1e-15, 1.0 + 1e-9, 1.1, 1e6, np.nan):
        found = Barrier().solve(case, np.array([x, 0.3]))
        assert found.solved
        assert np.allclose(found.x, [0.0, -1.0], atol=1e-8)
