"""Derivatives of steps where boxes, hulls, capsules, cylinders and surfaces touch."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import spatialops as so
from spatialops.collision import ShapePair
from tests.simulation.linearization.test_linearize import EXACT, check

BARS = (1e-8, 1e-6, 1e-3)
BOX = so.Box((0.4, 0.3, 0.2))
CAPSULE = so.Capsule(0.07, 0.4)
HULL = so.ConvexHull(np.random.default_rng(3).normal(size=(14, 3)) * 0.2)
PAIRS = {
    "boxes": (BOX, so.Box((0.3, 0.5, 0.25))),
    "hull on box": (HULL, BOX),
    "capsules": (CAPSULE, so.Capsule(0.1, 0.4)),
    "capsule on box": (CAPSULE, BOX),
    "ball on capsule": (so.Sphere(0.1), CAPSULE),
    "ball on box": (so.Sphere(0.1), BOX),
    "box on hull": (BOX, HULL),
}

ROUND = {"balls": (so.Sphere(0.1), so.Sphere(0.2))}


def two_bodies(a, b, gap, **touch):
    """Two free bodies in space, A against B from anywhere; the normal in A's axes; a generator."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    for name in "ab":
        inertia = so.Inertia.box((0.2, 0.3, 0.4), mass=1.5)
        builder.add_body(name, joint=so.Joint("free"), inertia=inertia)
    scene = so.Scene(
        builder.build(), [so.Geom("a", "a", a, **touch), so.Geom("b", "b", b, **touch)]
    )
    rng = np.random.default_rng(3)
    turn = Rotation.random(random_state=rng)
    way = rng.normal(size=3)
    pair = ShapePair(a, b)
    low, high = 0.0, 3.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        near = pair.separation(middle * way, turn.as_matrix())
        low, high = (low, middle) if near.distance > gap else (middle, high)
    whole = Rotation.from_rotvec([0.3, -0.2, 0.5])
    place, normal = high * way, pair.separation(high * way, turn.as_matrix()).normal
    own = whole * turn
    q = np.concatenate([whole.apply(place), own.as_quat(), np.zeros(3), whole.as_quat()])
    return scene, q, own.inv().apply(whole.apply(normal)), rng


def meeting(q, normal, rng, closing):
    """A state in which A slides along B, and a force that presses it."""
    v, tau = 1e-2 * rng.normal(size=12), np.zeros(12)
    v[3:6] += np.cross(normal, [0.2, 0.1, -0.1]) - closing * normal
    tau[3:6] = -5.0 * normal
    return so.State(q, v), tau


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit", "rk4"])
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("friction", [0.4, 3.0])
def test_two_bodies_that_slide_or_stick(pair, integrator, friction):
    scene, q, normal, rng = two_bodies(*PAIRS[pair], -1e-6, friction=friction)
    state, tau = meeting(q, normal, rng, 4e-3)
    simulator = so.Simulator(scene, dt=1e-3, integrator=integrator, time=EXACT)
    assert check(simulator, state, tau, BARS).statuses


@pytest.mark.compiled
@pytest.mark.parametrize("pair", ["boxes", "capsule on box"])
@pytest.mark.parametrize("friction", [0.4, 3.0])
@pytest.mark.parametrize("law", ["cone", "convex", "max-dissipation", "no-slip", "viscous"])
def test_two_bodies_under_every_law(pair, law, friction):
    scene, q, normal, rng = two_bodies(*PAIRS[pair], -1e-6, friction=friction)
    state, tau = meeting(q, normal, rng, 4e-3)
    check(so.Simulator(scene, dt=1e-3, law=law, time=EXACT), state, tau, BARS)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit", "rk4"])
@pytest.mark.parametrize("pair", ["boxes", "hull on box", "capsule on box"])
@pytest.mark.parametrize(("restitution", "gap"), [(0.5, -1e-7), (0.5, 2e-5), (0.0, 2e-5)])
def test_two_bodies_that_strike(pair, integrator, restitution, gap):
    touch = {"friction": 0.4, "restitution": restitution}
    scene, q, normal, rng = two_bodies(*PAIRS[pair], gap, **touch)
    state, tau = meeting(q, normal, rng, 0.3)
    check(so.Simulator(scene, dt=1e-3, integrator=integrator, time=EXACT), state, tau, BARS)


