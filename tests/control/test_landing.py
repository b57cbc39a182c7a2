"""Feet that land, ground that is not as thought, feet that part under the QP, motors outside the demand, two robots."""

import numpy as np
import pytest

import spatialops as so
from spatialops.collision.shapes import Geom, HalfSpace, Sphere
from spatialops.contact import Compliant, MaxDissipation
from spatialops.control import Actuation, ConeControl, DissipationControl
from spatialops.control.dissipation import Released
from spatialops.control.inverse_problem import inverse_problem
from spatialops.control.landing import landing, part, stretched
from spatialops.errors import ArgumentError
from spatialops.simulation.foresight import Foresight
from spatialops.simulation.scene import Scene

MOTORS = np.arange(6, 18)


def simulator(law="cone", friction=0.8, **options):
    robot = so.models.quadruped()
    return robot, so.Simulator(
        robot.scene(friction=friction), law=law, impact_threshold=100.0, certify="off", **options
    )


def still(robot):
    q0 = robot.state.q[7:].copy()
    return lambda time, state: 900.0 * (q0 - state.q[7:]) - 60.0 * state.v[6:]


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_a_robot_that_is_dropped_lands_as_predicted_and_without_a_jump_of_torques(integrator):
    robot, sim = simulator(integrator=integrator)
    q = robot.state.q.copy()
    q[2] += 2e-3
    control, state = ConeControl(sim, still(robot)), so.State(q, np.zeros(18))
    landed, bound, taus = 0, 0, []
    for _ in range(40):
        taus.append(control(state.time, state, None))
        said = control.explain()
        after, info = sim.step(state, taus[-1])
        measured = info.contacts.impulses[:, 0].sum() / sim.dt
        assert said.forces[:, 0].sum() == pytest.approx(measured, rel=1e-6, abs=1e-9)
        reached = (after.v - state.v)[MOTORS] / sim.dt
        assert reached == pytest.approx(said.predicted[MOTORS], abs=1e-6 * max(1.0, np.abs(said.predicted).max()))
        if "contacts land: passively" in said.notes:
            landed += 1
            assert measured > 0.0  # an impact, which motors do not meet
            assert np.abs(taus[-1] - taus[-2]).max() < 0.1
        bound += "limits of motors bind" in said.notes  # of 4 N m, when the robot is caught
        state = after
    assert landed
    assert bound
    assert state.q[2] > 0.14


def test_what_counts_as_landing():
    robot, sim = simulator()
    resting = Foresight(sim).look(robot.state)
    assert not landing(resting).any()
    falls = Foresight(sim).look(so.State(robot.state.q, -0.1 * np.eye(18)[5]))
    assert landing(falls).all()
    some = part(falls, np.array([True, False, True, False]))
    assert some.problem.n_contacts == len(some.keys) == 2
    assert part(falls, np.zeros(4, dtype=bool)).problem is None


def test_a_longer_horizon_is_a_longer_step():
    robot, sim = simulator()
    ahead = Foresight(sim).look(robot.state)
    longer = stretched(ahead, 20.0)
    assert longer.free - longer.before == pytest.approx(20.0 * (ahead.free - ahead.before))
    assert longer.problem.velocity is longer.free
    with pytest.raises(ArgumentError, match="horizon"):
        ConeControl(sim, still(robot), horizon=0.5 * sim.dt)


@pytest.mark.compiled
def test_on_soft_ground_a_longer_horizon_stands_and_one_step_does_not():
    law = Compliant(stiffness=1.2e4, damping=60.0)
    tilts = []
    for horizon in (None, 0.02):
        robot, sim = simulator(law, friction=1.0, integrator="semi-implicit")
        control, state = ConeControl(sim, still(robot), horizon=horizon, within_limits=False), robot.state
        worst = 0.0
        for _ in range(150):
            try:
                state, _ = sim.step(state, control(state.time, state, None))
            except so.errors.SpatialOpsError:
                worst = np.inf
                break
            worst = max(worst, float(np.abs(state.v[6:]).max()))
        tilts.append(worst)
    assert tilts[1] < 3.0  # it sinks into the ground at first
    assert tilts[0] > 10.0 * tilts[1]


