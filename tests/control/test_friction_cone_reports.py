"""What the friction-cone controller says of itself, held against the equations and against differences."""

from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from spatialops.compare.aghili.grasp import Grasp
from spatialops.compare.aghili.states import base_task, grips, motors_of, random_states
from spatialops.control import (
    Actuation,
    FrictionConeController,
    HeldContact,
    HeldContacts,
    JointLimits,
    JointTask,
    Motors,
    PointTask,
    Tracking,
)
from spatialops.control.friction_cone_assembly import Assembly
from spatialops.control.projection import Projection
from spatialops.control.projection_control import control_state
from spatialops.control.projection_secondary import AwayFromSingularity, Rest


@pytest.fixture(scope="module")
def robot():
    return so.models.quadruped()


def command(robot, motors, contacts, acceleration=(0.0,) * 6, **options):
    tracking = base_task(robot, robot.state, np.asarray(acceleration, dtype=float))
    controller = FrictionConeController(robot.model, [tracking], motors, contacts=contacts, **options)
    controller(0.0, robot.state)
    return controller


def test_multipliers_are_what_one_unit_more_would_save(robot):
    """Differences of the power when a motor's limit, and a foot's least force, give way by a little."""

    plain = command(robot, motors_of(robot), grips(robot, range(4), 0.6)).explain()
    strongest, pressed = np.abs(plain.tau).max(), plain.forces[0, 0]

    def power(limit=0.0, least=0.0):
        motors = motors_of(robot)
        motors.actuation.limits[:] = 0.95 * strongest + limit
        feet = grips(robot, range(4), 0.6).contacts
        first = replace(feet[0], least=pressed + 1.0 + least, name="pressed")
        return command(robot, motors, HeldContacts(robot.model, [first, *feet[1:]])).explain()

    told, h = power(), 1e-5
    assert told.status == "solved"
    motors = [name for name in told.binding if name.startswith("motor")]
    assert motors
    assert "pressed: normal force" in told.binding
    saved = (power(limit=-h).power - power(limit=h).power) / (2.0 * h)
    everything = sum(value for name, value in told.multipliers.items() if name.startswith("motor"))
    assert np.isclose(saved, everything, rtol=1e-4)
    cost = (power(least=h).power - power(least=-h).power) / (2.0 * h)
    assert np.isclose(cost, told.multipliers["pressed: normal force"], rtol=1e-4)
    for name in told.binding:
        assert 0.0 < told.margins[name] < 1e-3
    free = [name for name, margin in told.margins.items() if margin > 0.1]
    assert max(told.multipliers[name] for name in free) < 1e-6 * max(told.multipliers.values())


def test_a_cones_multiplier_is_what_more_friction_force_would_save(robot):
    """mu n + s - |t| >= 0: the multiplier of a cone, over mu, is the rate at which s saves power."""
    asked = np.array([0.0, 0.0, 0.0, 2.2, 0.0, 0.0])
    controller = command(robot, motors_of(robot), grips(robot, range(4), 0.3), asked)
    told, program = controller.explain(), controller.answer[0]
    assert any(name.endswith("cone") for name in told.binding)
    h, costs = 1e-5, []
    for sign in (1.0, -1.0):
        k = program.k.copy()
        k[::3] += sign * h / program.mu
        costs.append(controller.solver.solve(replace(program, k=k)))
    saved = (program.cost(costs[1].x) - program.cost(costs[0].x)) / (2.0 * h)
    assert np.isclose(
        saved, sum(told.multipliers[name] / 0.3 for name in told.multipliers if "cone" in name), rtol=1e-4
    )


