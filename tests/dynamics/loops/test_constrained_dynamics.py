"""Constrained dynamics against dense algebra and Pinocchio, redundant rows, closing, forces."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import spatialops as so
from spatialops.dynamics.loops.elimination import TOLERANCE
from spatialops.errors import ArgumentError, ModelError
from tests.support.loops import KINDS, onto, random_loops
from tests.support.trees import random_tree, relative_error


def dense(model, loops, q, v, tau):
    """Accelerations of the dense saddle-point problem [J] 31, and G."""
    G, step = so.loop_jacobian(model, loops, q), 1e-4
    at = [so.integrate(model, q, c * step * v) for c in (-2.0, -1.0, 1.0, 2.0)]
    rates = [so.loop_jacobian(model, loops, x) @ v for x in at]
    drift = (rates[0] - 8.0 * rates[1] + 8.0 * rates[2] - rates[3]) / (12.0 * step)
    n = model.nv
    K = np.block([[so.mass_matrix(model, q), -G.T], [G, np.zeros((len(G), len(G)))]])
    right = np.concatenate([tau - so.bias(model, q, v), -drift])
    return np.linalg.lstsq(K, right, rcond=1e-11)[0][:n], G


@given(seed=st.integers(0, 2**32 - 1))
def test_against_the_dense_problem(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(2, 9)))
    q, tau = model.random(rng), rng.normal(size=model.nv)
    loops = random_loops(rng, model, q, int(rng.integers(1, 4)))
    assume(loops.n_rows)
    v = onto(so.loop_jacobian(model, loops, q), rng.normal(size=model.nv))
    found = so.constrained_dynamics(model, loops, q, v, tau)
    expected, G = dense(model, loops, q, v, tau)
    scale = 1.0 + np.abs(found.accelerations).max()
    singular = np.linalg.svd(G, compute_uv=False)
    if (
        singular[singular > 1e-10 * singular[0]].min() > 1e-3
    ):  # else differences of rates are not good enough
        assert np.allclose(found.accelerations, expected, atol=1e-5 * scale)
    # The equation of motion holds with the multipliers, whatever they are ...
    residual = so.inverse_dynamics(model, q, v, found.accelerations) - tau - G.T @ found.multipliers
    assert np.abs(residual).max() < 1e-9 * (scale + np.abs(found.multipliers).max())
    # ... they do no work (D'Alembert) ...
    assert abs(found.multipliers @ (G @ v)) < 1e-10 * (1.0 + np.abs(found.multipliers).max())
    # ... and are the smallest: nothing of them lies where rows are redundant.
    null = np.linalg.svd(G.T)[2][found.rank :]
    assert np.abs(null @ found.multipliers).max(initial=0.0) < 1e-7 * (
        1.0 + np.abs(found.multipliers).max()
    )
    assert found.rank == np.linalg.matrix_rank(G, 1e-9 * singular[0])
    assert len(found.redundant) == loops.n_rows - found.rank


def test_power_balance(rng):
    """Kinetic and potential energy change by the power of tau: closures add none."""
    model = random_tree(rng, 7, kinds=("revolute", "ball", "free"), armature=False)
    q, tau = model.random(rng), rng.normal(size=model.nv)
    loops = random_loops(rng, model, q, 3)
    v = onto(so.loop_jacobian(model, loops, q), rng.normal(size=model.nv))
    a = so.constrained_dynamics(model, loops, q, v, tau).accelerations

    def total(t):
        return so.energy(model, so.integrate(model, q, t * v + 0.5 * t * t * a), v + t * a).total

    h = 1e-4
    rate = (total(-2 * h) - 8.0 * total(-h) + 8.0 * total(h) - total(2 * h)) / (12.0 * h)
    assert rate == pytest.approx(tau @ v, rel=1e-6, abs=1e-6)


def test_doubled_closures_are_redundant_and_share_the_force(rng):
    four_bar = so.models.four_bar()
    model = four_bar.model
    q = four_bar.state.q
    loop = four_bar.loops.items[0]
    pin = so.Loop(
        kind="ball",
        a=loop.a,
        b=loop.b,
        position_a=loop.position_a,
        position_b=loop.position_b,
        name="one",
    )
    twin = so.Loop(
        kind="ball",
        a=loop.a,
        b=loop.b,
        position_a=loop.position_a,
        position_b=loop.position_b,
        name="two",
    )
    v, tau = np.zeros(model.nv), rng.normal(size=model.nv)
    one = so.constrained_dynamics(model, pin, q, v, tau)
    two = so.constrained_dynamics(model, [pin, twin], q, v, tau)
    assert (one.rank, two.rank) == (2, 2)
    assert one.redundant == ("one: y",)
    assert two.redundant == ("one: y", "two: x", "two: y", "two: z")
    assert np.allclose(two.accelerations, one.accelerations, atol=1e-10)
    assert np.allclose(two.multipliers, 0.5 * np.tile(one.multipliers, 2), atol=1e-10)


def test_redundancy_does_not_depend_on_units():
    """A mechanism of ants and one of whales."""
    for size in (1e-3, 1e3):
        linkage = so.models.bricard(size)
        found = so.constrained_dynamics(
            linkage.model, linkage.loops, linkage.state.q, linkage.state.v, np.zeros(5)
        )
        assert found.rank == 4
        assert len(found.redundant) == 1


def test_a_rank_near_the_limit():
    """Two distances at a small angle are two rows down to an angle of about TOLERANCE."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body("a", joint="free", inertia=so.Inertia.sphere(0.1, mass=1.0))
    model = builder.build()
    for angle, rank in ((1e-2, 2), (100.0 * TOLERANCE, 2), (0.01 * TOLERANCE, 1)):
        tilted = (np.cos(angle), np.sin(angle), 0.0)
        loops = [
            so.Loop(kind="distance", a="a", distance=1.0, position_b=p, name=str(p))
            for p in ((1, 0, 0), tilted)
        ]
        assert (
            so.constrained_dynamics(model, loops, model.neutral(), np.zeros(6), np.zeros(6)).rank
            == rank
        )


