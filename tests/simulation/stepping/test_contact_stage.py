"""Bodies with faces in the stepping loop: rest, slide, tip, fall, and never pass through."""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import spatialops as so
from spatialops.bench.contacts.engines import Ours
from spatialops.bench.contacts.mechanisms import chain_on_balls
from spatialops.bench.sizes import waves
from spatialops.collision import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightField,
    Mesh,
    Sphere,
    shape_inertia,
)
from spatialops.contact.delassus import contact_rows
from spatialops.contact.rows import SparseRows
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.adapter import load_state

G = 9.81
SIX = [(0.2 * np.cos(a), 0.2 * np.sin(a), z) for a in np.arange(6) * np.pi / 3 for z in (-0.2, 0.2)]
BOX = Box((0.4, 0.4, 0.4))
CYLINDER = Cylinder(0.2, 0.4)
HULL = ConvexHull(SIX)
LYING = Rotation.from_euler("y", 90, degrees=True).as_quat()


def mesh_floor():
    """A flat floor of triangles of all shapes, with more detail towards the middle."""
    rng = np.random.default_rng(5)
    x = np.sort(np.concatenate([[-2.0, 2.0], rng.uniform(-1.0, 1.0, 7)]))
    vertices = np.array([(a, b, 0.0) for a in x for b in x])
    faces = []
    for i, j in itertools.product(range(8), range(8)):
        a = 9 * i + j
        b = 9 * (i + 1) + j
        c = 9 * (i + 1) + j + 1
        d = 9 * i + j + 1
        faces += [(a, b, c), (a, c, d)] if (i + j) % 2 else [(a, b, d), (b, c, d)]
    return Mesh(vertices, faces)


def scene_of(
    bodies, ground=None, *, friction=0.6, restitution=0.0, gravity=(0.0, 0.0, -G), velocities=None
):
    """Free bodies: (shape, position) or (shape, position, quaternion), on ground at the origin."""
    builder = so.TreeBuilder(gravity=gravity)
    geoms = []
    q = []
    for i, (shape, position, *turn) in enumerate(bodies):
        builder.add_body(f"b{i}", joint=so.Joint("free"), inertia=shape_inertia(shape, 500.0))
        geoms.append(so.Geom(f"g{i}", f"b{i}", shape, friction=friction, restitution=restitution))
        q += [*position, *(turn[0] if turn else (0.0, 0.0, 0.0, 1.0))]
    if ground is not None:
        geoms.append(so.Geom("ground", "world", ground, friction=friction, restitution=restitution))
    model = builder.build()
    v = (
        np.zeros(model.nv)
        if velocities is None
        else np.asarray(velocities, dtype=np.float64).ravel()
    )
    return so.Scene(model, geoms, state=so.State(np.array(q), v))


GROUNDS = {"plane": HalfSpace(), "mesh": mesh_floor()}
STACKS = {
    "box": [(BOX, (0.1, 0.2, 0.2))],
    "cylinder": [(CYLINDER, (0.1, 0.2, 0.2))],
    "hull": [(HULL, (0.1, 0.2, 0.2))],
    "cone": [(Cone(0.2, 0.4), (0.1, 0.2, 0.2))],
    "capsule, lying": [(Capsule(0.1, 0.3), (0.1, 0.2, 0.1), LYING)],
    "cylinder, lying": [(CYLINDER, (0.1, 0.2, 0.2), LYING)],
    "box, cylinder, hull": [
        (BOX, (0.1, 0.2, 0.2)),
        (CYLINDER, (0.1, 0.2, 0.6)),
        (HULL, (0.1, 0.2, 1.0)),
    ],
    "hull, box, cylinder": [
        (HULL, (0.1, 0.2, 0.2)),
        (BOX, (0.1, 0.2, 0.6)),
        (CYLINDER, (0.1, 0.2, 1.0)),
    ],
    "five boxes": [(BOX, (0.1, 0.2, 0.2 + 0.4 * i)) for i in range(5)],
}


def rests(stack, ground, duration):
    scene = scene_of(STACKS[stack], GROUNDS[ground])
    record = so.Simulator(scene, dt=1e-3, certify="raise").run(duration=duration, record_every=5)
    assert np.abs(record.v).max() < 1e-6
    assert np.abs(record.q[-1] - record.q[0]).max() < 1e-6
    assert record.penetrations.max() < 1e-6
    assert record.metadata["warm_started"] > 0.9 * record.metadata["contact_problems"]


@pytest.mark.compiled
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("stack", STACKS)
def test_what_rests_stays(stack, ground):
    rests(stack, ground, 2.0)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("stack", STACKS)
def test_what_rests_stays_for_a_minute(stack, ground):
    rests(stack, ground, 60.0)


def on_slope(degrees, shape, height, friction):
    """A body on a plane tilted about y, and the direction downhill."""
    a = np.radians(degrees)
    normal, turn = (
        np.array([np.sin(a), 0.0, np.cos(a)]),
        Rotation.from_rotvec([0.0, a, 0.0]).as_quat(),
    )
    scene = scene_of([(shape, 0.5 * height * normal, turn)], HalfSpace(normal), friction=friction)
    return scene, np.array([np.cos(a), 0.0, -np.sin(a)])


