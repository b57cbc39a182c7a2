"""Coulomb friction and complementarity: the choice among forces that do the same."""

from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import Coulomb
from spatialops.control import ConeController, CoulombController
from spatialops.control.inverse_dynamics.coulomb import minimal_difference
from spatialops.control.inverse_dynamics.inverse_problem import inverse_problem
from spatialops.control.inverse_dynamics.landing_contacts import part
from spatialops.errors import ArgumentError
from tests.control.cases import MOTORS, prediction, quadruped_simulator


def two_feet():
    _, _, ahead = prediction(law="coulomb")
    return inverse_problem(part(ahead, np.array([0, 3])), MOTORS, np.zeros(12))


@pytest.mark.compiled
def test_the_nearest_of_all_basic_solutions_is_found():
    problem = two_feet()
    one = Coulomb(n_f=4).solve(problem)
    assert one.solved
    same = minimal_difference(problem, one, one.impulses, 4)
    assert same == pytest.approx(one.impulses, abs=1e-12)
    target = one.impulses + np.array([[0.0, 0.05, 0.0], [0.0, -0.05, 0.0]])
    other = minimal_difference(problem, one, target, 4)
    assert np.linalg.norm(other - target) <= np.linalg.norm(one.impulses - target)
    after = [problem.after(p.ravel()) for p in (one.impulses, other)]
    assert after[0] == pytest.approx(after[1], abs=1e-9)


def test_on_four_feet_the_difference_is_no_larger_than_of_the_solution():
    _, _, ahead = prediction(law="coulomb")
    problem = inverse_problem(ahead, MOTORS, np.zeros(12))
    one = Coulomb(n_f=4).solve(problem)
    squeezed = one.impulses + 1e-4 * np.random.default_rng(1).normal(size=(4, 3))
    other = minimal_difference(problem, one, squeezed, 4)
    assert np.linalg.norm(other - squeezed) < 0.9 * np.linalg.norm(one.impulses - squeezed)
    after = [problem.after(p.ravel()) for p in (one.impulses, other)]
    assert after[0] == pytest.approx(after[1], abs=1e-9)
    assert (0.8 * other[:, 0] >= np.abs(other[:, 1:]).sum(axis=1) - 1e-12).all()  # the polyhedron


@pytest.mark.parametrize("kind", [CoulombController, ConeController])
def test_standing_carries_the_weight(kind):
    robot, sim = quadruped_simulator("coulomb")
    control = kind(sim, lambda time, state: np.zeros(12))
    tau = control(0.0, robot.state)
    told = control.explain()
    assert told.status == "solved"
    assert told.forces[:, 0].sum() == pytest.approx(9.81 * robot.model.mass, rel=1e-6)
    assert not tau[:6].any()
    assert np.abs(tau[6:]).max() > 0.1


@pytest.mark.parametrize("choice", ["nearest", "least-torque"])
def test_dry_friction_of_joints_that_move_is_not_chosen(choice):
    robot = so.models.quadruped()
    geoms, dry = robot.scene(friction=0.8).geoms, np.full(robot.model.nv, 0.05)
    dry[:6] = 0.0
    scene = so.Scene(replace(robot.model, dry_friction=dry), geoms, state=robot.state)
    sim = so.Simulator(scene, law="cone", impact_threshold=100.0)
    crouch = np.tile([0.5, 2.0, -4.0], 4)
    control = ConeController(sim, lambda time, state: crouch, choice=choice, horizon=sim.dt)
    state = robot.state
    for _ in range(4):
        tau = control(state.time, state)
        told, again = control.explain(), control.replay()
        after, info = sim.step(state, tau)
        came = (after.v - state.v)[6:] / sim.dt
        assert told.forces.shape == again.forces.shape == (len(info.contacts), 3)
        assert came == pytest.approx(told.predicted[6:], abs=1e-5)
        state = after


def test_options_are_checked():
    _, sim = quadruped_simulator("coulomb")
    demand = lambda time, state: np.zeros(12)  # noqa: E731
    assert CoulombController(sim, demand, choice="minimal-difference", n_f=8).n_f == 8
    with pytest.raises(ArgumentError, match="choice"):
        ConeController(sim, demand, choice="minimal-difference")
    with pytest.raises(ArgumentError, match="demand: expected a function"):
        CoulombController(sim, np.zeros(12))