def sliding():
    """Feet that slide fast while they are lifted slowly."""
    robot, sim = simulator("coulomb")
    v = np.zeros(18)
    v[3], v[5] = 0.5, 0.01
    ahead = Foresight(sim).look(so.State(robot.state.q, v))
    return inverse_problem(ahead, MOTORS, np.zeros(12))


def test_the_program_presses_on_contacts_that_part_and_released_it_does_not():
    problem = sliding()
    for law, presses in ((MaxDissipation(), True), (Released(), False)):
        answer = law.solve(problem)
        assert answer.solved
        u = (problem.jacobian @ problem.after(answer.impulses.ravel()))[::3] + problem.closing
        parts = u > 1e-6
        assert (parts & (answer.impulses[:, 0] > 1e-6)).any() == presses
    with pytest.raises(ArgumentError, match="parting"):
        DissipationControl(simulator()[1], lambda time, state: np.zeros(12), parting="never")


def pair_of_robots():
    """Two sleds on three balls each, one beside the other, each swings an arm."""
    builder, geoms = so.TreeBuilder(), [Geom("ground", "world", HalfSpace((0.0, 0.0, 1.0)), friction=0.8)]
    for name in ("left", "right"):
        body = so.Inertia.box((0.3, 0.2, 0.05), mass=4.0)
        builder.add_body(name, joint=so.Joint("free", name=name), inertia=body)
        arm = so.Inertia.sphere(0.03, mass=0.5).shifted((0.0, 0.0, 0.2))
        joint = so.Joint("revolute", axis=(0.0, 1.0, 0.0), name=f"{name}_arm")
        builder.add_body(f"{name}_arm", parent=name, joint=joint, inertia=arm)
        for i, place in enumerate(((0.15, 0.0, 0.0), (-0.15, 0.1, 0.0), (-0.15, -0.1, 0.0))):
            geoms.append(Geom(f"{name}_{i}", name, Sphere(0.05), place, friction=0.8))
    model = builder.build()
    q = model.neutral()
    for name, y in (("left", 0.5), ("right", -0.5)):
        q[model.q_slice(name)] = [0.0, y, 0.05, 0.0, 0.0, 0.0, 1.0]
    return Scene(model, geoms, state=so.State(q, np.zeros(model.nv)))


@pytest.mark.compiled
def test_two_robots_are_one_problem():
    sim = so.Simulator(pair_of_robots(), law="cone", impact_threshold=100.0, certify="off")
    control = ConeControl(sim, lambda time, state: np.array([20.0, -10.0]) * np.cos(20.0 * time))
    state = sim.scene.state
    assert len(control.actuation) == 2
    for _ in range(50):
        tau = control(state.time, state, None)
        said = control.explain()
        after, info = sim.step(state, tau)
        rows = control.actuation.rows
        assert (after.v - state.v)[rows] / sim.dt == pytest.approx(said.demanded[rows], rel=1e-8, abs=1e-8)
        assert said.forces[:, 0].sum() == pytest.approx(info.contacts.impulses[:, 0].sum() / sim.dt, rel=1e-8)
        state = after
    assert not tau[: control.actuation.rows[0]].any()


@pytest.mark.compiled
def test_forces_of_motors_outside_the_demand_are_counted_on():
    sim = so.Simulator(pair_of_robots(), law="cone", impact_threshold=100.0, certify="off")
    model = sim.scene.model
    other = model.v_slice("right_arm").start
    control = ConeControl(
        sim,
        lambda time, state: np.array([5.0]),
        actuation=Actuation(model, ["left_arm"]),
        others=lambda time, state: 0.3 * np.eye(model.nv)[other],
    )
    state = sim.scene.state
    tau = control(0.0, state, None)
    assert tau[other] == 0.3
    after, _ = sim.step(state, tau)
    expected = control.explain().predicted
    assert (after.v - state.v) / sim.dt == pytest.approx(expected, abs=1e-9 * np.abs(expected).max())