@pytest.mark.compiled
@pytest.mark.parametrize("shape", [Box((0.4, 0.3, 0.2)), Cylinder(0.2, 0.2)])
def test_a_body_slides_with_the_friction_it_was_given(shape):
    scene, downhill = on_slope(30.0, shape, 0.2, 0.3)
    record = so.Simulator(scene, dt=1e-3).run(duration=0.5)
    travelled = (record.q[-1, :3] - record.q[0, :3]) @ downhill
    expected = 0.5 * G * (np.sin(np.pi / 6) - 0.3 * np.cos(np.pi / 6)) * 0.5**2
    assert travelled == pytest.approx(expected, rel=5e-3)
    assert np.abs(record.q[:, 4] - record.q[0, 4]).max() < 1e-6  # without turning


@pytest.mark.compiled
@pytest.mark.parametrize(("degrees", "tips"), [(25.0, False), (28.0, True)])
def test_a_tall_box_tips_where_its_weight_passes_its_edge(degrees, tips):
    """Width 0.2, height 0.4: over atan(1/2) = 26.57 degrees."""
    scene, _ = on_slope(degrees, Box((0.2, 0.2, 0.4)), 0.4, 2.0)
    record = so.Simulator(scene, dt=1e-3).run(duration=0.5)
    assert (np.abs(record.v[-1, 1]) > 0.1) == tips


@pytest.mark.compiled
@pytest.mark.parametrize("ground", GROUNDS)
def test_bodies_that_fall_never_gain_energy(ground):
    rng = np.random.default_rng(11)
    shapes = [
        BOX,
        CYLINDER,
        HULL,
        Cone(0.2, 0.4),
        Capsule(0.1, 0.3),
        Ellipsoid((0.2, 0.15, 0.1)),
        Sphere(0.2),
    ]
    turns = Rotation.random(len(shapes), random_state=rng).as_quat()
    bodies = [
        (s, (*rng.uniform(-0.15, 0.15, 2), 0.5 + 0.5 * i), turns[i]) for i, s in enumerate(shapes)
    ]
    record = so.Simulator(scene_of(bodies, GROUNDS[ground], restitution=0.2), dt=1e-3).run(
        duration=1.5
    )
    rises = np.diff(record.energy)
    assert rises.max() < 2e-3 * record.energy[0]  # forces of a step are taken at its middle
    assert record.energy[-1] < 0.7 * record.energy[0]
    assert record.penetrations.max() < 1e-3


@pytest.mark.compiled
def test_a_ball_rolls_through_waves_without_leaving_them():
    x = np.linspace(-2.0, 2.0, 41)
    field = HeightField(0.05 * np.cos(np.pi * x)[:, None] + np.zeros(41), (4.0, 4.0))
    scene = scene_of([(Sphere(0.2), (-0.5, 0.0, 0.25))], field, friction=0.5)
    record = so.Simulator(scene, dt=1e-3).run(duration=2.0)
    assert record.penetrations.max() < 1e-4
    assert np.all(record.q[:, 2] > 0.1)
    assert np.diff(record.energy).max() < 1e-4 * abs(record.energy[0])


@pytest.mark.compiled
@pytest.mark.parametrize("speed", [30.0, 200.0])
def test_a_fast_body_does_not_pass_through_a_thin_one(speed):
    plate = so.Geom("plate", "world", Box((0.01, 2.0, 2.0)), restitution=0.5)
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(
        "bullet", joint=so.Joint("free"), inertia=shape_inertia(Box((0.02, 0.02, 0.02)), 1000.0)
    )
    model = builder.build()
    q, v = model.neutral(), np.zeros(6)
    q[0], v[3] = -1.0, speed
    geoms = [so.Geom("bullet", "bullet", Box((0.02, 0.02, 0.02)), restitution=0.5), plate]
    record = so.Simulator(so.Scene(model, geoms, state=so.State(q, v)), dt=1e-3).run(duration=0.08)
    assert record.q[:, 0].max() <= -0.015 + 1e-6
    assert record.v[-1, 3] == pytest.approx(-0.5 * speed, rel=1e-6)


def test_masks_and_pairs():
    shapes = [so.Geom(f"g{i}", f"b{i}", BOX, group=1 << i, collides_with=4) for i in range(3)]
    builder = so.TreeBuilder()
    for i in range(3):
        builder.add_body(f"b{i}", joint=so.Joint("free"), inertia=shape_inertia(BOX))
    model = builder.build()
    named = [
        so.Scene(model, shapes).pair_names(p) for p in range(len(so.Scene(model, shapes).pairs))
    ]
    assert named == [("g0", "g2"), ("g1", "g2")]
    scene = so.Scene(model, shapes, ignore=[("g0", "g2")], include=[("g1", "g0")])
    assert [scene.pair_names(p) for p in range(scene.n_pairs)] == [("g0", "g1"), ("g1", "g2")]


