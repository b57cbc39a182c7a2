"""Gaps, normals and points in closed form; near pairs; which pairs are looked at; contact sets."""

import numpy as np
import pytest

import spatialops as so
from spatialops._layout import WORK_COLUMNS
from spatialops.collision import ContactSet, HalfSpace, Sphere
from spatialops.collision import _layout as col
from spatialops.collision.broad_phase import (
    FULL,
    near_list,
    near_pairs,
    renew_near_pairs,
    sweep_order,
)
from spatialops.collision.contact_set import ContactTables
from spatialops.collision.detector import Search, find_contacts, place_geoms
from spatialops.collision.known_contacts import nothing_known
from spatialops.collision.narrow_phase.scratch import new_scratch
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from tests.support.trees import random_rotation

LINK = so.Inertia.sphere(0.1, mass=1.0)


def free_bodies(n):
    builder = so.TreeBuilder()
    for i in range(n):
        builder.add_body(f"b{i}", joint=so.Joint("free"), inertia=LINK)
    return builder.build()


class Eyes:
    """The detector as the stepping loop uses it, its near list kept from look to look."""

    def __init__(self, scene, skin, capacity=64):
        n_geoms = len(scene.geoms)
        self.scene, self.skin = scene, skin
        self.work = np.zeros((scene.model.nv, WORK_COLUMNS))
        self.centers, self.kept = (
            np.zeros((n_geoms + 1, col.PLACE_COLUMNS)),
            np.zeros((n_geoms + 1, 3)),
        )
        self.order = sweep_order(scene.pair_runs, n_geoms)
        self.scratch = new_scratch(scene.geom_ints, scene.tables.lists)
        self.near = near_list(scene.pair_runs, n_geoms, n_geoms**2)
        self.ints = np.zeros((capacity, col.CONTACT_INTS), dtype=np.int64)
        self.floats = np.zeros((capacity, col.CONTACT_COLUMNS))

    def place(self, q, v):
        model, scene = self.scene.model, self.scene
        poses_kernel(model.tree, model.links, q, self.work)
        velocities_kernel(model.tree, model.links, v, self.work)
        place_geoms(scene.geom_ints, scene.geom_floats, self.work, self.centers)
        return renew_near_pairs(
            scene.geom_ints,
            scene.geom_floats,
            scene.pair_runs,
            self.order,
            self.centers,
            self.kept,
            self.skin,
            self.near,
        )

    def detect_at(self, q, v, margin, horizon=0.0):
        scene = self.scene
        self.place(q, v)
        return find_contacts(
            scene.tables,
            scene.pair_table.classes,
            self.centers,
            self.near,
            self.work,
            Search(margin, horizon, nothing_known()),
            self.scratch,
            ContactTables(self.ints, self.floats),
        )

    def contacts(self, q, v, margin, horizon=0.0):
        count = self.detect_at(q, v, margin, horizon)
        assert count >= 0
        return ContactSet.from_tables(self.ints[:count], self.floats[:count])


def point_velocity(model, q, v, body, point):
    """Velocity of a body's material point at a world position."""
    poses = so.body_poses(model, q)
    local = poses.rotations[body].T @ (point - poses.positions[body])
    return so.node_velocities(model, q, v, [so.Node(body, local)])[0, 3:]


