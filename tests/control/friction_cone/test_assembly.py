"""The program of a command is that of the paper."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control.friction_cone.assembly import Assembly
from spatialops.control.projected.control_state import control_state
from spatialops.control.task_space.gathered_tasks import GatheredTasks
from spatialops.experiments.aghili.states import base_task, grips, motors_of


@pytest.fixture(scope="module")
def robot():
    return so.models.quadruped()


def test_the_trade_off_is_equations_31_to_33(robot):
    """For a complete task, with d = Mbar^-1 phi.

    W' = W + rho B^T P Mbar^-2 P B, b = 2 B^T P Mbar^-2 tau_c.
    """
    rng, rho = np.random.default_rng(0), 7.0
    tracking = base_task(robot, robot.state, rng.normal(size=6))
    motors = motors_of(robot)
    tasks = GatheredTasks(robot.model, [tracking])
    at = control_state(robot.model, robot.state, grips(robot, range(4), 0.6), motors, tasks, 0.0)
    assembly = Assembly(at, None, None)
    program, p = assembly.trade_off(rho, 0.0), assembly.p
    P, Mbar = at.dynamics.projection.P, at.dynamics.constraint_inertia
    PB, tau_c = P[:, motors.actuation.rows], at.control_force
    back = np.linalg.inv(Mbar)
    assert np.allclose(
        program.H, 2.0 * (np.diag(motors.weights) + rho * PB.T @ back @ back @ PB), atol=1e-9
    )
    assert np.allclose(program.g, -rho * 2.0 * PB.T @ back @ back @ tau_c, atol=1e-9)
    u = rng.normal(size=p)
    d = back @ (tau_c - PB @ u)
    zeta = at.task.wanted - at.task.drift - at.task.J @ at.accelerations(u)
    assert np.allclose(np.linalg.pinv(at.task.J @ P) @ zeta, d, atol=1e-8)


def state_of(robot, feet=range(4), **options):
    tasks = GatheredTasks(robot.model, [base_task(robot, robot.state, np.zeros(6))])
    grip = grips(robot, feet, 0.6, **options)
    return control_state(robot.model, robot.state, grip, motors_of(robot), tasks, 0.0)


def test_a_strict_program_has_the_task_among_its_equalities(robot):
    at = state_of(robot)
    program = Assembly(at, None, None).strict()
    E, e = at.task_equation
    assert np.array_equal(program.E, E)
    assert np.array_equal(program.e, e)
    u = np.linalg.lstsq(E, e, rcond=None)[0]
    assert np.allclose(at.task.J @ at.accelerations(u) + at.task.drift, at.task.wanted, atol=1e-9)


def test_regulated_forces_are_rows_and_free_ones_are_not(robot):
    goals = np.full((4, 3), np.nan)
    goals[2, 0] = 11.0
    at = state_of(robot)
    plain, regulated = (Assembly(at, None, given).strict() for given in (None, goals))
    assert len(regulated.e) == len(plain.e) + 1
    assert np.array_equal(regulated.E[-1], plain.K[6])
    assert regulated.e[-1] == pytest.approx(11.0 - plain.k[6])


def test_names_match_the_inequalities(robot):
    assembly = Assembly(state_of(robot, least=1.0), None, None)
    program = assembly.strict()
    assert len(assembly.names) == len(program.d) + len(program.mu) == len(program.scales)
    u = np.random.default_rng(1).normal(size=assembly.n)
    margins = dict(zip(assembly.names, program.margins(u), strict=True))
    forces = program.forces(u)
    contact = assembly.at.held.contacts[1].name
    assert margins[f"{contact}: normal force"] == pytest.approx(forces[1, 0] - 1.0)
