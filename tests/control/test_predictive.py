"""Inverse dynamics with predicted contact forces: round trips, consistency, choice, safe commands."""

import numpy as np
import pytest

import spatialops as so
from spatialops.collision.shapes import HalfSpace, Sphere
from spatialops.contact import Cone, Coulomb, MaxDissipation
from spatialops.control import (
    PID,
    Actuation,
    ConeControl,
    CoulombControl,
    DissipationControl,
    NoSlipControl,
    NoSlipDissipationControl,
    Reference,
    SensedForces,
    nearest_consistent,
)
from spatialops.control.inverse_problem import inverse_problem
from spatialops.errors import ArgumentError
from spatialops.simulation.foresight import Foresight

ACTUATED = np.arange(6, 18)


def simulator(law, friction=0.8, **options):
    robot = so.models.quadruped()
    return robot, so.Simulator(
        robot.scene(friction=friction), law=law, impact_threshold=100.0, certify="off", **options
    )


def kneeling(robot):
    """Demand: all legs bend alike, so that feet stay where they are but for the second order."""
    q0 = robot.state.q[7:].copy()

    def demand(time, state):
        wave = 0.02 * np.sin(12.0 * time) * np.tile([0.0, 1.0, 2.0], 4)
        return 400.0 * (q0 + wave - state.q[7:]) - 40.0 * state.v[6:]

    return demand


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("kind", "law", "options"),
    [
        (ConeControl, "cone", {}),
        (ConeControl, "cone", {"choice": "least-torque"}),
        (NoSlipControl, "no-slip", {}),
        (NoSlipDissipationControl, "no-slip", {}),
    ],
)
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_the_simulation_does_what_was_predicted(kind, law, options, integrator):
    robot, sim = simulator(law, integrator=integrator)
    control, state = kind(sim, kneeling(robot), **options), robot.state
    for _ in range(25):
        tau = control(state.time, state, None)
        said = control.explain()
        after, info = sim.step(state, tau)
        reached = (after.v - state.v)[ACTUATED] / sim.dt
        assert reached == pytest.approx(said.predicted[ACTUATED], abs=1e-5 * max(1.0, np.abs(said.predicted).max()))
        measured = info.contacts.impulses[:, 0].sum() / sim.dt
        assert said.forces[:, 0].sum() == pytest.approx(measured, rel=1e-6)
        assert not tau[:6].any()
        state = after


@pytest.mark.compiled
def test_demands_are_met_to_rounding_where_friction_lets_feet_slide():
    robot, sim = simulator("cone", friction=0.1)
    rng = np.random.default_rng(3)
    control = ConeControl(sim, lambda time, state: rng.normal(size=12))
    for _ in range(5):
        tau = control(0.0, robot.state, None)
        after, _ = sim.step(robot.state, tau)
        reached = after.v[ACTUATED] / sim.dt
        assert reached == pytest.approx(control.explain().demanded[ACTUATED], rel=1e-8, abs=1e-8)


def posed(friction=0.8, law="cone"):
    robot, sim = simulator(law, friction)
    ahead = Foresight(sim).look(robot.state)
    return robot, sim, ahead


def test_compliance_is_the_papers_block_of_the_inverse():
    _, _, ahead = posed()
    wanted = np.random.default_rng(0).normal(size=12) * 1e-3
    problem = inverse_problem(ahead, ACTUATED, wanted)
    P = np.eye(18)[ACTUATED]
    X = np.linalg.inv(np.block([[ahead.mass, P.T], [P, np.zeros((12, 12))]]))[:18, :18]
    G = problem.jacobian
    assert problem.compliance == pytest.approx(G @ X @ G.T, abs=1e-12 * np.abs(G @ X @ G.T).max())
    assert problem.velocity[ACTUATED] == pytest.approx(wanted)


@pytest.mark.parametrize("law", [Cone(), Coulomb(), MaxDissipation()])
def test_motor_forces_satisfy_the_equation_of_motion(law):
    _, sim, ahead = posed()
    problem = inverse_problem(ahead, ACTUATED, 1e-3 * np.random.default_rng(1).normal(size=12))
    answer = law.solve(problem)
    assert answer.solved
    p = answer.impulses.ravel()
    tau = problem.forces(ahead, p, sim.dt)
    left = ahead.mass @ (problem.after(p) - ahead.free) - sim.dt * tau - problem.jacobian.T @ p
    assert np.abs(left).max() < 1e-12
    assert not tau[:6].any()


def test_splaying_legs_is_replaced_by_the_nearest_motion_that_feet_can_follow():
    _, _, ahead = posed()
    splay = np.tile([0.05, 0.0, 0.0], 4)
    problem = inverse_problem(ahead, ACTUATED, splay)
    change = nearest_consistent(problem, np.ones(4, dtype=bool))
    assert np.linalg.norm(change) > 0.01
    follows = inverse_problem(ahead, ACTUATED, splay + change)
    L, u = follows.reach, follows.velocities
    assert np.abs(u - L @ np.linalg.lstsq(L, u, rcond=None)[0]).max() < 1e-12
    # The change is the least: orthogonal to all motions that feet can follow.
    rng = np.random.default_rng(5)
    G = ahead.problem.jacobian
    for _ in range(5):
        free = -np.linalg.lstsq(G[:, 6:], G[:, :6] @ rng.normal(size=6), rcond=None)[0]
        assert abs(free @ change) < 1e-10 * np.linalg.norm(free)


