import numpy as np
import pytest

import spatialops as so
from spatialops.compare.aghili.states import base_task, grips, motors_of, random_states
from spatialops.control import (
    Actuation,
    Barrier,
    CenterOfMassTask,
    Conic,
    FrictionConeController,
    HeldContact,
    HeldContacts,
    JointLimits,
    JointTask,
    Motors,
    OperationalSpaceController,
    PointTask,
    PoseTask,
    Rest,
    Tracking,
    WholeBodyController,
)
from spatialops.control.projection_contacts import frame_of, held
from spatialops.control.projection_control import control_state, minimum_norm, regulation_force
from spatialops.control.projection_secondary import AwayFromSingularity
from spatialops.errors import ArgumentError


@pytest.fixture(scope="module")
def robot():
    return so.models.quadruped()


def controller_of(robot, acceleration=(0.0,) * 6, feet=range(4), friction=0.6, kind=FrictionConeController, **options):
    tracking = base_task(robot, robot.state, np.asarray(acceleration, dtype=float))
    return kind(robot.model, [tracking], motors_of(robot), contacts=grips(robot, feet, friction), **options)


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
        plain = FrictionConeController(robot.model, [tracking], motors, minimum_norm=True, **options)
        best(0.0, state), plain(0.0, state)
        if best.status == "solved" and min(plain.explain().margins.values()) >= 0.0:
            assert best.explain().power <= plain.explain().power * (1.0 + 1e-9)


def test_pyramids_cost_more_and_approach_the_cone(robot):
    pytest.importorskip("daqp")
    asked = np.array([0.0, 0.0, 0.0, 2.2, 0.0, 0.0])  # hard enough for the cones to bind
    exact = controller_of(robot, asked, friction=0.3)
    exact(0.0, robot.state)
    powers = []
    for sides in (4, 8, 64):
        linear = controller_of(robot, asked, friction=0.3, kind=WholeBodyController, sides=sides)
        linear(0.0, robot.state)
        told = linear.explain()
        assert told.residual < 1e-9
        powers.append(told.power)
    best = exact.explain().power
    assert powers[0] > powers[1] > powers[2] >= best * (1.0 - 1e-6)
    assert powers[2] < best * (1.0 + 2e-3)


def test_a_task_beyond_friction_gives_way_and_says_why(robot):
    asked = np.array([0.0, 0.0, 0.0, 8.0, 0.0, 0.0])  # 8 m/s^2 forward with mu = 0.4
    controller = controller_of(robot, asked, friction=0.4)
    controller(0.0, robot.state)
    told = controller.explain()
    assert told.status == "nearest"
    assert told.slack > 1.0
    assert told.conflict
    assert all("cone" in name or "normal force" in name for name in told.conflict)
    assert min(told.margins.values()) > 0.0
    assert any("could not be met exactly" in note for note in told.notes)
    # As far forward as friction lets it, and no farther: legs may swing, but the centre of mass is pushed by feet
    # alone.
    com = CenterOfMassTask().motion(robot.model, robot.state)
    x, _, z = com.J @ told.predicted + com.drift
    assert told.predicted[3] > 0.3 * 9.81
    assert 0.9 * 0.4 * (9.81 + z) < x < 0.4 * (9.81 + z)


def test_trade_off_follows_its_weight(robot):
    asked = np.array([0.0, 0.0, 0.0, 8.0, 0.0, 0.0])
    missing = []
    for weight in (1e-2, 1.0, 1e2):
        controller = controller_of(robot, asked, friction=0.4, trade_off=weight)
        controller(0.0, robot.state)
        missing.append(np.linalg.norm(controller.explain().disturbance))
    assert missing[0] > missing[1] > missing[2]


