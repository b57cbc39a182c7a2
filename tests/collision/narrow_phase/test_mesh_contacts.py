"""Convex shapes on meshes and height fields: as on a plane where it is one; edges and ridges."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import spatialops as so
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
    ShapePair,
    Sphere,
)
from spatialops.collision.narrow_phase.pair_contacts import pair_points
from spatialops.collision.narrow_phase.scratch import new_scratch
from spatialops.collision.triangles import grid_neighbours, neighbours

HULL = ConvexHull(
    [(x, y, z) for x in (-0.2, 0.2) for y in (-0.1, 0.15) for z in (-0.1, 0.1)] + [(0.0, 0.0, 0.3)]
)
SHAPES = {
    "sphere": Sphere(0.2),
    "capsule": Capsule(0.1, 0.3),
    "box": Box((0.4, 0.3, 0.2)),
    "cylinder": Cylinder(0.2, 0.3),
    "cone": Cone(0.2, 0.4),
    "ellipsoid": Ellipsoid((0.3, 0.2, 0.1)),
    "hull": HULL,
}
FLAT = HeightField(np.zeros((8, 8)), (2.1, 2.1))


def lowest(shape, rotation):
    """Height of the shape's place over a plane that it touches."""
    return -ShapePair(shape, HalfSpace()).contacts((0.0, 0.0, 0.0), rotation, limit=10.0).gaps.min()


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("flat", [True, False])
def test_a_flat_mesh_is_a_floor(rng, name, flat):
    """At random places and attitudes deepest point and normal are those of the half-space."""
    shape = SHAPES[name]
    plane, mesh = ShapePair(shape, HalfSpace()), ShapePair(shape, FLAT)
    for _ in range(20):
        turn = np.eye(3) if flat else Rotation.random(random_state=rng).as_matrix()
        place = np.append(rng.uniform(-0.5, 0.5, 2), lowest(shape, turn) + rng.uniform(-2e-3, 5e-4))
        want, got = plane.contacts(place, turn, limit=1e-3), mesh.contacts(place, turn, limit=1e-3)
        assert got.gaps.min() == pytest.approx(want.gaps.min(), abs=1e-6)
        assert np.allclose(got.normals, (0.0, 0.0, 1.0), atol=1e-9)
        near = want.positions[want.gaps < want.gaps.min() + 1e-7]
        if flat and name in ("box", "capsule", "hull"):  # what holds it up reaches as far
            for axis in range(2):
                assert np.ptp(got.positions[:, axis]) == pytest.approx(
                    np.ptp(near[:, axis]), abs=2e-2
                )


def test_a_ball_rolls_over_inner_edges_without_a_bump():
    pair = ShapePair(Sphere(0.2), FLAT)
    for x in np.linspace(-0.5, 0.5, 301):
        found = pair.contacts((x, 0.3 * x, 0.1999), limit=1e-3)
        assert len(found.gaps) == 1
        assert found.gaps[0] == pytest.approx(-1e-4, abs=1e-12)
        assert np.allclose(found.normals[0], (0.0, 0.0, 1.0), atol=1e-12)


def ridge():
    """A roof along y whose sides fall by 45 degrees."""
    return Mesh([(-1, -1, -1), (0, -1, 0), (1, -1, -1), (-1, 1, -1), (0, 1, 0), (1, 1, -1)],
                [(0, 1, 4), (0, 4, 3), (1, 2, 5), (1, 5, 4)])  # fmt: skip


def test_a_ball_on_a_ridge_is_pushed_straight_up():
    found = ShapePair(Sphere(0.2), ridge()).contacts((0.0, 0.1, 0.1999), limit=1e-3)
    assert len(found.gaps) == 1
    assert np.allclose(found.normals[0], (0.0, 0.0, 1.0), atol=1e-9)
    assert found.gaps[0] == pytest.approx(-1e-4, abs=1e-12)


def test_a_ball_beside_a_ridge_is_pushed_off_its_side():
    normal = np.array([-1.0, 0.0, 1.0]) / np.sqrt(2.0)
    found = ShapePair(Sphere(0.2), ridge()).contacts(
        0.5 * np.array([-1.0, 0.0, -1.0]) + 0.1995 * normal, limit=1e-3
    )
    assert len(found.gaps) == 1
    assert np.allclose(found.normals[0], normal, atol=1e-9)
    assert found.gaps[0] == pytest.approx(-5e-4, abs=1e-12)


def test_a_box_lies_across_a_ridge_on_a_line():
    found = ShapePair(Box((0.4, 0.3, 0.2)), ridge()).contacts((0.03, 0.1, 0.0999), limit=1e-3)
    assert np.allclose(found.normals, (0.0, 0.0, 1.0), atol=1e-9)
    assert np.allclose(found.gaps, -1e-4, atol=1e-9)
    assert np.ptp(found.positions[:, 1]) == pytest.approx(0.3, abs=1e-3)


