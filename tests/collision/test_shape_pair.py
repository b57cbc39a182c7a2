"""All pairs of convex shapes at random poses, apart and overlapping, against bounds and Coal."""

import itertools

import numpy as np
import pytest
from scipy.spatial import ConvexHull as Hull
from scipy.spatial.transform import Rotation

from spatialops.collision import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    ShapePair,
    Sphere,
)
from spatialops.errors import ShapeError


def stone():
    points = np.random.default_rng(7).normal(size=(24, 3))
    return ConvexHull(0.25 * points / np.linalg.norm(points, axis=1)[:, None] * [1.0, 0.8, 0.6])


SHAPES = {
    "sphere": Sphere(0.25),
    "capsule": Capsule(0.12, 0.26),
    "box": Box((0.5, 0.4, 0.3)),
    "cylinder": Cylinder(0.2, 0.4),
    "cone": Cone(0.25, 0.5),
    "ellipsoid": Ellipsoid((0.25, 0.2, 0.15)),
    "hull": stone(),
}
PAIRS = list(itertools.combinations_with_replacement(SHAPES, 2))


def reach(shape, turn, d):
    """Support function of a shape about its place.

    Max over its points of x . d, from the definitions.
    """
    x, y, z = turn.T @ d
    across = np.hypot(x, y)
    if isinstance(shape, Sphere):
        return shape.radius
    if isinstance(shape, Capsule):
        return shape.radius + 0.5 * shape.length * abs(z)
    if isinstance(shape, Box):
        return 0.5 * np.abs([x, y, z]) @ shape.size
    if isinstance(shape, Cylinder):
        return shape.radius * across + 0.5 * shape.length * abs(z)
    if isinstance(shape, Cone):
        return max(0.5 * shape.length * z, shape.radius * across - 0.5 * shape.length * z)
    if isinstance(shape, Ellipsoid):
        return np.linalg.norm(np.array([x, y, z]) * shape.semi_axes)
    return (shape.vertices @ [x, y, z]).max()


def separation_along(a, b, place, turn_a, turn_b, n):
    """How far a and b are apart along n, the normal from b (at the origin) to a."""
    return place @ n - reach(a, turn_a, -n) - reach(b, turn_b, n)


def pose_at(pair, rng, target):
    """A random pose with about this signed distance."""
    turns = Rotation.random(2, random_state=rng).as_matrix()
    line = rng.normal(size=3)
    line /= np.linalg.norm(line)
    x = 0.5
    for _ in range(40):
        miss = target - pair.separation(x * line, turns[0], rotation_b=turns[1]).distance
        x += miss
        if abs(miss) < 1e-12:
            break
    return x * line, turns


def targets(rng, count):
    """Signed distances from +0.2 to -0.08 m, and some next to zero."""
    near = [1e-3, 1e-4, 3e-5, 1e-5, 1e-6, 1e-8, 1e-12, 0.0, -1e-12, -1e-8, -1e-6, -1e-4]
    return np.concatenate([rng.uniform(-0.08, 0.2, count), near])


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_distance_is_what_the_normal_separates_by_and_no_normal_separates_more(rng, first, second):
    """The largest separation along any direction is the signed distance.

    A bound from below, searched from above.
    """
    a, b = SHAPES[first], SHAPES[second]
    pair = ShapePair(a, b)
    spread = rng.normal(size=(400, 3))
    spread /= np.linalg.norm(spread, axis=1)[:, None]
    for target in targets(rng, 12):
        place, turns = pose_at(pair, rng, target)
        found = pair.separation(place, turns[0], rotation_b=turns[1])
        assert np.linalg.norm(found.normal) == pytest.approx(1.0, abs=1e-12)
        assert separation_along(a, b, place, *turns, found.normal) == pytest.approx(
            found.distance, abs=1e-7
        )
        near = found.normal + 0.01 * rng.normal(size=(100, 3))
        for n in np.concatenate([spread, near / np.linalg.norm(near, axis=1)[:, None]]):
            assert separation_along(a, b, place, *turns, n) <= found.distance + 1e-7


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_order_of_the_pair_only_turns_the_normal(rng, first, second):
    one, other = ShapePair(SHAPES[first], SHAPES[second]), ShapePair(SHAPES[second], SHAPES[first])
    for target in rng.uniform(-0.05, 0.1, 8):
        place, turns = pose_at(one, rng, target)
        there = one.separation(place, turns[0], rotation_b=turns[1])
        back = other.separation((0, 0, 0), turns[1], position_b=place, rotation_b=turns[0])
        assert back.distance == pytest.approx(there.distance, abs=2e-8)
        assert np.allclose(back.normal, -there.normal, atol=1e-3)
        assert np.allclose(back.point, there.point, atol=2e-3)


