"""Stops, dry friction, effort limits and stiff damping of joints, against closed forms."""

from __future__ import annotations

import dataclasses
import math
import warnings

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import spatialops as so
from spatialops.contact.constraint_rows import DRY, STOP
from spatialops.contact.formulations import FORMULATIONS
from spatialops.contact.laws import LAWS
from spatialops.contact.problem import ContactProblem
from spatialops.errors import ArgumentError, ModelError
from spatialops.simulation.scene.maximal_scene import maximal_scene
from tests.support.files import example_robots, files_of

G = 9.8
MASS = 2.0
ARM = 0.5
RADIUS = 0.1
INERTIA = MASS * (ARM**2 + 0.4 * RADIUS**2)
TWIST = so.Inertia.sphere(RADIUS, mass=MASS).shifted([ARM, 0.0, 0.0])


def rod(kind="revolute", axis="y", gravity=(0.0, 0.0, -G), inertia=TWIST, **data):
    """A body on one joint; about y its weight pulls to positive angles: it hangs at pi / 2."""
    builder = so.TreeBuilder(gravity=gravity)
    builder.add_body("rod", joint=so.Joint(kind, axis=axis, **data), inertia=inertia)
    return builder.build()


def mixed_arm(swing_friction=0.0):
    """Universal, cylindrical and screw joints with stops and dry friction, one stiffly damped."""
    builder, ball = so.TreeBuilder(), so.Inertia.sphere(0.1, mass=2.0).shifted([0.3, 0.0, 0.0])
    wrist = so.Joint(
        "universal",
        axis="y",
        second_axis="z",
        lower=[-0.4, -0.2],
        upper=[0.3, 0.2],
        dry_friction=[0.5, swing_friction],
        damping=[0.1, 300.0],
    )
    slider = so.Joint(
        "cylindrical", axis="x", lower=[-1.0, -0.1], upper=[1.0, 0.05], dry_friction=0.3
    )
    screw = so.Joint("screw", axis="y", pitch=0.1, lower=-0.3, upper=0.4, dry_friction=0.1)
    builder.add_body("a", joint=wrist, inertia=ball)
    builder.add_body("b", parent="a", position=(0.6, 0.0, 0.0), joint=slider, inertia=ball)
    builder.add_body("c", parent="b", position=(0.6, 0.0, 0.0), joint=screw, inertia=ball)
    return builder.build()


def trace(model, steps, dt=5e-3, seed=0, **options):
    """States and joint impulses of a few random flights under random forces."""
    simulator = so.Simulator(so.Scene(model), dt=dt, **options)
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(2):
        state = so.State(model.random(rng), 2.0 * rng.normal(size=model.nv))
        for _ in range(steps):
            state, info = simulator.step(state, rng.normal(size=model.nv))
            assert info.residual <= 1e-9
            # How a joint that is pressed against its stop shares the load between the two is not
            # determined.
            rows.append(np.concatenate([state.q, state.v, info.stop_impulses + info.dry_impulses]))
    return np.array(rows)


# -------------------------------------------------------------------------------------------- stops
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_slider_falls_on_its_stop(e):
    height = 0.3
    scene = so.Scene(rod("prismatic", axis="z", lower=0.0), state=so.State([height], [0.0]))
    record = so.Simulator(scene, dt=5e-3, stop_restitution=e).run(duration=0.4)
    time, speed = math.sqrt(2.0 * height / G), math.sqrt(2.0 * G * height)
    assert record.events[0, 0] == pytest.approx(time, abs=1e-8)
    assert record.events[0, 2] == pytest.approx(speed, rel=1e-7)
    later = record.times[-1] - time
    if e == 0.0:
        np.testing.assert_allclose([record.q[-1, 0], record.v[-1, 0]], 0.0, atol=1e-9)
    else:
        assert record.q[-1, 0] == pytest.approx(e * speed * later - 0.5 * G * later**2, abs=1e-7)
    assert record.summary()["joints_stopped"] == ["rod"]