def test_a_ball_in_a_valley_touches_both_sides():
    valley = Mesh([(-1, -1, 1), (0, -1, 0), (1, -1, 1), (-1, 1, 1), (0, 1, 0), (1, 1, 1)],
                  [(0, 1, 4), (0, 4, 3), (1, 2, 5), (1, 5, 4)])  # fmt: skip
    found = ShapePair(Sphere(0.2), valley).contacts((0.0, 0.1, 0.1999 * np.sqrt(2.0)), limit=1e-3)
    assert len(found.gaps) == 2
    assert np.allclose(found.gaps, -1e-4, atol=1e-9)
    assert sorted(np.sign(found.normals[:, 0])) == [-1.0, 1.0]


def test_a_box_in_a_corner_touches_floor_and_wall():
    vertices = [(0, -1, 0), (1, -1, 0), (1, 1, 0), (0, 1, 0), (0, -1, 1), (0, 1, 1)]
    corner = Mesh(vertices, [(0, 1, 2), (0, 2, 3), (0, 3, 5), (0, 5, 4)])
    found = ShapePair(Box((0.4, 0.4, 0.4)), corner).contacts((0.1999, 0.0, 0.1998), limit=1e-3)
    floor, wall = found.normals[:, 2] > 0.99, found.normals[:, 0] > 0.99
    assert floor.sum() == 4
    assert wall.sum() == 4
    assert np.allclose(found.gaps[floor], -2e-4, atol=1e-9)
    assert np.allclose(found.gaps[wall], -1e-4, atol=1e-9)


def test_outer_edges_of_a_mesh_hold_a_ball():
    found = ShapePair(Sphere(0.2), FLAT).contacts((1.05 + 0.12, 0.0, 0.16 - 1e-4 * 0.8), limit=1e-3)
    assert len(found.gaps) == 1
    assert np.allclose(found.normals[0], (0.6, 0.0, 0.8), atol=1e-3)


def test_a_ball_on_waves_touches_where_the_triangles_say(rng):
    """Against the nearest of all triangles, found by brute force with trimesh."""
    trimesh = pytest.importorskip("trimesh")
    x = np.linspace(-1.0, 1.0, 17)
    field = HeightField(0.1 * np.sin(4.0 * x)[:, None] * np.cos(3.0 * x)[None, :], (2.0, 2.0))
    vertices, faces = field.triangles()
    corners, pair = vertices[faces], ShapePair(Sphere(0.15), field)
    checked = 0
    for _ in range(200):
        place = np.append(rng.uniform(-0.7, 0.7, 2), rng.uniform(0.05, 0.3))
        nearest = trimesh.triangles.closest_point(corners, np.tile(place, (len(corners), 1)))
        gaps = np.linalg.norm(nearest - place, axis=1) - 0.15
        i = gaps.argmin()
        a, b, c = corners[i]
        if not -0.02 < gaps[i] < 1e-3 or np.cross(b - a, c - a) @ (place - nearest[i]) < 0.0:
            continue
        found = pair.contacts(place, limit=2e-3)
        assert found.gaps.min() == pytest.approx(gaps.min(), abs=1e-9)
        checked += 1
    assert checked > 10


def hills(nx=17, ny=13):
    x, y = np.linspace(-1.0, 1.0, nx), np.linspace(-0.8, 0.8, ny)
    return HeightField(0.1 * np.sin(4.0 * x)[:, None] * np.cos(3.0 * y)[None, :], (2.0, 1.6))


@pytest.mark.parametrize("name", SHAPES)
def test_cells_of_a_height_field_say_what_its_triangles_say(rng, name):
    """The grid finds what a tree over the same triangles finds.

    Deepest gap, normals and number of points.
    """
    field, touching = hills(), 0
    cells, tree = ShapePair(SHAPES[name], field), ShapePair(SHAPES[name], Mesh(*field.triangles()))
    for _ in range(40):
        turn = Rotation.random(random_state=rng).as_matrix()
        place = np.append(rng.uniform(-1.1, 1.1, 2), rng.uniform(0.0, 0.4))
        here, there = (
            cells.contacts(place, turn, limit=1e-3),
            tree.contacts(place, turn, limit=1e-3),
        )
        assert (len(here.gaps) > 0) == (len(there.gaps) > 0)
        if len(here.gaps):
            touching += 1
            assert (
                len(here.gaps) == len(there.gaps) or here.gaps.min() < -5e-3
            )  # deep in, which normals are kept varies
            assert here.gaps.min() == pytest.approx(
                there.gaps.min(), abs=1e-6
            )  # as close as points are told apart
    assert touching > 8


@pytest.mark.parametrize("slope", [1e-4, 5e-4, 1.5e-3, 5e-3, 0.02, 0.05])
def test_a_ball_is_never_lost_over_an_edge_that_hardly_sticks_out(slope):
    """A roof so flat that a ball over its ridge stands upright on both sides.

    Its gap is that of the nearest point.
    """
    roof = ShapePair(
        Sphere(0.2), HeightField([[-slope, -slope], [0.0, 0.0], [-slope, -slope]], (2.0, 2.0))
    )
    for x in np.linspace(-0.4 * slope, 0.4 * slope, 41):
        beside = abs(x) > 0.1999 * slope
        truth = (
            (0.1999 + slope * abs(x)) * np.cos(np.arctan(slope)) - 0.2
            if beside
            else np.hypot(x, 0.1999) - 0.2
        )
        found = roof.contacts((x, 0.3, 0.1999), limit=1e-3)
        assert len(found.gaps) > 0
        assert found.gaps.min() == pytest.approx(truth, abs=1e-6)