def test_sphere_on_half_space(rng):
    model = free_bodies(1)
    for _ in range(10):
        normal = rng.normal(size=3)
        origin = rng.normal(size=3)
        place = rng.normal(size=3)
        scene = so.Scene(
            model,
            [
                so.Geom(
                    "plane",
                    "world",
                    HalfSpace(normal),
                    position=origin,
                    friction=0.8,
                    restitution=0.9,
                ),
                so.Geom("ball", "b0", Sphere(0.3), position=place, friction=0.2, restitution=0.4),
            ],
        )
        q, v = model.random(rng), rng.normal(size=6)
        found = Eyes(scene, skin=1e3).contacts(q, v, margin=1e3)
        unit = normal / np.linalg.norm(normal)
        center = so.node_positions(model, q, [so.Node("b0", place)])[0]
        gap = unit @ (center - origin) - 0.3
        assert len(found) == 1
        assert found.gaps[0] == pytest.approx(gap, rel=0.0, abs=1e-14)
        assert np.allclose(found.frames[0, 0], unit, rtol=0.0, atol=1e-15)
        # Midway between the sphere's lowest point and the plane below it.
        below = center - (center - origin) @ unit * unit
        assert np.allclose(
            found.positions[0], 0.5 * (center - 0.3 * unit + below), rtol=0.0, atol=1e-14
        )
        assert found.links[0].tolist() == [model.body_links[0], -1]
        assert found.frictions[0] == pytest.approx(np.sqrt(0.8 * 0.2), rel=1e-15)
        assert found.restitutions[0] == pytest.approx(np.sqrt(0.9 * 0.4), rel=1e-15)
        expected = unit @ point_velocity(model, q, v, 0, found.positions[0])
        assert found.velocities[0, 0] == pytest.approx(expected, rel=0.0, abs=1e-13)


def test_sphere_on_sphere(rng):
    model = free_bodies(2)
    for _ in range(10):
        places = rng.normal(size=(2, 3))
        scene = so.Scene(
            model,
            [
                so.Geom("one", "b0", Sphere(0.3), position=places[0]),
                so.Geom("other", "b1", Sphere(0.5), position=places[1]),
            ],
        )
        q, v = model.random(rng), rng.normal(size=12)
        found = Eyes(scene, skin=1e3).contacts(q, v, margin=1e3)
        a, b = so.node_positions(model, q, [so.Node("b0", places[0]), so.Node("b1", places[1])])
        line, distance = a - b, np.linalg.norm(a - b)
        unit = line / distance
        assert len(found) == 1
        assert found.gaps[0] == pytest.approx(distance - 0.8, rel=0.0, abs=1e-14)
        assert np.allclose(found.frames[0, 0], unit, rtol=0.0, atol=1e-15)
        assert np.allclose(
            found.positions[0], 0.5 * (a - 0.3 * unit + b + 0.5 * unit), rtol=0.0, atol=1e-14
        )
        assert found.links[0].tolist() == model.body_links.tolist()
        point = found.positions[0]
        expected = unit @ (
            point_velocity(model, q, v, 0, point) - point_velocity(model, q, v, 1, point)
        )
        assert found.velocities[0, 0] == pytest.approx(expected, rel=0.0, abs=1e-13)


def test_centres_that_coincide_have_an_upward_normal():
    model = free_bodies(2)
    scene = so.Scene(
        model, [so.Geom("one", "b0", Sphere(0.3)), so.Geom("other", "b1", Sphere(0.5))]
    )
    found = Eyes(scene, skin=1.0).contacts(model.neutral(), np.zeros(12), margin=0.1)
    assert found.gaps[0] == pytest.approx(-0.8)
    assert found.frames[0, 0].tolist() == [0.0, 0.0, 1.0]


def falling_ball(height, speed):
    model = free_bodies(1)
    scene = so.Scene(
        model, [so.Geom("ball", "b0", Sphere(0.3)), so.Geom("floor", "world", HalfSpace())]
    )
    q, v = model.neutral(), np.zeros(6)
    q[2], v[5] = height + 0.3, speed
    return Eyes(scene, skin=1.0), q, v


@pytest.mark.parametrize(
    ("height", "speed", "horizon", "count"),
    [
        (0.01, -1.0, 0.02, 1),  # arrives within the horizon
        (0.01, -1.0, 0.005, 0),  # later
        (0.01, 1.0, 0.02, 0),  # goes away
        (0.0005, 1.0, 0.0, 1),  # within the margin, wherever it goes
        (-0.01, 5.0, 0.0, 1),  # penetrates
    ],
)
def test_horizon_and_margin(height, speed, horizon, count):
    eyes, q, v = falling_ball(height, speed)
    assert eyes.detect_at(q, v, 1e-3, horizon) == count


