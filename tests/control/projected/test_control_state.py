"""Constrained dynamics and tasks at a state: regulation, and which conditions are needed."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import (
    HeldContact,
    HeldContacts,
    PoseTask,
    Tracking,
)
from spatialops.control.projected.control_state import control_state, minimum_norm, regulation_force
from spatialops.control.task_space.gathered_tasks import GatheredTasks
from spatialops.experiments.aghili.states import grips, motors_of
from tests.control.cases import command


@pytest.fixture(scope="module")
def robot():
    return so.models.quadruped()


def test_regulation_comes_to_rest_at_its_goal(robot):
    """[A] 22: no inertia in the law; the energy of the proof, V, falls along the motion."""
    model, motors = robot.model, motors_of(robot)
    grip = HeldContacts(
        model, [HeldContact(node=so.Node(foot), friction=0.8) for foot in robot.feet]
    )
    task = PoseTask(so.Node("base"))
    goal = task.motion(model, robot.state).x + np.array([0.0, 0.05, 0.1, 0.01, 0.01, 0.01])
    tasks = GatheredTasks(model, [Tracking(task, goal)])
    K = np.diag([5.0] * 3 + [800.0] * 3)
    D = 0.4 * np.eye(model.nv)
    q = robot.state.q.copy()
    v = np.zeros(model.nv)
    energies = []
    dt = 1e-3
    for _ in range(150):
        at = control_state(model, so.State(q, v), grip, motors, tasks, 0.0)
        PB = at.dynamics.projection.P[:, motors.actuation.rows]
        force = regulation_force(at, K, D)
        u, _ = minimum_norm(np.ascontiguousarray(PB), force)
        assert np.allclose(PB @ u, force, atol=1e-9)
        energies.append(0.5 * v @ at.dynamics.M @ v + 0.5 * at.task.error @ K @ at.task.error)
        tau = np.zeros(model.nv)
        tau[motors.actuation.rows] = u
        v = at.dynamics.projection.P @ (v + dt * at.dynamics.accelerations(tau))
        q = so.integrate(model, q, dt * v)
    assert (np.diff(energies) < 1e-6 * energies[0]).all()
    assert energies[-1] < 0.5 * energies[0]


def test_condition_13_as_printed_would_refuse_a_standing_robot(robot):
    """R(Lambda^T) is not in R(B), the base has no motor; but in R(P B), which is what counts."""
    at = command(robot, motors_of(robot), grips(robot, range(4), 0.6)).at
    P, rows = at.dynamics.projection.P, at.motors.actuation.rows
    Lambda, B = at.task.J @ P, np.eye(robot.model.nv)[:, rows]

    def within(inner, outer):
        return np.linalg.matrix_rank(np.hstack([outer, inner]), tol=1e-8) == np.linalg.matrix_rank(
            outer, tol=1e-8
        )

    assert not within(Lambda.T, B)
    assert within(Lambda.T, P @ B)
    assert at.consistency().reasons == ()


def test_a_standing_robot_in_numbers(robot):
    at = command(robot, motors_of(robot), grips(robot, range(4), 0.6)).at
    assert at.half.shape == (6, 18)
    assert np.allclose(at.half @ at.dynamics.M @ at.half.T, np.eye(6), atol=1e-9)
    u = np.random.default_rng(4).normal(size=12)
    tau = np.zeros(18)
    tau[6:] = u
    assert np.allclose(at.accelerations(u), at.dynamics.accelerations(tau), atol=1e-8)
    F, f = at.force_map
    assert np.allclose(F @ u + f, at.dynamics.forces(tau), atol=1e-8)
    T, t = at.task_equation
    met = at.task.J @ at.accelerations(u) + at.task.drift - at.task.wanted
    assert np.allclose(T @ u - t, met, atol=1e-8)


def test_least_norm_is_least():
    E, e = np.array([[1.0, 2.0, 2.0]]), np.array([9.0])
    assert np.allclose(minimum_norm(E, e)[0], [1.0, 2.0, 2.0])
    twice = np.vstack([E, E]), np.array([9.0, 18.0])  # contradicts itself: the mean is met
    x, met = minimum_norm(*twice)
    assert np.allclose(E @ x, 13.5)
    assert not met
