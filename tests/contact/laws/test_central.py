"""One motion in every formulation, also where it is not unique; and who answers where."""

from pathlib import Path

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import ContactProblem, Coulomb, Lemke, OperationalSpace, certify
from spatialops.contact.formulations import FORMULATIONS, check_formulation
from spatialops.contact.laws.central import central_solution
from spatialops.contact.laws.formulated import solve_formulated
from tests.support.contacts import feet_problem, random_problem

FEET = [(x, y, -0.2) for x in (-0.3, 0.0, 0.3) for y in (-0.2, 0.2)]


@pytest.mark.parametrize("name", FORMULATIONS)
def test_a_body_on_six_feet_has_the_shortest_impulses_in_every_formulation(name):
    problem = feet_problem(FEET, velocity=(1e-3, 0.0, -1e-2))
    found = Coulomb(formulation=name).solve(problem)
    L = problem.response.L
    shortest = np.linalg.pinv(L @ L.T) @ -problem.velocities
    assert found.solved
    assert found.impulses.ravel() == pytest.approx(shortest, rel=1e-8, abs=1e-12)
    assert np.abs(found.velocity).max() < 1e-12


@pytest.mark.parametrize("loops", [0, 2])
def test_all_formulations_answer_with_one_motion(rng, loops):
    for _ in range(5):
        problem = random_problem(rng, 4, n=5, loops=loops)
        found = {name: Coulomb(formulation=name).solve(problem) for name in FORMULATIONS}
        reference = found["os"]
        for name, answer in found.items():
            if reference.solved and answer.solved:
                scale = np.abs(reference.velocity).max()
                assert np.abs(answer.velocity - reference.velocity).max() < 1e-6 * scale, name


@pytest.mark.parametrize("name", FORMULATIONS)
def test_it_is_the_central_solver_that_answers(name):
    problem = feet_problem(FEET, velocity=(1e-3, 0.0, -1e-2))
    assert solve_formulated(problem, check_formulation(name)).solver == "central"


def test_an_explicit_solver_means_that_solver():
    problem = feet_problem(FEET, velocity=(1e-3, 0.0, -1e-2))
    assert solve_formulated(problem, check_formulation("os"), "lemke").solver == "lemke"
    vertex = Coulomb(solver=Lemke()).solve(problem).impulses
    assert (vertex[:, 0] == 0.0).any()  # some foot carries nothing


def test_a_warm_start_is_kept_where_it_solves():
    """Feet of a box between walls: the squeeze is whatever it was."""
    problem = feet_problem(FEET, velocity=(0.0, 0.0, -1e-2))
    first = Coulomb().solve(problem).impulses
    turned = first.copy()
    turned[:, 0] += 1e-4 * np.array([1.0, -1.0, -2.0, 2.0, 1.0, -1.0])  # moves nothing
    assert Coulomb().solve(problem, turned).impulses == pytest.approx(turned, abs=1e-12)


def test_stops_and_dry_friction_of_joints_take_part():
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -9.81))
    ball = so.Inertia.sphere(0.1, mass=1.0)
    builder.add_body("a", joint=so.Joint("prismatic", axis="z", lower=0.0), inertia=ball)
    builder.add_body(
        "b", parent="a", joint=so.Joint("prismatic", axis="x", dry_friction=3.0), inertia=ball
    )
    model = builder.build()
    scene = so.Scene(model, [], state=so.State(np.zeros(2), np.array([0.0, 1e-4])))
    problem = so.Simulator(scene, dt=1e-3).problem(scene.state)
    assert problem is not None
    for name in FORMULATIONS:
        solution = solve_formulated(problem, check_formulation(name))
        found = check_formulation(name).recover(problem, solution)
        assert solution.solver == "central"
        assert np.abs(found.velocity).max() < 1e-12


@pytest.mark.compiled
def test_what_is_wedged_is_found_from_the_exact_cones():
    """Go2's trunk between its hips while it lies on them: a problem that ended a run at 0.62 s.

    With polygons neither Newton's method nor the ladder has an answer, in 20 s; cones have.
    """
    problem = ContactProblem.load(Path(__file__).with_name("wedged_trunk.npz"))
    assert not central_solution(
        problem, OperationalSpace(), OperationalSpace().assemble(problem), None
    ).solved
    found = Coulomb().solve(problem)
    assert found.solved
    assert found.residual <= 1e-9
    assert certify(problem, found.impulses).residual <= 1e-8
    assert found.impulses[:, 0].max() > 1.0  # N s in a step of 1 ms: the wedge