@pytest.mark.parametrize(("first", "second"), [("box", "hull"), ("hull", "hull")])
def test_points_of_bodies_with_faces_lie_in_both(rng, first, second):
    """Sides of the polytope that EPA grows are parts of faces: the foot may lie in another one."""
    a, b = SHAPES[first], SHAPES[second]
    pair = ShapePair(a, b)
    for target in rng.uniform(-0.05, 0.1, 200):
        place, turns = pose_at(pair, rng, target)
        found = pair.separation(place, turns[0], rotation_b=turns[1])
        half = 0.5 * found.distance * found.normal
        assert outside(a, turns[0].T @ (found.point + half - place)) < 1e-7
        assert outside(b, turns[1].T @ (found.point - half)) < 1e-7


def outside(shape, x):
    """How far a point is out of a box or a hull."""
    if isinstance(shape, Box):
        return float((np.abs(x) - 0.5 * np.array(shape.size)).max())
    equations = Hull(shape.vertices).equations
    return float((equations[:, :3] @ x + equations[:, 3]).max())


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_the_deepest_point_of_a_manifold_is_as_deep_as_the_pair(rng, first, second):
    a, b = SHAPES[first], SHAPES[second]
    pair = ShapePair(a, b)
    for target in targets(rng, 12):
        place, turns = pose_at(pair, rng, target)
        found = pair.separation(place, turns[0], rotation_b=turns[1])
        points = pair.contacts(place, turns[0], rotation_b=turns[1], limit=0.25)
        assert 1 <= len(points.gaps) <= 4
        assert points.gaps.min() == pytest.approx(found.distance, abs=1e-6)
        # The same to roundings, of which an error of 1e-8 in depth makes 1e-4 of a normal.
        assert np.allclose(points.normals, found.normal, atol=1e-3)
        for n in points.normals:
            separates = separation_along(a, b, place, *turns, n / np.linalg.norm(n))
            assert separates == pytest.approx(found.distance, abs=1e-7)


def coal_shape(coal, shape):
    if isinstance(shape, (Sphere, Capsule, Cylinder, Cone)):
        made = getattr(coal, type(shape).__name__)
        return made(shape.radius) if isinstance(shape, Sphere) else made(shape.radius, shape.length)
    if isinstance(shape, Box):
        return coal.Box(*shape.size)
    if isinstance(shape, Ellipsoid):
        return coal.Ellipsoid(*shape.semi_axes)
    vertices, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for corner in shape.vertices:
        vertices.append(corner)
    for face in shape.solid.triangles():
        triangles.append(coal.Triangle(*(int(i) for i in face)))
    return coal.Convex(vertices, triangles)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_against_coal(rng, first, second):
    """Depth within 1e-6 m, normal within 0.1 degree, wherever Coal bears out its own distance."""
    coal = pytest.importorskip("coal")
    a, b = SHAPES[first], SHAPES[second]
    pair, made = ShapePair(a, b), (coal_shape(coal, a), coal_shape(coal, b))
    request = coal.DistanceRequest(True, True)
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    compared = 0
    for target in rng.uniform(-0.08, 0.2, 40):
        place, turns = pose_at(pair, rng, target)
        found, answer = pair.separation(place, turns[0], rotation_b=turns[1]), coal.DistanceResult()
        poses = coal.Transform3s(turns[0], place), coal.Transform3s(turns[1], np.zeros(3))
        coal.distance(made[0], poses[0], made[1], poses[1], request, answer)
        theirs = -np.array(answer.normal)
        proven = separation_along(a, b, place, *turns, theirs)
        assert proven <= found.distance + 1e-7
        if not abs(proven - answer.min_distance) < 1e-7:
            continue  # its normal does not bear its distance out
        compared += 1
        assert found.distance == pytest.approx(answer.min_distance, abs=1e-6)
        assert np.degrees(np.linalg.norm(np.cross(found.normal, theirs))) < 0.1
    assert compared > 20


def test_a_box_on_a_box_keeps_its_corners(rng):
    pair, shaken = ShapePair(Box((0.4, 0.4, 0.4)), Box((0.4, 0.4, 0.4))), set()
    for _ in range(50):
        turn = Rotation.from_rotvec(rng.uniform(-1e-5, 1e-5, 3)).as_matrix()
        found = pair.contacts((0.0, 0.0, 0.4) + rng.uniform(-1e-6, 1e-6, 3), turn, limit=1e-4)
        shaken.add(tuple(map(tuple, found.features)))
        assert sorted(np.round(np.abs(found.positions[:, :2]).ravel(), 4)) == [0.2] * 8
    assert len(shaken) == 1


PLANK = np.array(list(itertools.product((-0.2, 0.2), (-0.1, 0.1), (-0.2, 0.2))))
STACKS = {
    "box on a smaller box": (Box((0.4, 0.4, 0.4)), Box((0.3, 0.2, 0.4)), (0.01, 0.02, 0.4)),
    "box across a box": (Box((0.6, 0.2, 0.4)), Box((0.2, 0.6, 0.4)), (0.0, 0.0, 0.4)),
    "cylinder on a box": (Cylinder(0.2, 0.4), Box((0.5, 0.5, 0.4)), (0.03, 0.01, 0.4)),
    "cylinder on a cylinder": (Cylinder(0.2, 0.4), Cylinder(0.15, 0.4), (0.01, 0.02, 0.4)),
    "hull on a box": (ConvexHull(PLANK), Box((0.5, 0.5, 0.4)), (0.03, 0.01, 0.4)),
    "cone on a box": (Cone(0.2, 0.4), Box((0.5, 0.5, 0.4)), (0.03, 0.01, 0.4)),
}