@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit", "rk4"])
def test_rod_falls_on_its_stop(integrator):
    """Time by quadrature of the energy's first integral, then rest at exactly the limit."""
    start = 0.1
    stop = 1.2
    dt = 2e-3
    rate = 2.0 * MASS * G * ARM / INERTIA
    time, _ = quad(
        lambda s: 2.0 * s / math.sqrt(rate * (math.sin(start + s * s) - math.sin(start))),
        0.0,
        1.1**0.5,
    )
    scene = so.Scene(rod(upper=stop), state=so.State([start], [0.0]))
    record = so.Simulator(scene, dt=dt, integrator=integrator).run(duration=time + 0.1)
    assert record.events[0, 0] == pytest.approx(
        time, abs={"semi-implicit": 2e-3, "moreau": 1e-5, "rk4": 1e-9}[integrator]
    )
    assert record.q[-1, 0] == pytest.approx(stop, abs=1e-8)
    assert abs(record.v[-1, 0]) <= 1e-12
    # At rest the stop carries the weight's torque.
    np.testing.assert_allclose(
        record.stop_impulses[-1, 0], -dt * MASS * G * ARM * math.cos(stop), rtol=2e-5
    )
    # What the stop took is what the energy lacks, but for the integrator's own error.
    assert record.energy[-1] - record.energy[0] == pytest.approx(
        record.joint_work.sum(), rel=2e-2 if integrator == "semi-implicit" else 1e-4
    )


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("revolute", {}),
        ("prismatic", {}),
        ("screw", {"pitch": 0.2}),
        ("cylindrical", {}),
        ("universal", {"second_axis": "z"}),
        ("planar", {}),
    ],
)
def test_every_kind_of_joint_stops(kind, data):
    axis = (1.0, 2.0, 2.0) if kind != "universal" else "y"
    model = rod(kind, axis=axis, lower=-0.02, upper=0.03, **data)
    record = so.Simulator(so.Scene(model), dt=2e-3).run(duration=0.3)
    final = record.q[-1]
    assert ((final <= 0.03 + 1e-5) & (final >= -0.02 - 1e-5)).all()
    pressed = np.minimum(abs(final - 0.03), abs(final + 0.02)) <= 1e-5
    assert pressed.any()
    assert (abs(record.v[-1, pressed]) <= 1e-7).all()
    assert record.penetrations.max() <= 1e-5


def test_locked_joint():
    """Both stops at one position hold a joint still."""
    builder = so.TreeBuilder()
    builder.add_body("a", joint=so.Joint("revolute", axis="y", lower=0.2, upper=0.2), inertia=TWIST)
    builder.add_body(
        "b",
        parent="a",
        position=(1.0, 0.0, 0.0),
        joint=so.Joint("revolute", axis="y"),
        inertia=TWIST,
    )
    scene = so.Scene(builder.build())
    assert scene.state.q[0] == 0.2  # the default state is within limits
    record = so.Simulator(scene, dt=1e-3).run(duration=0.2)
    np.testing.assert_allclose(record.q[:, 0], 0.2, atol=1e-8)
    assert abs(record.v[-1, 1]) > 0.5


@pytest.mark.compiled
def test_a_minute_at_rest_on_a_stop():
    model = mixed_arm(swing_friction=0.2)  # what only damping slows creeps for long
    record = so.Simulator(so.Scene(model), dt=5e-3).run(duration=60.0, record_every=100)
    late = record.times > 10.0
    assert np.abs(record.v[late]).max() < 1e-6
    assert np.abs(record.q[late] - record.q[-1]).max() < 1e-7


@pytest.mark.compiled
def test_contacts_and_stops_together():
    """A leg folds on its stop while the foot is on the floor: hard contact, both in one problem."""
    builder = so.TreeBuilder()
    builder.add_body(
        "trunk",
        joint=so.Joint("prismatic", axis="z"),
        inertia=so.Inertia.box((0.2, 0.2, 0.2), mass=5.0),
    )
    for name, above, place in (("thigh", "trunk", 0.0), ("shin", "thigh", -0.4)):
        limits = (
            {"lower": -1.0, "upper": 1.0} if name == "thigh" else {"lower": -2.0, "upper": -0.1}
        )
        joint = so.Joint("revolute", axis="y", dry_friction=0.5, **limits)
        link = so.Inertia.sphere(0.05, mass=1.0).shifted([0.0, 0.0, -0.2])
        builder.add_body(name, parent=above, position=(0.0, 0.0, place), joint=joint, inertia=link)
    model = builder.build()
    foot = so.Geom("foot", "shin", so.Sphere(0.05), position=(0.0, 0.0, -0.4), friction=0.4)
    scene = so.Scene(
        model,
        [so.Geom("floor", "world", so.HalfSpace()), foot],
        state=so.State([0.9, 0.2, -0.4], np.zeros(3)),
    )
    record = so.Simulator(scene, dt=1e-3).run(duration=3.0)
    assert {"thigh", "shin"} & set(record.summary()["joints_stopped"])
    assert np.abs(record.v[-1]).max() < 1e-6
    assert record.penetrations.max() < 1e-4
    assert record.residuals.max() <= 1e-9