@pytest.mark.compiled
@pytest.mark.parametrize("pair", [*ROUND, "ball on capsule", "ball on box"])
@pytest.mark.parametrize("friction", [0.4, 100.0])
@pytest.mark.parametrize(("torsion", "rolling"), [(2e-3, 0.0), (0.0, 1e-3), (2e-3, 1e-3)])
def test_moments_at_their_limits_beside_what_slides_or_sticks(pair, friction, torsion, rolling):
    """They follow what presses along the normal as it turns."""
    touch = {"friction": friction, "torsion": torsion, "rolling": rolling}
    scene, q, normal, rng = two_bodies(*{**PAIRS, **ROUND}[pair], -1e-6, **touch)
    state, tau = meeting(q, normal, rng, 4e-3)
    v = state.v.copy()
    v[:3] += np.array([1.0, 2.0, 3.0])
    if friction > 1.0:
        v[3:6] -= 0.9 * np.cross(normal, [0.2, 0.1, -0.1])
    tau[3:6] *= 40.0
    simulator = so.Simulator(scene, dt=1e-3, integrator="semi-implicit", time=EXACT)
    found = check(simulator, so.State(q, v), tau, BARS)
    assert found.statuses == ("sticking" if friction > 1.0 else "sliding",)


GROUNDS = {
    "floor": (so.HalfSpace(), 0.0),
    "table": (so.Box((1.0, 1.0, 0.1)), 0.05),
    "field": (so.HeightField(np.zeros((4, 4)), (2.0, 2.0)), 0.0),
}


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("tilt", [(0.0, 0.0), (1e-4, 0.0), (1e-4, 2e-4)])
def test_a_box_that_slides_on_a_face_an_edge_or_a_corner(ground, integrator, tilt):
    """Its points have a plane in common, and friction pushes there."""
    shape, height = GROUNDS[ground]
    builder = so.TreeBuilder()
    inertia = so.Inertia.box((0.2, 0.2, 0.2), mass=1.0)
    builder.add_body("box", joint=so.Joint("free"), inertia=inertia)
    geoms = [so.Geom("box", "box", so.Box((0.2, 0.2, 0.2)), friction=0.2)]
    geoms.append(so.Geom("ground", "world", shape, friction=0.2))
    turn = Rotation.from_rotvec([*tilt, 0.3 if tilt[1] else 0.0])
    low = 0.1 * np.abs(turn.as_matrix()[2]).sum()
    q = np.array([0.01, 0.02, height + low - 1e-7, *turn.as_quat()])
    v = np.array([0.0, 0.0, 0.1 if tilt[0] else 0.0, 0.3, 0.1, -2e-3])
    simulator = so.Simulator(
        so.Scene(builder.build(), geoms), dt=1e-3, integrator=integrator, time=EXACT
    )
    found = check(simulator, so.State(q, v), np.zeros(6), BARS)
    assert "sliding" in found.statuses