def test_forces_of_a_hanging_body():
    """A bar on two rods: each carries half of its weight; a welded one all of it and the moment."""
    builder = so.TreeBuilder()
    builder.add_body("bar", joint="free", inertia=so.Inertia.box((1.0, 0.1, 0.1), mass=2.0))
    model = builder.build()
    q, rest = model.neutral(), np.zeros(6)
    rods = [
        so.Loop(
            kind="distance",
            a="bar",
            position_a=(x, 0.0, 0.0),
            position_b=(x, 0.0, 1.0),
            distance=1.0,
            name=f"{x}",
        )
        for x in (-0.4, 0.4)
    ]
    loops = so.Loops(model, rods)
    found = so.constrained_dynamics(model, loops, q, rest, rest)
    wrenches = so.loop_forces(model, loops, q, found.multipliers)
    assert np.allclose(wrenches[:, 3:], [[0.0, 0.0, 9.81]] * 2, atol=1e-12)
    weld = so.Loops(model, [so.loop_at(model, q, "weld", "bar", point=(0.5, 0.0, 0.0))])
    found = so.constrained_dynamics(model, weld, q, rest, rest)
    assert np.allclose(found.accelerations, 0.0, atol=1e-12)
    # At the node, half a metre beside the weight: force up, and the moment that keeps the bar from
    # dropping.
    assert np.allclose(
        so.loop_forces(model, weld, q, found.multipliers)[0], [0, 9.81, 0, 0, 0, 19.62], atol=1e-10
    )


def test_external_forces_and_torques_enter(rng):
    model = random_tree(rng, 5, kinds=("revolute", "ball"))
    q = model.random(rng)
    loops = random_loops(rng, model, q, 1, kinds=("distance",))
    v = onto(so.loop_jacobian(model, loops, q), rng.normal(size=model.nv))
    tau, wrench = rng.normal(size=model.nv), rng.normal(size=(model.n_bodies, 6))
    found = so.constrained_dynamics(model, loops, q, v, tau, wrench)
    residual = so.inverse_dynamics(model, q, v, found.accelerations, wrench) - tau
    assert np.allclose(residual, so.loop_jacobian(model, loops, q).T @ found.multipliers, atol=1e-9)