def test_a_ball_that_touches_does_not_hide_a_stop():
    """A whirling ball on a floor sinks a little between evaluations, and has no time of arrival.

    A stop has one.
    """
    builder, ball = so.TreeBuilder(), so.Inertia.sphere(0.1, mass=1.0)
    builder.add_body("lift", joint=so.Joint("prismatic", axis="z"), inertia=ball)
    builder.add_body(
        "arm",
        parent="lift",
        joint=so.Joint("revolute", axis="y"),
        inertia=ball.shifted([0.0, 0.0, 0.3]),
    )
    builder.add_body("slider", joint=so.Joint("prismatic", axis="x", upper=0.0), inertia=ball)
    tip = so.Geom("tip", "arm", so.Sphere(0.1), position=(0.0, 0.0, 0.3))
    floor = so.Geom("floor", "world", so.HalfSpace())
    q, v = [1e-9 - 0.2, 0.0, -8e-3], [0.0, 30.0, 20.0]
    scene = so.Scene(builder.build(), [tip, floor], state=so.State(q, v))
    state, info = so.Simulator(scene, dt=1e-3).step(scene.state)
    assert info.events[:, 0] == pytest.approx([4e-4], abs=1e-9)
    assert info.penetration < 1e-4  # of the ball; the stop was passed by 2e-3 m
    assert abs(state.q[2]) < 1e-9


# ------------------------------------------------------------------------------------- dry friction
def test_friction_holds_or_lets_slide():
    limit = 1.5
    model = rod(axis="z", dry_friction=limit)  # level: weight does not count
    simulator = so.Simulator(so.Scene(model), dt=1e-3)
    for tau in (0.0, 1.4999, -1.4999):
        state, info = simulator.step(so.State([0.3], [0.0]), [tau])
        assert abs(state.v[0]) <= 1e-15
        assert abs(info.dry_impulses[0] + 1e-3 * tau) <= 1e-15
    for tau in (2.0, -7.0):
        state, info = simulator.step(so.State([0.3], [0.0]), [tau])
        assert state.v[0] / 1e-3 == pytest.approx(
            (tau - math.copysign(limit, tau)) / INERTIA, rel=1e-9
        )
        assert info.dry_impulses[0] == pytest.approx(-math.copysign(1e-3 * limit, tau), rel=1e-9)
    state, _ = simulator.step(so.State([0.3], [2.0]))  # moving: against the motion
    assert (state.v[0] - 2.0) / 1e-3 == pytest.approx(-limit / INERTIA, rel=1e-9)
    state, _ = so.Simulator(so.Scene(model), dt=1e-3, dry_friction=False).step(
        so.State([0.3], [2.0])
    )
    assert state.v[0] == 2.0


def test_pendulum_with_friction_stops():
    """The angle of the first turning point from the balance of work.

    There it sticks, and nothing creeps.
    """
    limit = 6.0
    start = 0.2
    dt = 1e-3
    model = rod(dry_friction=limit)
    weight = MASS * G * ARM

    def lost(angle):
        return weight * (math.sin(angle) - math.sin(start)) - limit * (angle - start)

    turn = brentq(lost, 0.5, math.pi)
    assert abs(weight * math.cos(turn)) < limit  # so that it sticks there
    record = so.Simulator(so.Scene(model, state=so.State([start], [0.0])), dt=dt).run(duration=2.0)
    assert record.q[-1, 0] == pytest.approx(turn, abs=2e-6)
    late = record.times > 1.5
    assert np.abs(record.v[late]).max() <= 1e-15
    assert np.ptp(record.q[late]) <= 1e-15
    assert record.energy[-1] - record.energy[0] == pytest.approx(record.joint_work.sum(), rel=1e-5)


# --------------------------------------------------------------------------------------- everywhere
@pytest.mark.parametrize("name", [*FORMULATIONS, *(name for name in LAWS if name != "coulomb")])
def test_formulations_and_laws_agree(name):
    option = {"formulation": name} if name in FORMULATIONS else {"law": name}
    model, steps = mixed_arm(), 12
    assert np.abs(trace(model, steps, **option) - trace(model, steps)).max() <= 1e-8


def joint_problem(rng):
    """A contact problem of stops and dry friction at a random state of the mixed arm."""
    model = mixed_arm()
    simulator = so.Simulator(so.Scene(model), dt=5e-3)
    q = np.clip(model.random(rng), model.lower, model.upper)
    q[3], q[4] = model.upper[3], model.lower[4]
    v = rng.normal(size=model.nv)
    v[3], v[4] = 0.005, -0.005  # too slow for an impact
    return simulator.problem(so.State(q, v))