@pytest.mark.parametrize("stack", STACKS)
def test_count_and_names_do_not_change_with_rounding(rng, stack):
    a, b, place = STACKS[stack]
    pair, names = ShapePair(a, b), set()
    for _ in range(50):
        turn = Rotation.from_rotvec(rng.uniform(-1e-5, 1e-5, 3)).as_matrix()
        found = pair.contacts(place + rng.uniform(-1e-6, 1e-6, 3), turn, limit=1e-4)
        names.add(frozenset(map(tuple, found.features)))
        assert len(found.gaps) == 4
    assert len(names) == 1


@pytest.mark.parametrize("out", [1e-9, 1e-8, 1e-7])
def test_no_point_of_two_faces_is_there_twice(rng, out):
    """A corner that is out by less than the tolerance, whose edges leave the other face there."""
    for _ in range(20):
        corner = (rng.uniform(0.02, 0.08), rng.uniform(-0.1, 0.1))  # beyond the edge
        triangle = np.array([(0.0, 0.0), (-0.1, 0.02), corner])
        ends = [np.column_stack([triangle, np.full(3, z)]) for z in (0.0, 0.1)]
        pair = ShapePair(ConvexHull(np.concatenate(ends)), Box((1.0, 1.0, 0.2)))
        found = pair.contacts((0.5 + out, 0.0, 0.0999), np.eye(3), limit=1e-2)
        apart = np.linalg.norm(found.positions[:, None] - found.positions, axis=2)
        assert len(found.gaps) >= 3
        assert apart[np.triu_indices(len(apart), 1)].min() > 1e-6


def test_a_capsule_lies_on_a_box_with_both_ends():
    lying = Rotation.from_euler("y", 90, degrees=True).as_matrix()
    found = ShapePair(Capsule(0.1, 0.3), Box((1.0, 1.0, 0.2))).contacts(
        (0.0, 0.0, 0.199), lying, limit=1e-3
    )
    assert np.allclose(found.gaps, -1e-3, atol=1e-9)
    assert np.allclose(np.sort(found.positions[:, 0]), (-0.15, 0.15), atol=1e-9)


FLAT = ["box", "capsule", "hull"]


@pytest.mark.parametrize(
    ("first", "second"), list(itertools.combinations_with_replacement(FLAT, 2))
)
def test_order_of_the_pair_only_turns_the_points(rng, first, second):
    one, other = ShapePair(SHAPES[first], SHAPES[second]), ShapePair(SHAPES[second], SHAPES[first])
    for target in rng.uniform(-1e-5, 1e-5, 20):
        place, turns = pose_at(one, rng, target)
        there = one.contacts(place, turns[0], rotation_b=turns[1], limit=1e-4)
        back = other.contacts(
            (0, 0, 0), turns[1], position_b=place, rotation_b=turns[0], limit=1e-4
        )
        at = [np.abs(back.positions - point).max(axis=1).argmin() for point in there.positions]
        assert len(back.gaps) == len(there.gaps) > 0
        assert np.allclose(back.positions[at], there.positions, rtol=0.0, atol=1e-9)
        assert np.allclose(back.normals[at], -there.normals, rtol=0.0, atol=1e-9)
        assert np.allclose(back.gaps[at], there.gaps, rtol=0.0, atol=1e-9)


def test_two_edges_that_cross_touch_where_they_cross():
    box, half = Box((0.4, 0.4, 0.4)), 0.2 * np.sqrt(2.0)
    on_edge = Rotation.from_euler("x", 45, degrees=True)  # an edge along x at the top, one below
    for turn in (90.0, 60.0, 20.0, 5.0):
        lower, upper = on_edge.as_matrix(), (Rotation.from_euler("z", turn, True) * on_edge)
        place = np.array([0.05, 0.03, 2.0 * half])
        along = np.array([np.cos(np.radians(turn)), np.sin(np.radians(turn)), 0.0])
        crossing = place - along * place[1] / along[1] - (0.0, 0.0, half)  # on y = 0
        found = ShapePair(box, box).contacts(place, upper.as_matrix(), rotation_b=lower, limit=1e-6)
        assert np.allclose(found.positions, crossing, rtol=0.0, atol=1e-9)


def test_separation_refuses_what_has_no_bound():
    from spatialops.collision import HalfSpace

    with pytest.raises(ShapeError, match="convex and bounded"):
        ShapePair(Sphere(1.0), HalfSpace()).separation()
    with pytest.raises(ShapeError, match="second shape"):
        ShapePair(HalfSpace(), Sphere(1.0))
