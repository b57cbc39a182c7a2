"""Paths to solutions of the exact problem, around their turning points.

``python -m tests.contact.cone.test_homotopy`` prints those of docs/cone.md.
"""

import time

import numpy as np
import pytest
import scipy.sparse as sp

from spatialops.contact import ConeProblem, solve
from spatialops.contact.cone.homotopy import Homotopy, _factor, _swaps
from spatialops.contact.cone.projection import ALART_CURNIER
from spatialops.contact.cone.proximal import Proximal
from spatialops.contact.cone.scaled_problem import ScaledProblem
from tests.support.heaps import (
    box_on_plane,
    box_stack,
    brick_wall,
    check_solved,
    natural_residual,
    pile,
)
from tests.support.structures import arch, rubble


def unequal_pile(size, mu, speed=0.0):
    """Spheres with masses over four decades."""
    return pile(np.random.default_rng(size), size, mu=mu, speed=speed, spread=4.0, extra=4.0)


PROBLEMS = {
    "box": lambda: box_on_plane(8, velocity=(0.3, 0.1, -0.1)),
    "stack": lambda: box_stack(3, ratio=10.0),
    "wall": lambda: brick_wall(2, 2, mu=0.2, speed=1.0),
    "arch": lambda: arch(5),
    "hulls": lambda: rubble(6, mu=1.5, decades=4.0),
    "spheres": lambda: unequal_pile(20, 1.5, 1.0),
    "no friction": lambda: box_stack(3, mu=0.0),
}


HEAPS = {
    "25 hulls": lambda: rubble(25, mu=1.5, decades=4.0),
    "50 hulls": lambda: rubble(50, mu=1.5, decades=4.0),
    "50 hulls, moving": lambda: rubble(50, mu=1.5, speed=1.0, decades=4.0),
    "120 spheres, mu 0.7": lambda: unequal_pile(120, 0.7),
    "120 spheres": lambda: unequal_pile(120, 1.5),
    "120 spheres, moving": lambda: unequal_pile(120, 1.5, 1.0),
}


def polished(problem):
    """Residual after proximal points from the end of a path, and the factorizations of the path."""
    system = ScaledProblem.of(problem)
    r, taken = Homotopy().follow(system)
    with np.errstate(all="ignore"):
        Proximal(ALART_CURNIER, inner=50).improve(system, r)
    return natural_residual(problem, system.outward(r)), taken


@pytest.mark.compiled
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_end_of_the_path_is_near_a_solution(name):
    problem = PROBLEMS[name]()
    system = ScaledProblem.of(problem)
    end, taken = Homotopy().follow(system)
    assert natural_residual(problem, system.outward(end)) < 1e-4
    assert taken < 1000
    again, _ = Homotopy().follow(system)
    assert np.array_equal(end, again)


# Where its path ends depends on the rounding of the processor's BLAS: on some it is polished to
# 1e-11, on others it stops at 1.3e-5, with the same code.
BY_PROCESSOR = pytest.mark.xfail(strict=False, reason="stops at 1.3e-5 on some processors")


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=BY_PROCESSOR if name == "50 hulls" else ()) for name in HEAPS],
)
def test_heaps_that_no_other_method_solves(name):
    residual, _ = polished(HEAPS[name]())
    assert residual <= 1e-8


@pytest.mark.slow
@pytest.mark.compiled
def test_the_ladder_solves_steep_unequal_rubble():
    problem = rubble(25, mu=1.5, decades=4.0)
    solution = solve(problem)
    check_solved(problem, solution)


@pytest.mark.compiled
def test_a_problem_without_a_solution_ends_early():
    loaded = ConeProblem([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]], [-1.0, 0.0, 0.0], 0.5)
    hopeless = ConeProblem(np.diag([0.0, 1.0, 1.0]), [-1.0, 0.0, 0.0], 0.5)  # nothing can stop it
    assert Homotopy().follow(ScaledProblem.of(loaded))[1] < 300
    assert Homotopy().follow(ScaledProblem.of(hopeless))[1] < 300
    assert not solve(hopeless).solved


def test_the_limit_holds():
    assert Homotopy(limit=5).follow(ScaledProblem.of(box_stack(2)))[1] <= 5 + 8 * 12


@pytest.mark.parametrize("seed", range(6))
def test_sign_of_the_determinant(seed):
    rng, eye = np.random.default_rng(seed), np.broadcast_to(np.eye(3), (4, 3, 3))
    A = rng.normal(size=(12, 12)) * (rng.random((12, 12)) < 0.5)
    expected = np.linalg.slogdet(np.eye(12) + A)[0]
    for matrix in (A, sp.csr_array(A)):
        solver, sign = _factor(matrix, eye, eye)
        assert sign == expected
        assert np.allclose((np.eye(12) + A) @ solver(np.ones(12)), 1.0)


def test_swaps():
    assert _swaps(np.array([0, 1, 2])) == 0
    assert _swaps(np.array([1, 0, 2])) == 1
    assert _swaps(np.array([1, 2, 0, 4, 3])) == 3


def main():
    """Heaps, and what the path leads to."""
    for name, make in HEAPS.items():
        problem, start = make(), time.perf_counter()
        residual, taken = polished(problem)
        seconds = time.perf_counter() - start
        print(
            f"| {name} | {problem.n_contacts} | {residual:.1e} | {taken}, {seconds:.0f} s |",
            flush=True,
        )


if __name__ == "__main__":
    main()