def test_rows_are_joint_rates(rng):
    problem = joint_problem(rng)
    kinds = problem.kinds
    assert sorted(problem.links[kinds == STOP, 0].tolist()) == [3, 4]
    assert problem.links[kinds == DRY, 0].tolist() == [0, 2, 3, 4]
    rows = problem.jacobian.reshape(-1, 3, 5)
    for row, kind, (k, _) in zip(rows, kinds, problem.links, strict=True):
        expected = np.zeros((3, 5))
        expected[0 if kind == STOP else 1, k] = (1.0 if k == 4 else -1.0) if kind == STOP else 1.0
        np.testing.assert_allclose(row, expected, atol=1e-12)
    np.testing.assert_allclose(
        problem.compliance,
        problem.jacobian
        @ np.linalg.solve(so.mass_matrix(problem.model, problem.q), problem.jacobian.T),
        rtol=1e-9,
        atol=1e-12,
    )


def test_rows_on_bodies_are_joint_rates(rng):
    """Also of axes inside a joint, where there is no body."""
    problem = joint_problem(rng)
    system = problem.maximal
    rates = (system.rows @ system.velocity)[system.n_hinges :]
    np.testing.assert_allclose(rates, problem.jacobian @ problem.velocity, atol=1e-12)


def test_problems_are_stored(tmp_path, rng):
    problem = joint_problem(rng)
    again = ContactProblem.load(problem.save(tmp_path / "problem.npz"))
    for item in dataclasses.fields(problem):
        if item.name != "model":
            assert np.array_equal(getattr(again, item.name), getattr(problem, item.name)), item.name
    with pytest.raises(ArgumentError, match="dry: must not be negative"):
        dataclasses.replace(problem, dry=-np.ones(problem.n_contacts))
    with pytest.raises(ArgumentError, match="kinds"):
        dataclasses.replace(problem, kinds=np.full(problem.n_contacts, 7))
    with pytest.raises(ArgumentError, match="between a link and its parent"):
        dataclasses.replace(
            problem, links=np.column_stack([problem.links[:, 0], np.full(problem.n_contacts, 3)])
        )


def test_steps_and_runs_are_the_same_bits(tmp_path):
    model, dt = mixed_arm(), 5e-3
    scene = so.Scene(
        model, state=so.State([0.28, 0.1, -0.2, 0.02, 0.1], [0.1, 0.2, -0.3, 0.4, 1.0])
    )
    record = so.Simulator(scene, dt=dt).run(duration=12 * dt)
    state, simulator = scene.state, so.Simulator(scene, dt=dt)
    for row in range(1, 13):
        state, info = simulator.step(state)
        assert np.array_equal(state.q, record.q[row])
        assert np.array_equal(state.v, record.v[row])
        assert np.array_equal(info.stop_impulses, record.stop_impulses[row])
        assert np.array_equal(info.dry_impulses, record.dry_impulses[row])
        assert len(info.contacts) == 0  # contacts are those of geoms
    again = so.load_record(record.save(tmp_path / "run.npz"))
    assert np.array_equal(again.joint_work, record.joint_work)


# ---------------------------------------------------------------------------------- effort, damping
def test_forces_are_cut_to_effort_limits():
    model = rod(axis="z", effort_limit=5.0)
    scene, still = so.Scene(model), so.State([0.0], [0.0])
    state, info = so.Simulator(scene, dt=1e-3).step(still, [100.0])
    assert state.v[0] == pytest.approx(5e-3 / INERTIA, rel=1e-12)
    assert info.clipped.tolist() == [True]
    state, info = so.Simulator(scene, dt=1e-3, clip_effort=False).step(still, [100.0])
    assert state.v[0] == pytest.approx(0.1 / INERTIA, rel=1e-12)
    assert not info.clipped.any()
    record = so.Simulator(scene, dt=1e-3).run(
        still, 0.01, controller=lambda time, state, contacts: [-6.0 * (time < 5e-3)]
    )
    assert record.summary()["effort_clipped"] == {"rod": 5}
    assert record.v[-1, 0] == pytest.approx(-5.0 * 5e-3 / INERTIA, rel=1e-9)