def test_prescribed_accelerations():
    """A motor that speeds up at 3 rad/s^2 needs the torque of that."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(
        "wheel",
        joint=so.Joint("revolute", axis="z"),
        inertia=so.Inertia.cylinder(0.2, 0.1, mass=2.0),
    )
    model = builder.build()
    motor = so.Loop(kind="coupler", joints={"wheel": 1.0}, rate=lambda t: 3.0 * t)
    found = so.constrained_dynamics(model, motor, [0.0], [6.0], [0.0], t=2.0)
    assert found.accelerations == pytest.approx([3.0], rel=1e-9)
    assert found.multipliers == pytest.approx([3.0 * 0.04], rel=1e-9)


# ------------------------------------------------------------------------------------------ closing


@given(seed=st.integers(0, 2**32 - 1))
def test_closing_finds_what_was_closed(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(2, 8)))
    closed = model.random(rng)
    loops = random_loops(rng, model, closed, 2)
    start = so.integrate(model, closed, 0.02 * rng.normal(size=model.nv))
    q, v = so.close_loops(model, loops, start, rng.normal(size=model.nv))
    assert np.abs(so.loop_errors(model, loops, q)).max(initial=0.0) <= 1e-12
    assert np.abs(so.loop_velocities(model, loops, q, v)).max(initial=0.0) < 1e-9
    assert np.abs(so.difference(model, start, q)).max() < 5.0


def test_velocities_are_the_nearest_in_the_metric_of_m(rng):
    model = random_tree(rng, 6, kinds=("revolute", "ball"))
    q = model.random(rng)
    loops, v = random_loops(rng, model, q, 1, kinds=("distance",)), rng.normal(size=model.nv)
    _, near = so.close_loops(model, loops, q, v)
    G, M = so.loop_jacobian(model, loops, q), so.mass_matrix(model, q)
    expected = v - np.linalg.solve(M, G.T @ np.linalg.solve(G @ np.linalg.solve(M, G.T), G @ v))
    assert relative_error(near, expected) < 1e-9


def test_held_joints_stay():
    four_bar = so.models.four_bar()
    model = four_bar.model
    start, v = four_bar.state.q + 0.2, np.full(model.nv, 2.0)
    q, v = so.close_loops(model, four_bar.loops, start, v, hold=["crank"])
    at = model.v_slice("crank")
    assert q[at] == pytest.approx(start[at], abs=1e-12)
    assert v[at] == pytest.approx([2.0], abs=1e-12)
    assert np.abs(so.loop_errors(model, four_bar.loops, q)).max() <= 1e-12


def test_a_long_light_chain_is_closed():
    """Its tip, a few grams, would move first: the change is shared out among sixty joints."""
    builder, n = so.TreeBuilder(), 60
    link = so.Inertia.capsule(0.01, 0.08, mass=0.1).shifted((0.0, 0.0, -0.05))
    for i in range(n):
        place = (0.0, 0.0, -0.1 if i else 0.0)
        builder.add_body(
            f"b{i}",
            parent=f"b{i - 1}" if i else "world",
            joint="ball",
            inertia=link,
            position=place,
        )
    model = builder.build()
    q = np.tile([0.0, -np.sin(0.015), 0.0, np.cos(0.015)], n)
    end = so.Loop(
        kind="ball", a=f"b{n - 1}", position_a=(0.0, 0.0, -0.1), position_b=(3.0, 0.0, 0.0)
    )
    assert np.abs(so.loop_errors(model, end, q)).max() > 1.0
    q = so.close_loops(model, end, q)
    assert np.abs(so.loop_errors(model, end, q)).max() <= 1e-12


def test_what_cannot_be_closed_is_said():
    four_bar = so.models.four_bar()
    loop = four_bar.loops.items[0]
    far = so.Loop(
        kind="ball",
        a=loop.a,
        b="world",
        position_a=loop.position_a,
        position_b=(9.0, 0, 0),
        name="too far",
    )
    with pytest.raises(ModelError, match="too far: x"):
        so.close_loops(four_bar.model, far, four_bar.state.q)
    held = {"hold": ["crank", "rocker", "elbow"]}
    with pytest.raises(ModelError, match="cannot be closed"):
        so.close_loops(four_bar.model, four_bar.loops, four_bar.state.q + 0.1, **held)
    with pytest.raises(ModelError, match="no velocities fit"):
        so.close_loops(four_bar.model, four_bar.loops, four_bar.state.q, [1.0, 2.0, 3.0], **held)


def test_wrong_arguments():
    four_bar, other = so.models.four_bar(), so.models.four_bar()
    q = four_bar.state.q
    with pytest.raises(ArgumentError, match="another model"):
        so.loop_errors(four_bar.model, other.loops, q)
    with pytest.raises(ArgumentError, match="q: expected shape"):
        so.loop_jacobian(four_bar.model, four_bar.loops, q[:2])
    with pytest.raises(ArgumentError, match="q: holds NaN"):
        so.loop_jacobian(four_bar.model, four_bar.loops, q * np.nan)
    with pytest.raises(ArgumentError, match="v: holds NaN"):
        so.constrained_dynamics(four_bar.model, four_bar.loops, q, q * np.nan, q)
    with pytest.raises(ArgumentError, match="multipliers"):
        so.loop_forces(four_bar.model, four_bar.loops, q, [1.0])


# --------------------------------------------------------------------------------------- references


def _pinocchio_four_bar(pin):
    """The same four-bar in Pinocchio, its knee held in three directions."""
    model = pin.Model()
    hinge = pin.JointModelRY()
    rods = {"crank": 0.3, "rocker": 0.6, "elbow": 0.8}
    places = {
        "crank": (0, (0.0, 0.0, 1.0)),
        "rocker": (0, (0.9, 0.0, 1.0)),
        "elbow": (1, (0.3, 0.0, 0.0)),
    }
    ids = {}
    for name in ("crank", "elbow", "rocker"):  # depth first, as Pinocchio wants it
        parent, place = places[name]
        parent = ids["crank"] if parent else 0
        ids[name] = model.addJoint(parent, hinge, pin.SE3(np.eye(3), np.array(place)), name)
        inertia = so.Inertia.box((rods[name], 0.05, 0.05), mass=rods[name])
        middle = np.array([0.5 * rods[name], 0.0, 0.0])
        model.appendBodyToJoint(
            ids[name], pin.Inertia(inertia.mass, middle, inertia.tensor), pin.SE3.Identity()
        )
    knee = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D,
        model,
        ids["elbow"],
        pin.SE3(np.eye(3), np.array([0.8, 0.0, 0.0])),
        ids["rocker"],
        pin.SE3(np.eye(3), np.array([0.6, 0.0, 0.0])),
    )
    return model, knee


def test_against_pinocchio(rng):
    pin = pytest.importorskip("pinocchio")
    linkage = so.models.four_bar()
    model, loop = linkage.model, linkage.loops.items[0]
    assert set(model.joint_names) == {"crank", "rocker", "elbow"}
    theirs, knee = _pinocchio_four_bar(pin)
    order = [model.v_slice(name).start for name in list(theirs.names)[1:]]
    q, v = so.close_loops(model, linkage.loops, linkage.state.q, rng.normal(size=3), hold=["crank"])
    tau = rng.normal(size=3)
    knees = pin.StdVec_RigidConstraintModel()
    knee_data = pin.StdVec_RigidConstraintData()
    data = theirs.createData()
    knees.append(knee)
    knee_data.append(knee.createData())
    pin.initConstraintDynamics(theirs, data, knees, knee_data)
    settings = pin.ProximalSettings(1e-14, 1e-10, 100)
    a = pin.constraintDynamics(
        theirs, data, q[order], v[order], tau[order], knees, knee_data, settings
    )
    ours = so.constrained_dynamics(model, linkage.loops, q, v, tau)
    assert relative_error(ours.accelerations[order], a) < 1e-7
    assert loop.kind == "revolute"


def test_kinds_are_all_tried():
    assert set(KINDS) == {"ball", "weld", "revolute", "prismatic", "distance", "coupler"}