def test_all_shapes_survive_a_record(tmp_path):
    kinds = [
        BOX,
        CYLINDER,
        HULL,
        Cone(0.2, 0.4),
        Capsule(0.1, 0.3),
        Ellipsoid((0.2, 0.15, 0.1)),
        Sphere(0.2),
    ]
    bodies = [(s, (i, 0.0, 1.0)) for i, s in enumerate(kinds)]
    record = so.Simulator(scene_of(bodies, GROUNDS["mesh"]), dt=1e-3).run(duration=0.002)
    back = so.load_record(record.save(tmp_path / "run.npz")).scene
    again = record.scene
    assert all(np.array_equal(a, b) for a, b in zip(back.tables, again.tables, strict=True))
    page = record.replay(tmp_path / "run.html").read_text()
    assert all(
        f'"kind":"{kind}"' in page
        for kind in ("box", "cylinder", "mesh", "cone", "capsule", "ellipsoid")
    )


@pytest.mark.parametrize("second", [False, True])
def test_rows_stated_again_are_those_of_the_turned_frames(second):
    bodies = [(BOX, (0.0, 0.0, 0.2)), (BOX, (0.0, 0.0, 0.6))][: 1 + second]
    spins = [[3.0, 1.0, 20.0, 2.0, -1.0, 0.0], [-1.0, 2.0, -15.0, 0.5, 3.0, 0.0]]
    scene = scene_of(bodies, HalfSpace(), friction=0.3, velocities=spins[: 1 + second])
    stepping = so.Simulator(scene, dt=5e-3).stepping
    t = stepping.tables()
    load_state(t, scene.state, np.zeros(scene.model.nv), 1)
    looked = 0
    t, code = stepping.prepare(t)
    while code == at.SOLVE:
        if t.control[at.STAGE] == at.CONTACT and t.control[at.REPEATS] > 0:
            m = int(t.control[at.ACTING])
            rows = SparseRows(np.full_like(t.entries, np.nan), t.places)
            contact_rows(t.tree, t.links, t.work, t.ints, t.floats, m, rows)
            known = ~np.isnan(rows.entries)
            np.testing.assert_allclose(
                t.entries[known], rows.entries[known], atol=1e-14 * np.abs(t.entries).max()
            )
            looked += 1
        stepping.external.solve(t, False)
        t, code = stepping.prepare(t)
    assert code == at.DONE
    assert looked > 0


# How far a joint's axis is beside the line of a contact 0.1 m below it, and how deep that overlaps,
# m; whether the contact acts.
@pytest.mark.parametrize(
    ("aside", "depth", "acts"),
    [
        (5e-5, 1e-5, False),  # a dead centre
        (5e-4, 1e-5, True),
        (5e-4, 1e-2, False),  # that joint cannot open what is deep, nor make it deeper
        (2e-3, 1e-2, True),
    ],
)
def test_contacts_at_a_dead_centre_are_left_out_and_deep_ones_near_it(aside, depth, acts):
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -G))
    joint = so.Joint("revolute", axis=(0.0, 1.0, 0.0))
    builder.add_body("arm", joint=joint, inertia=so.Inertia.sphere(0.05, mass=1.0))
    ball = so.Geom("ball", "arm", Sphere(0.05), position=(aside, 0.0, -0.05 - depth))
    floor = so.Geom("floor", "world", HalfSpace(), position=(0.0, 0.0, -0.1), friction=0.5)
    scene = so.Scene(builder.build(), [ball, floor])
    problem = so.Simulator(scene, dt=1e-3).problem(scene.state)
    assert (problem is not None) == acts


def test_runs_of_links_change_nothing(monkeypatch):
    """A long chain that crawls on balls, by rows among the columns of runs and among all joints."""
    ends = []
    for long in (100, 10**9):
        monkeypatch.setattr("spatialops.contact.runs.columns.LONG", long)
        engine = Ours(chain_on_balls(200, 12), 1e-3, sleep=False)
        engine.push(waves(engine.tables.v.size))
        engine.run(20)
        columns = engine.tables.run_trees
        assert columns[-1] <= 84 if long == 100 else len(columns) == 0
        assert engine.residual < 1e-9
        ends.append(engine.tables.v.copy())
    assert np.abs(ends[0]).max() > 0.1
    assert np.abs(ends[0] - ends[1]).max() < 1e-9


@pytest.mark.parametrize("law", ["coulomb", "cone", "no-slip"])
@pytest.mark.parametrize("speed", [5e-324, 1e-322, 1e-310, 1e-300])
def test_what_has_slowed_down_to_nothing_is_at_rest(law, speed):
    # Damped motion decays until its numbers have no digits left, and then no inverse: no solver had
    # an answer, or the last of them found that its problem held NaN.
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body("box", joint="free", inertia=so.Inertia.box((0.2, 0.2, 0.2), mass=1.0))
    geoms = [so.Geom("floor", "world", so.HalfSpace()), so.Geom("box", "box", so.Box((0.2,) * 3))]
    q = np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0])
    for seed in range(4):
        v = speed * np.rint(3.0 * np.random.default_rng(seed).normal(size=6))
        simulator = so.Simulator(so.Scene(builder.build(), geoms), law=law)
        record = simulator.run(so.State(q, v), 0.003)
        np.testing.assert_allclose(record.v, 0.0, atol=1e-290)