def test_the_trade_off_is_equations_31_to_33(robot):
    """For a complete task: W' = W + rho B^T P Mbar^-2 P B, b = 2 B^T P Mbar^-2 tau_c, and d = Mbar^-1 phi."""
    rng, rho = np.random.default_rng(0), 7.0
    tracking = base_task(robot, robot.state, rng.normal(size=6))
    motors = motors_of(robot)
    at = control_state(robot.model, robot.state, grips(robot, range(4), 0.6), motors, [tracking], 0.0)
    assembly = Assembly(at, None, None)
    program, p = assembly.trade_off(rho, 0.0), assembly.p
    P, Mbar = at.dynamics.projection.P, at.dynamics.constraint_inertia
    PB, tau_c = P[:, motors.actuation.rows], at.control_force
    back = np.linalg.inv(Mbar)
    assert np.allclose(program.H, 2.0 * (np.diag(motors.weights) + rho * PB.T @ back @ back @ PB), atol=1e-9)
    assert np.allclose(program.g, -rho * 2.0 * PB.T @ back @ back @ tau_c, atol=1e-9)
    u = rng.normal(size=p)
    d = back @ (tau_c - PB @ u)
    zeta = at.goal - at.task.drift - at.task.J @ at.accelerations(u)
    assert np.allclose(np.linalg.pinv(at.task.J @ P) @ zeta, d, atol=1e-8)


def test_condition_13_as_printed_would_refuse_a_standing_robot(robot):
    """R(Lambda^T) is not in R(B), the base has no motor; it is in R(P B), which is what is needed."""
    at = command(robot, motors_of(robot), grips(robot, range(4), 0.6)).at
    P, rows = at.dynamics.projection.P, at.motors.actuation.rows
    Lambda, B = at.task.J @ P, np.eye(robot.model.nv)[:, rows]

    def within(inner, outer):
        return np.linalg.matrix_rank(np.hstack([outer, inner]), tol=1e-8) == np.linalg.matrix_rank(outer, tol=1e-8)

    assert not within(Lambda.T, B)
    assert within(Lambda.T, P @ B)
    assert at.consistency().reasons == ()


def test_too_little_drive_is_explained(robot):
    """Two feet down, two that must stay up: no motor turns the base about the line of the first two."""
    up = [PointTask(so.Node(robot.feet[foot])) for foot in (1, 2)]
    tasks = [Tracking(task, task.motion(robot.model, robot.state).x) for task in up]
    tasks.append(base_task(robot, robot.state, np.ones(6)))
    controller = FrictionConeController(robot.model, tasks, motors_of(robot), contacts=grips(robot, (0, 3), 0.6))
    controller(0.0, robot.state)
    told = controller.explain()
    assert told.status == "nearest"
    assert told.consistency[:5] == (12, 12, 12, 11, 11)
    assert any("[A] 15" in reason for reason in told.consistency.reasons)


@pytest.mark.compiled
def test_any_set_of_feet_is_solved():
    """Random states, random sets of none to four feet: no solve fails, no command leaves its cones or limits."""
    rng = np.random.default_rng(9)
    for robot, state, _, tracking in random_states(60, seed=9):
        feet = np.flatnonzero(rng.random(4) < 0.6)
        motors, grip = motors_of(robot), grips(robot, feet, rng.uniform(0.3, 0.9), least=0.5)
        v = Projection(grip.jacobian(state.q)).P @ state.v
        controller = FrictionConeController(
            robot.model, [tracking], motors, contacts=grip, posture=Rest(q=robot.state.q)
        )
        tau = controller(0.0, so.State(state.q, v))
        assert "failed" not in controller.attempts
        assert controller.status in ("solved", "nearest")
        program, x = controller.answer
        assert program.margins(x).min() > 0.0
        forces = controller.at.dynamics.forces(tau)
        if len(feet):  # contacts hold under the command: their forces are what was promised
            assert np.allclose(forces, program.forces(x).ravel(), atol=1e-7)