def test_a_turned_height_field_is_the_same_seen_from_elsewhere(rng):
    pair = ShapePair(Sphere(0.2), hills())
    for _ in range(20):
        place, frame = (
            np.append(rng.uniform(-0.7, 0.7, 2), 0.4),
            Rotation.random(random_state=rng).as_matrix(),
        )
        while not len(gaps := pair.contacts(place, limit=0.01).gaps):  # down to where it touches
            place[2] -= 0.005
        for _ in range(30):
            place[2] -= gaps.min() + 1e-4
            gaps = pair.contacts(place, limit=0.01).gaps
        origin = rng.normal(size=3)
        here = pair.contacts(place, limit=1e-3)
        moved = pair.contacts(
            origin + frame @ place, frame, position_b=origin, rotation_b=frame, limit=1e-3
        )
        assert here.gaps.min() == pytest.approx(-1e-4, abs=1e-7)
        assert np.allclose(moved.gaps, here.gaps, atol=1e-9)
        assert np.allclose(moved.positions, origin + here.positions @ frame.T, atol=1e-9)
        assert np.allclose(moved.normals, here.normals @ frame.T, atol=1e-9)


def test_a_turned_field_in_a_scene_is_found_by_its_own_axes():
    """A field about the vertical by 30 degrees.

    A ball over every corner region finds the ground.
    """
    builder = so.TreeBuilder()
    builder.add_body("ball", joint=so.Joint("free"), inertia=so.Inertia.sphere(0.1, mass=1.0))
    model, turn = builder.build(), Rotation.from_euler("z", 30, degrees=True).as_matrix()
    field = so.Geom(
        "ground",
        "world",
        HeightField(np.zeros((5, 9)), (2.0, 4.0)),
        position=(1.0, 2.0, 3.0),
        rotation=turn,
    )
    scene = so.Scene(model, [field, so.Geom("ball", "ball", Sphere(0.1))])
    t = scene.tables._replace(solids=scene.tables.solids.copy())  # its last rows are written to
    places = np.zeros((3, 12))
    places[:, 3:] = np.eye(3).ravel()
    places[0, :3], places[0, 3:] = (1.0, 2.0, 3.0), turn.ravel()
    scratch = new_scratch(t.ints, t.lists)
    for x in (-0.95, 0.0, 0.95):
        for y in (-1.95, 0.0, 1.95):
            places[1, :3] = (1.0, 2.0, 3.0) + turn @ (x, y, 0.0999)
            assert pair_points(t, places, 1, 0, 1e-3, scratch) == 1
    places[1, :3] = (1.0, 2.0, 3.0) + turn @ (1.2, 0.0, 0.0999)
    assert pair_points(t, places, 1, 0, 1e-3, scratch) == 0


@pytest.mark.parametrize("cells", [(1, 1), (4, 7)])
def test_neighbours_in_a_grid_are_those_that_share_an_edge(cells):
    field = HeightField(np.zeros((cells[0] + 1, cells[1] + 1)), (1.0, 1.0))
    assert np.array_equal(grid_neighbours(cells), neighbours(*field.triangles()))


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["field", "mesh"])
def test_a_box_on_thousands_of_triangles_is_held_by_its_corners(kind):
    """More triangles under the box than any list has room for: the outermost points are kept."""
    field = HeightField(np.zeros((81, 81)), (2.0, 2.0))
    ground = field if kind == "field" else Mesh(*field.triangles())
    found = ShapePair(Box((1.3, 1.1, 0.2)), ground).contacts((0.013, 0.007, 0.0999), limit=1e-3)
    assert np.allclose(found.gaps, -1e-4, atol=1e-9)
    assert np.ptp(found.positions[:, 0]) == pytest.approx(1.3, abs=2e-3)
    assert np.ptp(found.positions[:, 1]) == pytest.approx(1.1, abs=2e-3)
    assert len(found.gaps) == 4


@pytest.mark.parametrize("name", ["box", "cylinder", "hull", "capsule"])
def test_names_on_a_mesh_do_not_change_with_rounding(rng, name):
    shape, pair = SHAPES[name], ShapePair(SHAPES[name], FLAT)
    turn = (
        Rotation.from_euler("y", 90, degrees=True).as_matrix() if name == "capsule" else np.eye(3)
    )
    place = np.array([0.113, 0.071, lowest(shape, turn)])
    first = pair.contacts(place, turn, limit=1e-4)
    for _ in range(30):
        shaken = Rotation.from_rotvec(rng.uniform(-1e-5, 1e-5, 3)).as_matrix() @ turn
        found = pair.contacts(place + rng.uniform(-1e-6, 1e-6, 3), shaken, limit=1e-4)
        assert {tuple(row) for row in found.features} == {tuple(row) for row in first.features}
