"""Cone problems: checked at the door, stored whole or not at all, verified by two residuals."""

import numpy as np
import pytest
import scipy.sparse as sp

from spatialops.contact import ConeProblem, ConeSolution, Status, solve
from spatialops.errors import ArgumentError, AssetError
from tests.support.heaps import box_on_plane, natural_residual, random_cone_problem, rescaled


@pytest.mark.parametrize(
    ("arguments", "options", "named"),
    [
        ((np.eye(3), [1.0, 2.0], 0.5), {}, "b: expected 3 rows"),
        ((np.eye(4), [1.0, 2.0, 3.0], 0.5), {}, "W: expected shape"),
        ((np.ones((3, 2)), [1.0, 2.0, 3.0], 0.5), {}, "W: expected shape"),
        ((sp.eye_array(4), [1.0, 2.0, 3.0], 0.5), {}, "W: expected real numbers of shape"),
        ((1j * np.eye(3), [1.0, 2.0, 3.0], 0.5), {}, "W: expected numbers"),
        (("matrix", [1.0, 2.0, 3.0], 0.5), {}, "W: expected numbers"),
        ((np.full((3, 3), np.nan), [1.0, 2.0, 3.0], 0.5), {}, "W: holds NaN"),
        ((sp.csr_array(np.diag([1.0, np.inf, 1.0])), [1.0, 2.0, 3.0], 0.5), {}, "W: holds NaN"),
        ((np.eye(3), [1.0, np.nan, 3.0], 0.5), {}, "b: holds NaN"),
        ((np.eye(3), np.ones((3, 1)), 0.5), {}, "b: expected shape"),
        ((np.eye(3), 1.0, 0.5), {}, "b: expected shape"),
        ((np.eye(3), [1.0, 2.0, 3.0], -0.1), {}, "mu: expected finite numbers >= 0"),
        ((np.eye(3), [1.0, 2.0, 3.0], np.inf), {}, "mu: expected finite"),
        ((np.eye(3), [1.0, 2.0, 3.0], [0.5, 0.5]), {}, "mu: expected one number or 1"),
        ((np.eye(3), [1.0, 2.0, 3.0], "rough"), {}, "mu: expected numbers"),
        ((np.eye(3), [1.0, 2.0, 3.0], 0.5), {"dim": 4}, "dim: expected 2 or 3"),
        ((np.eye(3), [1.0, 2.0, 3.0], 0.5), {"dim": 2.5}, "dim: expected"),
        ((np.eye(3), [1.0, 2.0, 3.0], 0.5), {"dim": True}, "dim: expected"),
        ((np.eye(3), [1.0, 2.0, 3.0], 0.5), {"dim": "3"}, "dim: expected"),
        ((np.eye(5), np.ones(5), 0.5), {"dim": 3, "rolling": 0.1}, "dim: expected 5"),
        ((np.eye(5), np.ones(5), 0.5), {"rolling": -0.1}, "rolling: expected finite"),
        ((np.eye(4), np.ones(4), 0.5), {"torsion": [0.1, 0.1]}, "torsion: expected one number"),
        ((np.eye(4), np.ones(4), 0.5), {"torsion": 0.0, "elliptic": True}, "elliptic: "),
        ((np.eye(3), np.ones(3), 0.5), {"elliptic": 2}, "elliptic: expected True or False"),
    ],
)
def test_bad_problems_are_refused(arguments, options, named):
    with pytest.raises(ArgumentError, match=named):
        ConeProblem(*arguments, **options)


def test_forms_of_the_same_problem():
    W, b = np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), np.arange(6.0) - 2.0
    first = ConeProblem(W, b, 0.5)
    assert (first.n_contacts, first.dim, first.size) == (2, 3, 6)
    assert first.mu.tolist() == [0.5, 0.5]
    for other in (
        ConeProblem(W, b.reshape(2, 3), [0.5, 0.5]),
        ConeProblem(sp.coo_matrix(W), b.tolist(), 0.5, dim=3),
    ):
        assert np.array_equal(other.b, b)
        assert np.array_equal(other.velocities(np.ones(6)), first.velocities(np.ones(6)))
        assert np.array_equal(solve(other).r, solve(first).r)
    with pytest.raises(ArgumentError, match="r: expected shape"):
        first.residual([1.0])


def test_rows_follow_from_the_coefficients():
    for options, dim, starts in (
        ({}, 3, [1, 3]),
        ({"dim": 2}, 2, [1, 2]),
        ({"torsion": 0.1}, 4, [1, 3, 4]),
        ({"rolling": 0.1}, 5, [1, 3, 5]),
        ({"torsion": 0.2, "rolling": 0.1}, 6, [1, 3, 4, 6]),
    ):
        problem = ConeProblem(np.eye(2 * dim), np.ones(2 * dim), 0.5, **options)
        assert (problem.dim, problem.starts.tolist()) == (dim, starts)
        assert problem.coefficients.shape == (2, len(starts) - 1)