@pytest.mark.parametrize("damping", [0.01, 1.0, 1e2, 1e6])
@pytest.mark.parametrize("dt", [1e-3, 0.05])
def test_damping_of_one_joint_is_exact(damping, dt):
    """v' = (tau - D v) / I at any step: exponential fitting."""
    model = rod(axis="z", damping=damping)
    simulator = so.Simulator(so.Scene(model), dt=dt)
    state = so.State([0.0], [3.0])
    tau = 2.0
    for _ in range(4):
        state, _ = simulator.step(state, [tau])
    end = tau / damping
    assert state.v[0] == pytest.approx(
        end + (3.0 - end) * math.exp(-damping * 4 * dt / INERTIA), rel=1e-9
    )


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_stiff_damping_does_not_depend_on_dt(integrator):
    """Time constants down to 1e-5 s at steps of up to 10 ms.

    The creep of a damped chain, and no ringing.
    """
    builder, above = so.TreeBuilder(), "world"
    for i, damping in enumerate((50.0, 5e3, 20.0, 1e3)):
        link = so.Inertia.sphere(0.05, mass=0.5).shifted([0.15, 0.0, 0.0])
        joint = so.Joint("revolute", axis="y", damping=damping)
        builder.add_body(
            f"b{i}", parent=above, position=(0.3 * (i > 0), 0.0, 0.0), joint=joint, inertia=link
        )
        above = f"b{i}"
    scene = so.Scene(builder.build())
    start = so.State(np.zeros(4), [1.0, -1.0, 2.0, 1.0])
    ends = [
        so.Simulator(scene, dt=dt, integrator=integrator).run(start, 1.0).final
        for dt in (1e-4, 1e-3, 1e-2)
    ]
    for end in ends[1:]:
        # The start's velocities die within a step and leave its length times them behind.
        np.testing.assert_allclose(end.q, ends[0].q, atol=0.02)
        np.testing.assert_allclose(end.v, ends[0].v, atol=2e-3)
    fine = np.abs(ends[1].q - ends[0].q).max()
    assert fine < 2e-3


# -------------------------------------------------------------------------------------------- doors
def test_bad_options_are_refused():
    model = rod(lower=-0.5, upper=0.5)
    scene = so.Scene(model)
    for wrong in (-0.1, 1.5, np.nan, "much", [0.1, 0.2]):
        with pytest.raises(ArgumentError, match="stop_restitution"):
            so.Simulator(scene, stop_restitution=wrong)
    beyond = so.State([0.7], [0.0])
    with pytest.raises(
        ArgumentError, match=r"joint 'rod' is at 0.7, beyond its limits \[-0.5, 0.5\]"
    ):
        so.Simulator(scene).step(beyond)
    state, _ = so.Simulator(scene, joint_limits=False).step(beyond)
    assert state.q[0] > 0.6
    with pytest.raises(ModelError, match="limits belong to joint coordinates"):
        maximal_scene(scene)


# -------------------------------------------------------------------------------------- real robots
ROBOTS = ("panda", "ur5_robot", "icub_reduced", "kinova", "solo12", "hyq")


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("name", ROBOTS)
def test_robots_swing_into_their_stops(name):
    paths = [path for found, path in files_of(example_robots(), "urdf") if name in found]
    if not paths:
        pytest.skip(f"example-robot-data has no {name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scene = so.load_scene(paths[0], strict=False, self_collision=False)
    model, v = scene.model, np.full(scene.model.nv, 2.0)
    limited = np.isfinite(model.lower) & np.isfinite(model.upper)
    q = np.where(
        limited, np.maximum(model.upper - 0.01, model.lower), 0.0
    )  # on a fixed base nq is nv
    record = so.Simulator(scene, dt=1e-3).run(so.State(q, v), 1.0)
    summary = record.summary()
    assert summary["joints_stopped"]
    assert summary["penetration_max"] <= 1e-3
    assert summary["residual_max"] <= 1e-9
    assert (record.q <= model.upper + 1e-3).all()
    assert (record.q >= model.lower - 1e-3).all()


def test_mujoco_comes_to_rest_near():
    """Its stops and friction are soft: near, not the same."""
    mujoco = pytest.importorskip("mujoco")
    xml = """<mujoco><option timestep="0.001"/><worldbody><body>
    <joint type="hinge" axis="0 1 0" limited="true" range="-0.5 1.0" frictionloss="0.5"/>
    <inertial pos="0.5 0 0" mass="2" diaginertia="0.008 0.008 0.008"/></body>
    </worldbody><compiler angle="radian"/></mujoco>"""
    theirs = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(theirs)
    mujoco.mj_step(theirs, data, 1000)
    ours = (
        so.Simulator(so.Scene(rod(lower=-0.5, upper=1.0, dry_friction=0.5)), dt=1e-3)
        .run(duration=1.0)
        .final
    )
    assert data.qpos[0] == pytest.approx(ours.q[0], abs=0.02)
    assert abs(data.qvel[0]) < 1e-2