def test_limits_and_singularities_are_avoided_beside_the_task():
    """The palm goes where it should while a joint is drawn away from its limit, and the arm from a singularity."""
    arm = so.models.dual_arm()
    model, q, rng = arm.model, arm.state.q.copy(), np.random.default_rng(3)
    at = model.v_slice("left_arm4").start
    q[model.q_slice("left_arm4")] = model.upper[at] - 0.05
    task, motors = PointTask(so.Node("left_palm")), Motors(Actuation(model))
    asked = rng.normal(size=3)
    state = so.State(q, np.zeros(model.nv))
    x = task.motion(model, state).x
    tracking = Tracking(task, lambda time: (x, np.zeros(3), asked))
    away = AwayFromSingularity(task=task, enough=10.0, gain=2.0)
    for posture in (JointLimits(margin=0.1, stiffness=100.0), away):
        controller = FrictionConeController(
            model, [tracking], motors, contacts=HeldContacts(model, []), posture=posture
        )
        controller(0.0, state)
        told = controller.explain()
        assert told.status == "solved"
        assert np.allclose(told.disturbance, 0.0, atol=1e-9)
        # The nearest to what is wanted, in the metric of the mass matrix, among all that do the task.
        wanted, motion = posture(model, state), task.motion(model, state)
        assert np.abs(wanted).max() > 0.1
        back = np.linalg.solve(so.mass_matrix(model, q), motion.J.T)
        best = wanted + back @ np.linalg.solve(motion.J @ back, asked - motion.drift - motion.J @ wanted)
        assert np.allclose(told.predicted, best, atol=1e-7)
        assert (told.predicted - back @ np.linalg.solve(motion.J @ back, asked)) @ wanted > 0.0


def test_soft_palms_on_a_moving_box_have_exact_drift():
    """Differences of rows along a motion on which palms roll and the box turns; both keep touching."""
    grasp, rng, h = Grasp(friction=0.6), np.random.default_rng(1), 1e-5
    model, q = grasp.model, grasp.state.q
    A = grasp.grips(0.0, grasp.state).jacobian(q)
    assert Projection(A).rank == 8
    v = Projection(A).P @ rng.normal(size=model.nv)
    ends = []
    for sign in (1.0, -1.0):
        there = so.State(so.integrate(model, q, sign * h * v), v)
        ends.append(grasp.grips(0.0, there).jacobian(there.q) @ v)
    drift = grasp.grips(0.0, grasp.state).drift(q, v)
    assert np.abs(drift).max() > 0.01
    assert np.allclose((ends[0] - ends[1]) / (2.0 * h), drift, atol=1e-7)


def test_soft_contacts_keep_their_torsion():
    """A block turned about the vertical by its flywheel: what torsion allows, and no more."""
    builder = so.TreeBuilder()
    builder.add_body("body", joint=so.Joint("free"), inertia=so.Inertia.box((0.2, 0.2, 0.2), mass=2.0))
    builder.add_body(
        "wheel", parent="body", joint=so.Joint("revolute", axis="z", effort_limit=50.0, name="spin"),
        inertia=so.Inertia.box((0.1, 0.1, 0.02), mass=1.0),
    )  # fmt: skip
    model = builder.build()
    corners = [so.Node("body", (x, 0.0, -0.1)) for x in (0.0,)]
    inertia = so.mass_matrix(model, model.neutral())[-1, -1]
    most = 0.01 * 3.0 * 9.81  # torsion times the weight
    for share, solved in ((0.9, True), (1.1, False)):
        grip = HeldContacts(model, [HeldContact(node=corners[0], friction=0.5, torsion=0.01, name="foot")])
        path = lambda time, a=share * most / inertia: ([0.0], [0.0], [a])  # noqa: E731
        controller = FrictionConeController(
            model, [Tracking(JointTask(("spin",)), path)], Motors(Actuation(model)), contacts=grip
        )
        controller(0.0, so.State(model.neutral(), np.zeros(model.nv)))
        told = controller.explain()
        assert (told.status == "solved") == solved
        moment = controller.at.dynamics.forces(told.tau)[3]
        assert abs(moment) < most
        if not solved:
            assert any("torsion" in name for name in told.conflict)
