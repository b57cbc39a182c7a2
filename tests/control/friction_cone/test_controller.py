"""Commands that do the task, cost least, and give way where cones or limits say so."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import (
    Actuation,
    FrictionConeController,
    HeldContact,
    HeldContacts,
    JointLimits,
    JointTask,
    Motors,
    PointTask,
    PoseTask,
    Rest,
    Tracking,
)
from spatialops.control.projected.dynamics import Projection
from spatialops.control.task_space.secondary_tasks import AwayFromSingularity
from spatialops.errors import ArgumentError
from spatialops.experiments.aghili.states import base_task, grips, motors_of, random_states
from tests.control.cases import controller_of


@pytest.fixture(scope="module")
def robot():
    return so.models.quadruped()


def moved_by_the_engine(controller, tau):
    """Accelerations with the feet pinned by the engine, and the forces of the pins."""
    at = controller.at
    return at.dynamics.accelerations(tau), at.dynamics.forces(tau)


ASKED = np.array([1.0, -2.0, 1.5, 0.5, 0.4, -0.6])


@pytest.mark.parametrize("feet", [range(4), (0, 1, 3)])
def test_the_task_is_met_and_forces_are_those_of_the_engine(robot, feet):
    controller = controller_of(robot, ASKED, feet)
    tau = controller(0.0, robot.state)
    told = controller.explain()
    assert told.status == "solved"
    assert told.residual < 1e-6
    assert not tau[:6].any()
    a, forces = moved_by_the_engine(controller, tau)
    task = PoseTask(so.Node("base")).motion(robot.model, robot.state)
    assert np.allclose(task.J @ a + task.drift, ASKED, atol=1e-9)
    assert np.allclose(told.predicted, a, atol=1e-9)
    assert np.allclose(told.forces.ravel(), forces, atol=1e-9)
    assert min(told.margins.values()) > 0.0
    assert np.allclose(told.disturbance, 0.0, atol=1e-9)
    assert told.consistency.reasons == ()


def test_no_cheaper_admissible_forces_exist(robot):
    """Against random forces that do the same, shifted along what leaves the task alone."""
    controller = controller_of(robot, ASKED)
    controller(0.0, robot.state)
    program, x = controller.answer
    best, rng = program.cost(x), np.random.default_rng(0)
    free = np.linalg.svd(program.E)[2][np.linalg.matrix_rank(program.E) :]
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(50):
            other = x + size * rng.normal(size=len(free)) @ free
            assert program.margins(other).min() < 0.0 or program.cost(other) >= best * (1.0 - 1e-10)


def test_power_is_never_above_the_least_norm(robot):
    for robot, state, grip, tracking in random_states(12, seed=4):
        motors = motors_of(robot)
        options = {"contacts": grip}
        best = FrictionConeController(robot.model, [tracking], motors, **options)
        plain = FrictionConeController(
            robot.model, [tracking], motors, minimum_norm=True, **options
        )
        best(0.0, state)
        plain(0.0, state)
        if best.status == "solved" and min(plain.explain().margins.values()) >= 0.0:
            assert best.explain().power <= plain.explain().power * (1.0 + 1e-9)


def test_torque_limits_bind_and_are_reported(robot):
    motors = motors_of(robot)
    plain = controller_of(robot)
    plain(0.0, robot.state)
    u = np.abs(plain.explain().tau[6:])
    motors.actuation.limits[:] = 0.9 * u.max()
    limited = FrictionConeController(
        robot.model,
        [base_task(robot, robot.state, np.zeros(6))],
        motors,
        contacts=grips(robot, range(4), 0.6),
    )
    limited(0.0, robot.state)
    told = limited.explain()
    assert told.status == "solved"
    assert any(name.startswith("motor") for name in told.binding)
    assert np.abs(told.tau).max() < 0.9 * u.max()
    assert told.power > plain.explain().power


def test_forces_are_regulated(robot):
    goals = np.full((4, 3), np.nan)
    goals[1, 0] = 14.0
    controller = controller_of(robot, force_goals=lambda time: goals)
    controller(0.0, robot.state)
    told = controller.explain()
    assert told.status == "solved"
    assert np.isclose(told.forces[1, 0], 14.0, atol=1e-9)
    assert np.isclose(told.forces[:, 0].sum(), robot.model.mass * 9.81, atol=1e-6)


def test_trade_off_follows_its_weight(robot):
    asked = np.array([0.0, 0.0, 0.0, 8.0, 0.0, 0.0])
    missing = []
    for weight in (1e-2, 1.0, 1e2):
        controller = controller_of(robot, asked, friction=0.4, trade_off=weight)
        controller(0.0, robot.state)
        missing.append(np.linalg.norm(controller.explain().disturbance))
    assert missing[0] > missing[1] > missing[2]


def test_redundant_contacts_share_what_cannot_be_told():
    """Four corners of a block: twelve rows of rank six. The least forces need not lie in cones."""
    builder = so.TreeBuilder()
    builder.add_body(
        "body", joint=so.Joint("free"), inertia=so.Inertia.box((0.2, 0.2, 0.1), mass=2.0)
    )
    builder.add_body(
        "arm",
        parent="body",
        joint=so.Joint("prismatic", axis="x", effort_limit=100.0),
        inertia=so.Inertia.sphere(0.05, mass=1.0),
    )
    model = builder.build()
    corners = [so.Node("body", (x, y, -0.05)) for x in (0.1, -0.1) for y in (0.1, -0.1)]
    grip = HeldContacts(model, [HeldContact(node=node, friction=0.5) for node in corners])
    tracking = Tracking(JointTask((model.joint_names[1],)), lambda time: ([0.0], [0.0], [8.0]))
    controller = FrictionConeController(model, [tracking], Motors(Actuation(model)), contacts=grip)
    controller(0.0, so.State(model.neutral(), np.zeros(model.nv)))
    told = controller.explain()
    assert told.status == "solved"
    assert controller.at.dynamics.projection.rank == 6
    assert np.isclose(told.forces[:, 0].sum(), 3.0 * 9.81)
    assert (np.hypot(told.forces[:, 1], told.forces[:, 2]) < 0.5 * told.forces[:, 0]).all()


def test_postures_of_any_kind_are_taken(robot):
    """Lists, every second entry: kernels get what they are compiled for."""
    wanted = np.linspace(-1.0, 1.0, robot.model.nv)
    told = []
    for given in (wanted, wanted.tolist(), np.repeat(wanted, 2)[::2]):
        posture = lambda model, state, given=given: given  # noqa: E731
        controller = controller_of(robot, ASKED, range(2), posture=posture)
        told.append(controller(0.0, robot.state))
    assert np.array_equal(told[1], told[0])
    assert np.array_equal(told[2], told[0])
    assert told[0].any()


@pytest.mark.compiled
def test_any_set_of_feet_is_solved():
    """Random states and sets of feet: no solve fails, no command leaves its cones or limits."""
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
    """The palm goes where it should; joints leave their limits, and the arm a singularity."""
    arm = so.models.dual_arm()
    model = arm.model
    q = arm.state.q.copy()
    rng = np.random.default_rng(3)
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
        # The nearest to what is wanted, in the metric of the mass matrix, among all that do the
        # task.
        wanted, motion = posture(model, state), task.motion(model, state)
        assert np.abs(wanted).max() > 0.1
        back = np.linalg.solve(so.mass_matrix(model, q), motion.J.T)
        best = wanted + back @ np.linalg.solve(
            motion.J @ back, asked - motion.drift - motion.J @ wanted
        )
        assert np.allclose(told.predicted, best, atol=1e-7)
        assert (told.predicted - back @ np.linalg.solve(motion.J @ back, asked)) @ wanted > 0.0


def test_bad_input_is_refused(robot):
    with pytest.raises(ArgumentError, match="tasks: expected at least one"):
        FrictionConeController(robot.model, [], motors_of(robot))
    other = Motors(Actuation(so.models.pendulum(2).model))
    with pytest.raises(ArgumentError, match="motors: are those of another model"):
        FrictionConeController(robot.model, [base_task(robot, robot.state, np.zeros(6))], other)
    with pytest.raises(ArgumentError, match="there has been no command yet"):
        controller_of(robot).explain()