def test_too_many_contacts_are_told():
    model = free_bodies(1)
    geoms = [so.Geom(f"g{i}", "b0", Sphere(0.1), position=(i, 0.0, 0.0)) for i in range(3)]
    scene = so.Scene(model, [*geoms, so.Geom("floor", "world", HalfSpace())])
    assert Eyes(scene, skin=1.0, capacity=3).detect_at(model.neutral(), np.zeros(6), 0.0) == 3
    assert Eyes(scene, skin=1.0, capacity=2).detect_at(model.neutral(), np.zeros(6), 0.0) == FULL


def surface_distance(scene, centers, a, b):
    """Straight from the definitions, not from the kernel."""
    first, second = scene.geoms[a].shape, scene.geoms[b].shape
    if isinstance(second, HalfSpace):
        return (centers[a] - centers[b]) @ np.asarray(second.normal) - first.radius
    return np.linalg.norm(centers[a] - centers[b]) - first.radius - second.radius


@pytest.mark.parametrize("stride", [0.01, 0.12, 0.6])
def test_near_list_never_misses_a_pair(rng, stride):
    # Strides from far below to beyond the skin / 4 = 0.125 m after which the list must be renewed.
    n, skin = 7, 0.5
    model = free_bodies(n)
    geoms = [so.Geom(f"g{i}", f"b{i}", Sphere(rng.uniform(0.3, 0.6))) for i in range(n)]
    walls = [
        so.Geom("floor", "world", HalfSpace()),
        so.Geom("side", "world", HalfSpace((1.0, 0.2, 0.0))),
    ]
    scene = so.Scene(model, geoms + walls)
    eyes, q = Eyes(scene, skin), model.random(rng)
    q.reshape(n, 7)[:, :3] = rng.uniform(-1.5, 2.5, (n, 3))
    renewals = 0
    touching = 0
    before = None
    for _ in range(60):
        q.reshape(n, 7)[:, :3] += stride * rng.uniform(-1.0, 1.0, (n, 3)) / np.sqrt(3.0)
        count = eyes.detect_at(q, np.zeros(model.nv), margin=0.2)
        close = {
            p
            for p, (a, b) in enumerate(scene.pairs)
            if surface_distance(scene, eyes.centers[:, :3], a, b) < skin / 2
        }
        assert close <= set(eyes.near[: near_pairs(eyes.near), 0])
        expected = {
            p
            for p, (a, b) in enumerate(scene.pairs)
            if surface_distance(scene, eyes.centers[:, :3], a, b) < 0.2
        }
        assert set(eyes.ints[:count, col.CONTACT_PAIR]) == expected
        touching += count
        if before is not None and not np.array_equal(before, eyes.kept[:-1]):
            renewals += 1
        before = eyes.kept[:-1].copy()
    assert touching > 0
    assert renewals < 20 if stride < 0.1 else renewals > 5  # the short walk lives on few lists


def test_lists_of_what_is_fast_serve_for_more_than_one_step():
    """And those of what has slowed down are soon as short as before."""
    model, skin = free_bodies(2), 0.4
    geoms = [so.Geom("one", "b0", Sphere(0.1)), so.Geom("other", "b1", Sphere(0.1))]
    eyes, q = Eyes(so.Scene(model, geoms), skin), model.neutral()
    q[7] = 2.0
    skins, renewals = [], 0
    for step in range(200):
        q[[1, 8]] += 0.09 if step < 100 else 1e-4
        before = eyes.kept[:-1].copy()
        eyes.place(q, np.zeros(12))
        renewals += not np.array_equal(before, eyes.kept[:-1])
        skins.append(eyes.kept[-1, 0])
    assert renewals < 20
    assert max(skins) == pytest.approx(8 * 4 * 0.09)
    assert skins[0] == skins[-1] == skin