@pytest.mark.parametrize(
    "problem",
    [
        box_on_plane(3),
        ConeProblem(sp.eye_array(4), [-1.0, 1.0, -2.0, 0.0], [0.1, 0.2], dim=2),
        ConeProblem(np.eye(6), -np.ones(6), 0.5, torsion=0.1, rolling=0.2, elliptic=True),
        ConeProblem(np.zeros((0, 0)), [], 0.5),
    ],
)
def test_stored_and_read(problem, tmp_path):
    again = ConeProblem.load(problem.save(tmp_path / "problem.npz"))
    assert sp.issparse(again.W) == (sp.issparse(problem.W) or problem.size == 0)
    assert np.array_equal(sp.csr_array(again.W).toarray(), sp.csr_array(problem.W).toarray())
    for name in ("b", "mu", "dim", "torsion", "rolling", "elliptic"):
        assert np.array_equal(getattr(again, name), getattr(problem, name))
    assert solve(again).r.tolist() == solve(problem).r.tolist()


def test_files_that_are_something_else(tmp_path):
    with pytest.raises(AssetError, match="ConeProblem"):
        ConeProblem.load(tmp_path / "missing.npz")
    path = box_on_plane(3).save(tmp_path / "problem.npz")
    with np.load(path) as data:
        arrays = dict(data)
    for name, value in (
        ("mu", np.array([-1.0, 0.5, 0.5])),
        ("b", np.zeros(4)),
        ("W_indices", arrays["W_indices"] + 100),
        ("dim", np.array([1, 2])),
        ("elliptic", np.array("yes")),
    ):
        np.savez(path, **{**arrays, name: value})
        with pytest.raises(AssetError, match=r"problem\.npz: not a stored ConeProblem"):
            ConeProblem.load(path)


def test_residuals_by_hand():
    # One contact, W = 2, falling at 1 m/s: r_n = 0.5 solves. At r = 0 the natural map is (0 - 0.5)
    # / 0.5 = u_n.
    problem = ConeProblem(2.0 * np.eye(3), [-1.0, 0.0, 0.0], 0.5)
    assert problem.residuals([0.5, 0.0, 0.0]).worst <= 1e-15
    assert problem.residuals(np.zeros(3)) == pytest.approx((1.0, 1.0))
    # Slides at 1 m/s with no friction force: the cone lacks mu |u_t| in the normal and the force in
    # the tangent.
    sliding = ConeProblem(np.eye(3), [-1.0, 1.0, 0.0], 0.5)
    x = np.array([1.0 - 0.5, -1.0])
    edge = (x[0] + 0.5) / 1.25
    expected = max(abs(1.0 - edge), 0.5 * edge)
    assert sliding.residual([1.0, 0.0, 0.0]) == pytest.approx(expected)
    assert np.isnan(problem.residual([np.nan, 0.0, 0.0]))
    assert np.isnan(problem.residual([np.inf, 0.0, 0.0]))


def test_the_relative_residual_is_the_natural_map(rng):
    for _ in range(20):
        problem, r = random_cone_problem(rng, 4), rng.normal(size=12)
        assert problem.residual(r) == pytest.approx(natural_residual(problem, r), rel=1e-12)


def test_the_scale_free_residual_is_free_of_units(rng):
    problem, r = random_cone_problem(rng, 5), rng.normal(size=15)
    base = problem.residuals(r).scale_free
    scales = 10.0 ** rng.uniform(-3.0, 3.0, 5)
    assert rescaled(problem, scales).residuals(r / scales.repeat(3)).scale_free == pytest.approx(
        base, rel=1e-9
    )
    same_units = ConeProblem(1e3 * problem.W, 1e-5 * problem.b, problem.mu)
    assert same_units.residuals(1e-8 * r).relative == pytest.approx(
        problem.residuals(r).relative, rel=1e-9
    )


def test_solutions_look_like_those_of_lcps():
    problem = box_on_plane(4)
    solution = solve(problem)
    assert isinstance(solution, ConeSolution)
    assert solution.status == Status.SOLVED
    assert solution.z is solution.r
    assert solution.w is solution.u
    assert np.allclose(solution.w, problem.velocities(solution.z), rtol=0.0, atol=1e-15)
    assert solution.residual == pytest.approx(
        problem.residuals(solution.r).relative, rel=0.0, abs=1e-13
    )
    assert solution.scale_free <= 1e-9
    assert solution.solver


def test_the_door():
    problem = box_on_plane(4)
    for solver in ("simplex", 3, None, ConeSolution):
        with pytest.raises(ArgumentError, match="solver: expected 'auto'"):
            solve(problem, solver)
    for warm_start in (np.zeros(5), np.full(12, np.nan), "warm", np.zeros((3, 4))):
        with pytest.raises(ArgumentError, match="warm_start"):
            solve(problem, warm_start=warm_start)
    with pytest.raises(ArgumentError, match="problem: expected"):
        solve(np.eye(3))


def test_no_success_for_a_solver_that_lies():
    class Liar:
        def solve(self, problem, warm_start=None):
            return ConeSolution(
                np.full(problem.size, self.value), np.zeros(12), Status.SOLVED, 1, 0.0, "liar", 0.0
            )

    problem, liar = box_on_plane(4), Liar()
    for liar.value in (1.0, 0.0, np.nan, np.inf):
        solution = solve(problem, liar)
        assert not solution.solved
        assert not solution.residual <= 1e-8
        assert solution.status.message


def test_nothing_to_do():
    assert solve(ConeProblem(np.zeros((0, 0)), [], 0.5)).solved
    for b in ([0.0, 0.0, 0.0], [0.0, 3.0, -1.0], [1.0, 5.0, 0.0]):  # no approach: no impulse
        solution = solve(ConeProblem(np.eye(3), b, 2.0))
        assert solution.solved
        assert solution.r.tolist() == [0.0, 0.0, 0.0]
        assert solution.residual <= 1e-15
