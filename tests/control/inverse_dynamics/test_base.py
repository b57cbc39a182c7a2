"""Commands whose predictions come true, and safe ones where there is none."""

import numpy as np
import pytest

import spatialops as so
from spatialops.collision.shapes import Geom, HalfSpace, Sphere
from spatialops.control import (
    Actuation,
    ConeController,
    CoulombController,
    DissipationController,
    NoSlipController,
    NoSlipDissipationController,
)
from spatialops.errors import ArgumentError
from spatialops.simulation.scene.scene import Scene
from tests.control.cases import MOTORS, quadruped_simulator


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
        (ConeController, "cone", {}),
        (ConeController, "cone", {"choice": "least-torque"}),
        (NoSlipController, "no-slip", {}),
        (NoSlipDissipationController, "no-slip", {}),
    ],
)
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_the_simulation_does_what_was_predicted(kind, law, options, integrator):
    robot, sim = quadruped_simulator(law, integrator=integrator)
    control, state = kind(sim, kneeling(robot), horizon=sim.dt, **options), robot.state
    for _ in range(25):
        tau = control(state.time, state, None)
        said = control.explain()
        after, info = sim.step(state, tau)
        reached = (after.v - state.v)[MOTORS] / sim.dt
        assert reached == pytest.approx(
            said.predicted[MOTORS], abs=1e-5 * max(1.0, np.abs(said.predicted).max())
        )
        measured = info.contacts.impulses[:, 0].sum() / sim.dt
        assert said.forces[:, 0].sum() == pytest.approx(measured, rel=1e-6)
        assert not tau[:6].any()
        state = after


@pytest.mark.compiled
def test_demands_are_met_to_rounding_where_friction_lets_feet_slide():
    robot, sim = quadruped_simulator("cone", friction=0.1)
    rng = np.random.default_rng(3)
    control = ConeController(sim, lambda time, state: rng.normal(size=12), horizon=sim.dt)
    for _ in range(5):
        tau = control(0.0, robot.state, None)
        after, _ = sim.step(robot.state, tau)
        reached = after.v[MOTORS] / sim.dt
        assert reached == pytest.approx(control.explain().demanded[MOTORS], rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(
    "kind", [ConeController, CoulombController, NoSlipController, DissipationController]
)
def test_bad_states_and_demands_get_a_safe_command(kind):
    robot, sim = quadruped_simulator("coulomb")
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


def test_options_are_checked():
    _, sim = quadruped_simulator("coulomb")
    with pytest.raises(ArgumentError, match="choice"):
        ConeController(sim, lambda time, state: np.zeros(12), choice="best")
    with pytest.raises(ArgumentError, match="no command"):
        ConeController(sim, lambda time, state: np.zeros(12)).explain()


def pair_of_robots():
    """Two sleds on three balls each, one beside the other, each swings an arm."""
    builder, geoms = (
        so.TreeBuilder(),
        [Geom("ground", "world", HalfSpace((0.0, 0.0, 1.0)), friction=0.8)],
    )
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
    swing = lambda time, state: np.array([20.0, -10.0]) * np.cos(20.0 * time)  # noqa: E731
    control = ConeController(sim, swing, horizon=sim.dt)
    state = sim.scene.state
    assert len(control.actuation) == 2
    for _ in range(50):
        tau = control(state.time, state, None)
        said = control.explain()
        after, info = sim.step(state, tau)
        rows = control.actuation.rows
        assert (after.v - state.v)[rows] / sim.dt == pytest.approx(
            said.demanded[rows], rel=1e-8, abs=1e-8
        )
        assert said.forces[:, 0].sum() == pytest.approx(
            info.contacts.impulses[:, 0].sum() / sim.dt, rel=1e-8
        )
        state = after
    assert not tau[: control.actuation.rows[0]].any()


@pytest.mark.compiled
def test_forces_of_motors_outside_the_demand_are_counted_on():
    sim = so.Simulator(pair_of_robots(), law="cone", impact_threshold=100.0, certify="off")
    model = sim.scene.model
    other = model.v_slice("right_arm").start
    control = ConeController(
        sim,
        lambda time, state: np.array([5.0]),
        actuation=Actuation(model, ["left_arm"]),
        others=lambda time, state: 0.3 * np.eye(model.nv)[other],
        horizon=sim.dt,
    )
    state = sim.scene.state
    tau = control(0.0, state, None)
    assert tau[other] == 0.3
    after, _ = sim.step(state, tau)
    expected = control.explain().predicted
    assert (after.v - state.v) / sim.dt == pytest.approx(
        expected, abs=1e-9 * np.abs(expected).max()
    )


@pytest.mark.compiled
def test_a_law_of_ones_own_is_asked():
    """Kernels answer with the controller's law only, not with one that was put in its place."""
    robot, sim = quadruped_simulator()
    control = CoulombController(sim, lambda time, state: np.zeros(12), horizon=sim.dt)

    class Counted:
        def __init__(self, law):
            self.law = law
            self.rigid = law.rigid
            self.asked = 0

        def solve(self, problem, warm_start=None):
            self.asked += 1
            return self.law.solve(problem, warm_start)

    control.law = counted = Counted(control.law)
    control(0.0, robot.state)
    assert counted.asked > 0