def test_torque_limits_bind_and_are_reported(robot):
    motors = motors_of(robot)
    plain = controller_of(robot)
    plain(0.0, robot.state)
    u = np.abs(plain.explain().tau[6:])
    motors.actuation.limits[:] = 0.9 * u.max()
    limited = FrictionConeController(
        robot.model, [base_task(robot, robot.state, np.zeros(6))], motors, contacts=grips(robot, range(4), 0.6)
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


def test_without_contact_nothing_holds_the_centre_of_mass(robot):
    """In the air legs can still turn the base against themselves, but nothing moves the centre of mass."""
    center = CenterOfMassTask()
    tracking = Tracking(center, center.motion(robot.model, robot.state).x)
    controller = FrictionConeController(
        robot.model, [tracking], motors_of(robot), contacts=HeldContacts(robot.model, [])
    )
    controller(0.0, robot.state)
    told = controller.explain()
    assert told.status == "nearest"
    assert any("[A] 15" in reason for reason in told.consistency.reasons)


def test_a_task_that_contacts_forbid_is_explained(robot):
    foot = PointTask(so.Node(robot.feet[0]))
    path = foot.motion(robot.model, robot.state).x + np.array([0.0, 0.0, 0.1])
    controller = FrictionConeController(
        robot.model, [Tracking(foot, path)], motors_of(robot), contacts=grips(robot, range(4), 0.6)
    )
    controller(0.0, robot.state)
    told = controller.explain()
    assert told.status == "nearest"
    assert any("[A] 10" in reason for reason in told.consistency.reasons)


def test_flat_feet_keep_their_centre_of_pressure():
    """One free block on a flat foot's rows: the moment of its weight must fit into the foot ([A] 34)."""
    builder = so.TreeBuilder()
    builder.add_body("body", joint=so.Joint("free"), inertia=so.Inertia.box((0.2, 0.2, 0.2), mass=2.0))
    builder.add_body(
        "arm",
        parent="body",
        joint=so.Joint("prismatic", axis="x", effort_limit=100.0),
        inertia=so.Inertia.sphere(0.05, mass=2.0),
    )
    model = builder.build()
    foot = HeldContact(node=so.Node("body", (0.0, 0.0, -0.1)), friction=0.8, half_lengths=(0.03, 0.05), torsion=0.03)
    for travel, inside in ((0.02, True), (0.12, False)):
        q = model.neutral()
        q[7] = travel
        grip = HeldContacts(model, [foot])
        tracking = Tracking(JointTask((model.joint_names[1],)), [travel])
        controller = FrictionConeController(model, [tracking], Motors(Actuation(model)), contacts=grip)
        controller(0.0, so.State(q, np.zeros(model.nv)))
        told = controller.explain()
        assert (told.status == "solved") == inside
        edges = [margin for name, margin in told.margins.items() if "edge" in name]
        assert min(edges) > 0.0
        if not inside:  # the arm must give way
            assert told.slack > 0.1
            assert any("edge" in name for name in told.conflict)
            continue
        forces = controller.at.dynamics.forces(told.tau)
        assert np.isclose(forces[0], 4.0 * 9.81)
        # Weight of 2 kg, `travel` off the middle along world x: its moment, against the half length on that side.
        assert np.isclose(np.abs(forces[4:6]).max(), 2.0 * 9.81 * travel, atol=1e-9)
        half = 0.03 if np.abs(grip.frames[0, 1, 0]) > 0.5 else 0.05
        assert np.isclose(min(edges), 4.0 * 9.81 * half - 2.0 * 9.81 * travel, atol=1e-8)


def test_redundant_contacts_share_what_cannot_be_told():
    """Four corners of a block: twelve rows of rank six. The least forces that fit need not lie in cones."""
    builder = so.TreeBuilder()
    builder.add_body("body", joint=so.Joint("free"), inertia=so.Inertia.box((0.2, 0.2, 0.1), mass=2.0))
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


def test_both_solvers_give_one_command(robot):
    pytest.importorskip("clarabel")
    for solver in (Barrier(), Conic()):
        controller = controller_of(robot, ASKED, friction=0.3, solver=solver)
        tau = controller(0.0, robot.state)
        if isinstance(solver, Barrier):
            first = tau
    assert np.abs(first - tau).max() < 1e-6 * np.abs(first).max()


def test_khatib_on_an_arm_is_the_projection_without_constraints():
    model = so.models.dual_arm().model
    rng = np.random.default_rng(5)
    state = so.State(so.models.dual_arm().state.q, 0.3 * rng.normal(size=model.nv))
    left, right = PoseTask(so.Node("left_palm")), PointTask(so.Node("right_palm"))
    tasks = [
        Tracking(left, left.motion(model, state).x + 0.05 * rng.normal(size=6)),
        Tracking(right, right.motion(model, state).x + 0.05 * rng.normal(size=3)),
    ]
    controller = OperationalSpaceController(model, tasks, damping=10.0)
    tau = controller(0.0, state)
    a = so.forward_dynamics(model, state.q, state.v, tau - model.damping * state.v)
    for tracking in tasks:
        motion = tracking.task.motion(model, state)
        assert np.allclose(motion.J @ a + motion.drift, tracking.goal(0.0, motion, state.v)[0], atol=1e-8)
    assert controller.explain().status == "solved"
    assert controller.explain().slack < 1e-8
    motors = Motors(Actuation(model))
    motors.actuation.limits[:] = np.inf
    other = FrictionConeController(model, tasks, motors, contacts=HeldContacts(model, []))
    assert np.allclose(other(0.0, state), tau, atol=1e-8)  # the same null-space law: -10 v in the metric of M


def test_regulation_comes_to_rest_at_its_goal(robot):
    """[A] 22: no inertia in the law; the energy of the proof, V, falls along the motion."""
    model, motors = robot.model, motors_of(robot)
    grip = HeldContacts(model, [HeldContact(node=so.Node(foot), friction=0.8) for foot in robot.feet])
    task = PoseTask(so.Node("base"))
    goal = task.motion(model, robot.state).x + np.array([0.0, 0.05, 0.1, 0.01, 0.01, 0.01])
    tracking, K, D = Tracking(task, goal), np.diag([5.0] * 3 + [800.0] * 3), 0.4 * np.eye(model.nv)
    q, v, energies = robot.state.q.copy(), np.zeros(model.nv), []
    dt = 1e-3
    for _ in range(150):
        at = control_state(model, so.State(q, v), grip, motors, [tracking], 0.0)
        PB = at.dynamics.projection.P[:, motors.actuation.rows]
        force = regulation_force(at, K, D)
        u = minimum_norm(PB, force)
        assert np.allclose(PB @ u, force, atol=1e-9)
        energies.append(0.5 * v @ at.dynamics.M @ v + 0.5 * at.error @ K @ at.error)
        tau = np.zeros(model.nv)
        tau[motors.actuation.rows] = u
        v = at.dynamics.projection.P @ (v + dt * at.dynamics.accelerations(tau))
        q = so.integrate(model, q, dt * v)
    assert (np.diff(energies) < 1e-6 * energies[0]).all()
    assert energies[-1] < 0.5 * energies[0]


def test_tasks_have_exact_rates(robot):
    model, rng = robot.model, np.random.default_rng(6)
    q = so.integrate(model, robot.state.q, 0.4 * rng.normal(size=model.nv))
    v, h = rng.normal(size=model.nv), 1e-5
    for task in (PointTask(so.Node(robot.feet[1]), axes=(0, 2)), PoseTask(so.Node("base", (0.1, 0.0, 0.0))),
    CenterOfMassTask(),
                 JointTask(("lf_hip", "rh_knee"))):  # fmt: skip
        here = task.motion(model, so.State(q, v))
        ends = [task.motion(model, so.State(so.integrate(model, q, s * h * v), v)) for s in (1.0, -1.0)]
        assert np.allclose((ends[0].x - ends[1].x) / (2 * h), here.J @ v, atol=1e-8)
        assert np.allclose((ends[0].J @ v - ends[1].J @ v) / (2 * h), here.drift, atol=1e-7)


def test_rotation_vectors_near_zero_and_half_a_turn():
    from spatialops.algebra.rotation import from_rotation_vector
    from spatialops.control.projection_tasks import rotation_vector, vector_rates

    rng = np.random.default_rng(7)
    for angle in (0.0, 1e-12, 1e-5, 0.3, 2.0, 3.0, 3.1415):
        axis = rng.normal(size=3)
        x = angle * axis / np.linalg.norm(axis)
        assert np.allclose(rotation_vector(from_rotation_vector(x)), x, atol=1e-9)
    x, omega, h = np.array([0.4, -0.9, 0.5]), np.array([0.3, 0.8, -1.0]), 1e-6
    inverse, rate = vector_rates(x, omega)
    R = from_rotation_vector(x)
    ends = [rotation_vector(from_rotation_vector(s * h * omega) @ R) for s in (1.0, -1.0)]
    assert np.allclose((ends[0] - ends[1]) / (2 * h), inverse @ omega, atol=1e-8)
    difference = vector_rates(ends[0], omega)[0] - vector_rates(ends[1], omega)[0]
    assert np.allclose(difference / (2 * h), rate, atol=1e-8)


def test_rolling_feet_have_exact_drift(robot):
    """Rows of a round foot along a motion: their difference quotient, with the contact point below the centre."""
    model, rng, h = robot.model, np.random.default_rng(8), 1e-6
    q, v = so.integrate(model, robot.state.q, 0.2 * rng.normal(size=model.nv)), rng.normal(size=model.nv)
    grip = grips(robot, range(4), 0.5, [[0.1, 0.2, 1.0]] * 4)
    ends = [grip.jacobian(so.integrate(model, q, s * h * v)) @ v for s in (1.0, -1.0)]
    assert np.allclose((ends[0] - ends[1]) / (2 * h), grip.drift(q, v), atol=1e-6)


def test_secondary_tasks(robot):
    model = robot.model
    push = JointLimits(margin=0.1, stiffness=100.0, damping=0.0)
    assert not push(model, robot.state).any()  # limits are far, or there are none
    pull = Rest(q=robot.state.q, stiffness=4.0, damping=1.0)
    moved = so.integrate(model, robot.state.q, 0.1 * np.ones(model.nv))
    assert np.allclose(pull(model, so.State(moved, np.zeros(18))), -0.4, atol=1e-9)
    arm = so.models.dual_arm()
    low = arm.state.q.copy()
    at = arm.model.q_slice("left_arm2")
    low[at] = arm.model.lower[arm.model.v_slice("left_arm2")] + 0.02
    a = push(arm.model, so.State(low, np.zeros(arm.model.nv)))
    assert np.isclose(a[arm.model.v_slice("left_arm2")][0], 8.0)
    assert np.count_nonzero(a) == 1
    away = AwayFromSingularity(task=PointTask(so.Node("left_palm")), enough=10.0, gain=1.0)
    here = away.manipulability(arm.model, arm.state.q)
    step = away(arm.model, arm.state)
    assert away.manipulability(arm.model, so.integrate(arm.model, arm.state.q, 1e-3 * step)) > here


def test_contacts_of_the_simulator(robot):
    scene = robot.scene(friction=0.7)
    state, info = so.Simulator(scene, dt=1e-3).step(robot.state)
    grip = held(robot.model, state.q, info.contacts)
    assert len(grip) == 4
    assert np.allclose(grip.mu, 0.7)
    assert np.allclose(grip.frames[:, 0], [0.0, 0.0, 1.0])
    round_feet = grips(robot, range(4), 0.7)
    order = [next(i for i, c in enumerate(grip.contacts) if robot.model.body_names[c.node.body] == f"{leg}_shank")
             for leg in ("lf", "rf", "lh", "rh")]  # fmt: skip
    ours, theirs = grip.jacobian(state.q).reshape(4, 3, -1)[order], round_feet.jacobian(state.q).reshape(4, 3, -1)
    v = np.random.default_rng(0).normal(size=18)
    assert np.allclose(np.linalg.norm(ours @ v, axis=1), np.linalg.norm(theirs @ v, axis=1), atol=1e-3)


def test_sliding_contacts_have_known_friction():
    from spatialops.compare.aghili.pressing import RADIUS, TIP, arm

    model, motors, start = arm()
    slide = HeldContact(node=TIP, radius=RADIUS, friction=0.4, slide=(0.0, 1.0, 0.3), pressed=12.0)
    grip = HeldContacts(model, [slide])
    tracking = Tracking(JointTask(("joint1", "joint2", "joint3")), np.array(start.q)[:3])
    controller = FrictionConeController(model, [tracking], motors, contacts=grip)
    controller(0.0, start)
    told = controller.explain()
    assert told.status == "solved"
    assert np.isclose(controller.at.dynamics.forces(told.tau)[0], 12.0, atol=1e-9)
    point = HeldContacts(model, [HeldContact(node=TIP, radius=RADIUS)]).jacobian(start.q)
    frame = frame_of((0.0, 0.0, 1.0))
    assert np.allclose(grip.sliding_friction(start.q), (frame.T @ point).T @ np.array([0.0, -4.8, 0.0]), atol=1e-10)


def test_bad_input_is_refused(robot):
    with pytest.raises(ArgumentError, match="torque_constant: expected positive"):
        Motors(Actuation(robot.model), torque_constant=0.0)
    with pytest.raises(ArgumentError, match="friction: expected a number > 0"):
        HeldContact(node=so.Node("base"), friction=0.0)
    with pytest.raises(ArgumentError, match="half_lengths, torsion"):
        HeldContact(node=so.Node("base"), half_lengths=(0.1, 0.1))
    with pytest.raises(ArgumentError, match="tasks: expected at least one"):
        FrictionConeController(robot.model, [], motors_of(robot))
    other = Motors(Actuation(so.models.pendulum(2).model))
    with pytest.raises(ArgumentError, match="motors: are those of another model"):
        FrictionConeController(robot.model, [base_task(robot, robot.state, np.zeros(6))], other)
    with pytest.raises(ArgumentError, match="there was no command yet"):
        controller_of(robot).explain()
    with pytest.raises(ArgumentError, match="stiffness: expected gains"):
        Tracking(JointTask(("lf_hip",)), [0.0], stiffness=-1.0)