def test_spheres_that_creep_towards_each_other_are_seen():
    # The worst case: both move straight at each other by just less than what renews the list.
    model, skin = free_bodies(2), 0.4
    scene = so.Scene(
        model, [so.Geom("one", "b0", Sphere(0.1)), so.Geom("other", "b1", Sphere(0.1))]
    )
    eyes, q = Eyes(scene, skin), model.neutral()
    q[0], q[7] = 0.0, 0.2 + skin
    assert eyes.place(q, np.zeros(12)) == 0
    q[0], q[7] = 0.0999, 0.2 + skin - 0.0999
    assert eyes.place(q, np.zeros(12)) == 0  # not renewed, and rightly: the gap is above skin / 2
    q[0], q[7] = 0.1001, 0.2 + skin - 0.1001
    assert eyes.place(q, np.zeros(12)) == 1


def test_which_pairs_are_looked_at():
    builder = so.TreeBuilder()
    for name, parent in (("trunk", "world"), ("arm", "trunk"), ("hand", "arm"), ("leg", "trunk")):
        builder.add_body(
            name, parent=parent, joint=so.Joint("revolute"), inertia=LINK, position=(1.0, 0.0, 0.0)
        )
    builder.add_body("thumb", parent="hand", inertia=LINK)  # fixed: one body with the hand
    model = builder.build()
    ball = Sphere(0.1)
    geoms = [
        so.Geom("floor", "world", HalfSpace()),
        so.Geom("post", "world", ball),
        so.Geom("trunk", "trunk", ball),
        so.Geom("arm", "arm", ball),
        so.Geom("hand", "hand", ball),
        so.Geom("palm", "hand", ball),
        so.Geom("thumb", "thumb", ball),
        so.Geom("leg", "leg", ball),
    ]
    scene = so.Scene(model, geoms, ignore=[("leg", "hand"), ("trunk", "floor")])
    found = {frozenset(scene.pair_names(p)) for p in range(scene.n_pairs)}
    world = {
        frozenset(pair)
        for pair in (("post", "trunk"), ("post", "arm"), ("post", "hand"), ("post", "palm"))
    }
    world |= {frozenset(pair) for pair in (("post", "thumb"), ("post", "leg"))}
    world |= {frozenset(("floor", name)) for name in ("arm", "hand", "palm", "thumb", "leg")}
    inner = {
        ("trunk", "hand"),
        ("trunk", "palm"),
        ("trunk", "thumb"),
        ("arm", "leg"),
        ("palm", "leg"),
        ("thumb", "leg"),
    }
    assert found == world | {frozenset(pair) for pair in inner}
    assert len(found) == scene.n_pairs
    for a, b in scene.pairs:  # a half-space is always side B
        assert isinstance(scene.geoms[a].shape, Sphere)
        assert b != a


def test_contact_set_is_a_copy_with_world_impulses(rng):
    ints = np.array([[3, 1, -1], [5, 2, 0]])
    floats = rng.normal(size=(2, col.CONTACT_COLUMNS))
    turns = [random_rotation(rng) for _ in range(2)]
    for row, turn in zip(floats, turns):
        row[col.NORMAL : col.NORMAL + 9] = turn.ravel()
    found = ContactSet.from_tables(ints, floats)
    impulses = floats[:, col.IMPULSE : col.IMPULSE + 3].copy()
    assert len(found) == 2
    assert found.pairs.tolist() == [3, 5]
    assert found.links.tolist() == [[1, -1], [2, 0]]
    assert np.array_equal(found.frames, turns)
    assert np.allclose(
        found.world_impulses, [turn.T @ p for turn, p in zip(turns, impulses)], rtol=0.0, atol=1e-15
    )
    ints[:], floats[:] = 0, 0.0
    assert np.array_equal(found.impulses, impulses)
    assert found.pairs.tolist() == [3, 5]
    assert len(ContactSet.from_tables(ints[:0], floats[:0]).world_impulses) == 0