@pytest.mark.compiled
@pytest.mark.parametrize("thing", [so.Box((0.06, 0.08, 0.1)), so.Capsule(0.03, 0.06)])
@pytest.mark.parametrize("friction", [0.1, 1.0])
def test_a_gripper_with_flat_pads(thing, friction):
    """Two pads that turn a little press a thing; it slips, or sticks."""
    builder = so.TreeBuilder()
    pad = so.Inertia.box((0.02, 0.05, 0.05), mass=0.2)
    for name in ("left", "right"):
        slide = so.Joint("prismatic", axis="x")
        builder.add_body(name + " slide", joint=slide, inertia=pad)
        hinge = so.Joint("revolute", axis="y")
        builder.add_body(name, parent=name + " slide", joint=hinge, inertia=pad)
    inertia = so.Inertia.box((0.06, 0.08, 0.1), mass=0.3)
    builder.add_body("thing", joint=so.Joint("free"), inertia=inertia)
    geoms = [
        so.Geom(name, name, so.Box((0.02, 0.05, 0.05)), friction=friction)
        for name in ("left", "right")
    ]
    geoms.append(so.Geom("thing", "thing", thing, friction=friction))
    scene = so.Scene(builder.build(), geoms)
    turn = Rotation.from_rotvec([0.02, 0.01, 0.03])
    pads = []
    for side in (-1.0, 1.0):
        pair = ShapePair(so.Box((0.02, 0.05, 0.05)), thing)
        low, high = 0.0, 0.2
        rotation = (turn.inv() * Rotation.from_rotvec([0.0, 0.005 * side, 0.0])).as_matrix()
        for _ in range(60):
            middle = 0.5 * (low + high)
            place = turn.inv().apply([side * middle, 0.0, 0.0])
            apart = pair.separation(place, rotation).distance > -1e-6
            low, high = (low, middle) if apart else (middle, high)
        pads += [side * high, 0.005 * side]
    q = np.array([*pads, 0.0, 0.0, 0.0, *turn.as_quat()])
    v = np.array([2e-3, 0.0, -2e-3, 0.0, 0.01, 0.02, -0.01, 0.0, 0.01, -0.05])
    tau = np.zeros(10)
    tau[0], tau[2] = 8.0, -8.0
    tau[[1, 3]] = 0.01, -0.01
    simulator = so.Simulator(scene, dt=1e-3, integrator="semi-implicit", time=EXACT)
    found = check(simulator, so.State(q, v), tau, BARS)
    assert len(found.statuses) >= 2


def test_a_rollout_of_a_box_on_its_edge():
    builder = so.TreeBuilder()
    inertia = so.Inertia.box((0.2, 0.2, 0.2), mass=1.0)
    builder.add_body("box", joint=so.Joint("free"), inertia=inertia)
    geoms = [so.Geom("box", "box", so.Box((0.2, 0.2, 0.2)), friction=0.6)]
    geoms.append(so.Geom("table", "world", so.Box((1.0, 1.0, 0.1)), friction=0.6))
    turn = Rotation.from_rotvec([0.02, 0.3, 0.1])
    low = 0.1 * np.abs(turn.as_matrix()[2]).sum()
    state = so.State(np.array([0.0, 0.0, 0.05 + low - 1e-7, *turn.as_quat()]), np.zeros(6))
    simulator = so.Simulator(so.Scene(builder.build(), geoms), dt=1e-3, time=EXACT)
    state, _ = simulator.step(state)  # from rest slips may begin any way
    rollout = simulator.linearize_rollout(state, np.zeros((15, 6)))
    change = np.random.default_rng(0).normal(size=6)
    found = rollout.jvp(np.zeros(6), change).v[-1]

    def end(s):
        at = so.State(state.q, state.v + s * change)
        for _ in range(15):
            at, _ = simulator.step(at)
        return at.v

    h = 1e-5
    f = [end(bar * h) for bar in (-2.0, -1.0, 1.0, 2.0)]
    expected = (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * h)
    assert np.abs(found - expected).max() < 1e-6 * np.abs(expected).max()


def test_what_lies_on_a_face_is_named():
    builder = so.TreeBuilder()
    inertia = so.Inertia.box((0.2, 0.2, 0.2), mass=1.0)
    builder.add_body("box", joint=so.Joint("free"), inertia=inertia)
    cube = so.Box((0.2, 0.2, 0.2))
    geoms = [so.Geom("box", "box", cube), so.Geom("block", "world", cube)]
    state = so.State(np.array([0.03, 0.0, 0.2, 0.0, 0.0, 0.0, 1.0]), np.zeros(6))
    found = so.Simulator(so.Scene(builder.build(), geoms), dt=1e-3).linearize(state)
    assert any("lies on an edge or face" in note for note in found.switching)