@pytest.mark.parametrize("kind", [ConeControl, CoulombControl, NoSlipControl, DissipationControl])
def test_bad_states_and_demands_get_a_safe_command(kind):
    robot, sim = simulator("coulomb")
    control = kind(sim, lambda time, state: np.full(12, np.nan))
    tau = control(0.0, robot.state, None)
    assert control.explain().status == "held"
    assert np.isfinite(tau).all()
    broken = so.State(np.full(19, np.nan), np.full(18, np.nan))
    tau = control(0.0, broken, None)
    assert control.explain().status == "damped"
    assert not tau.any()
    wild = kind(sim, lambda time, state: np.full(12, 1e9))
    tau = wild(0.0, robot.state, None)
    assert np.abs(tau).max() <= 4.0
    assert wild.explain().status != "solved"
    flying = so.State(robot.state.q + np.eye(19)[2], robot.state.v)
    falls = kind(sim, lambda time, state: np.zeros(12))
    assert np.abs(falls(0.0, flying, None)).max() < 1e-10  # joints and trunk fall alike
    assert falls.explain().status == "solved"


@pytest.mark.compiled
@pytest.mark.parametrize("delay", [1, 2])
def test_sensed_forces_are_those_of_earlier_steps(delay):
    robot, sim = simulator("cone")
    q0 = robot.state.q[7:].copy()
    control = SensedForces(sim, lambda time, state: 400.0 * (q0 - state.q[7:]) - 40.0 * state.v[6:], delay=delay)
    state, contacts, felt = robot.state, None, [0.0]
    for _ in range(20):
        tau = control(state.time, state, contacts)
        assert control.explain().forces[0, 0] == pytest.approx(felt[max(len(felt) - delay, 0)], rel=1e-12)
        state, info = sim.step(state, tau)
        contacts = info.contacts
        felt.append(contacts.impulses[:, 0].sum() / sim.dt)
    assert state.q[2] == pytest.approx(0.15, abs=2e-3)


@pytest.mark.parametrize("delay", [1, 2])
def test_forces_felt_late_delay_demands_by_the_ratio_of_masses(delay):
    builder = so.TreeBuilder()
    rail = so.Joint("prismatic", axis=(0.0, 0.0, 1.0))
    builder.add_body("trunk", joint=rail, inertia=so.Inertia.sphere(0.1, mass=9.0))
    builder.add_body("leg", parent="trunk", joint=rail, inertia=so.Inertia.sphere(0.1, mass=1.0))
    model = builder.build()
    geoms = [so.Geom("foot", "leg", Sphere(0.1)), so.Geom("floor", "world", HalfSpace((0.0, 0.0, 1.0)))]
    sim = so.Simulator(so.Scene(model, geoms), law="cone", impact_threshold=100.0)
    motors = Actuation(model, [model.joint_names[1]])
    control = SensedForces(sim, lambda time, state: [-2.0], delay=delay, actuation=motors)
    state, contacts, errors = so.State(np.array([0.6, -0.5]), np.zeros(2)), None, []
    for _ in range(20):
        before, tau = state.v[1], control(state.time, state, contacts)
        state, info = sim.step(state, tau)
        contacts = info.contacts
        errors.append((state.v[1] - before) / sim.dt + 2.0)
    found = np.array(errors)
    assert found[0] > 0.5
    assert found[delay:] == pytest.approx(0.9 * found[:-delay], rel=1e-6)  # 9 kg of 10
    assert state.v[0] == pytest.approx(-state.v[1], abs=1e-12)  # the foot stands


def test_pid_is_error_feedback_within_limits():
    robot = so.models.quadruped()
    q = robot.state.q[7:]
    control = PID(robot.model, lambda time, state: Reference(q + 0.1, np.zeros(12), np.full(12, 50.0)))
    tau = control(0.0, robot.state)
    assert tau[6:] == pytest.approx(10.0 * 0.1 + 0.003 * 1e-3 * 0.1)
    far = PID(robot.model, lambda time, state: Reference(q + 10.0, np.zeros(12), np.zeros(12)))
    assert far(0.0, robot.state)[6:] == pytest.approx(4.0)


def test_options_are_checked():
    _, sim = simulator("coulomb")
    with pytest.raises(ArgumentError, match="choice"):
        ConeControl(sim, lambda time, state: np.zeros(12), choice="best")
    with pytest.raises(ArgumentError, match="no command"):
        ConeControl(sim, lambda time, state: np.zeros(12)).explain()
