"""What is remembered of pairs: the same distances as looked for anew, for as long as it serves."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import spatialops.collision as collision
from spatialops.collision import _layout as col
from spatialops.collision.narrow_phase.remembered import (
    COLUMNS,
    apart_by,
    forget_all,
    keep_apart,
    moved_since,
    new_table,
    row_of,
)
from spatialops.collision.narrow_phase.scratch import Scratch
from spatialops.collision.narrow_phase.signed_distance import BEYOND, NEAR, separation
from spatialops.collision.shape_pair import ShapePair


def random_hull(rng, corners):
    return collision.ConvexHull(rng.normal(size=(corners, 3)) * (0.5, 0.4, 0.6))


SHAPES = {
    "hulls": lambda rng: (random_hull(rng, 30), random_hull(rng, 60)),
    "cylinder and hull": lambda rng: (collision.Cylinder(0.4, 1.0), random_hull(rng, 20)),
    "capsule and box": lambda rng: (collision.Capsule(0.1, 0.8), collision.Box((0.6, 0.5, 0.7))),
    "hull and sphere": lambda rng: (random_hull(rng, 20), collision.Sphere(0.3)),
    "sphere and hull": lambda rng: (collision.Sphere(0.3), random_hull(rng, 20)),
    "ellipsoids": lambda rng: (
        collision.Ellipsoid((0.5, 0.4, 0.7)),
        collision.Ellipsoid((0.6, 0.5, 0.3)),
    ),
}


class Looks:
    """Separations of a pair, with what earlier looks left and without."""

    def __init__(self, a, b):
        self.pair = ShapePair(a, b)
        own = self.pair._scratch
        self.tables, self.places = self.pair._tables, self.pair._places
        self.with_memory = Scratch(own.rows, own.ints, np.zeros((1, COLUMNS)))
        self.without = Scratch(own.rows.copy(), own.ints, own.remembered)

    def at(self, position, turn, limit=10.0):
        self.pair._place(position, turn, (0.0, 0.0, 0.0), None)
        found = [
            separation(self.tables, self.places, 0, 1, limit, scratch)
            for scratch in (self.with_memory, self.without)
        ]
        left = [scratch.rows[4, :6].copy() for scratch in (self.with_memory, self.without)]
        return found, left


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("step", [1e-12, 1e-6, 1e-4, 1e-2])
def test_distances_are_those_that_are_found_anew(kind, step):
    rng = np.random.default_rng(3)
    for _ in range(8):
        looks = Looks(*SHAPES[kind](rng))
        size = min(looks.tables.floats[:2, col.GEOM_BOUND])
        position, turn = rng.normal(size=3) * 0.25, Rotation.random(random_state=rng)
        for _ in range(12):
            (kept, anew), (left, _) = looks.at(position, turn.as_matrix())
            assert kept == pytest.approx(anew, abs=3e-8 * size)
            if anew < 0.9 * NEAR * size:
                # Both separate by what they say: normals may differ where two sides are as near.
                back = position - (kept - 1e-3 * size) * left[:3]
                (_, clear), _ = looks.at(back, turn.as_matrix())
                assert clear > -1e-6 * size
            position = position + step * rng.normal(size=3)
            turn = Rotation.from_rotvec(step * rng.normal(size=3)) * turn


def test_a_look_at_the_same_state_finds_the_same_bits():
    rng = np.random.default_rng(5)
    for _ in range(20):
        looks = Looks(random_hull(rng, 40), random_hull(rng, 40))
        position, turn = rng.normal(size=3) * 0.2, Rotation.random(random_state=rng).as_matrix()
        (first, _), (left, _) = looks.at(position, turn)
        (again, _), (left_again, _) = looks.at(position, turn)
        assert first == again
        np.testing.assert_array_equal(left, left_again)


def test_what_moves_with_the_other_is_not_looked_for_again():
    """Carried through the world together, 2 shapes that overlap keep their side."""
    rng = np.random.default_rng(7)
    looks = Looks(random_hull(rng, 40), random_hull(rng, 40))
    looks.at((0.1, 0.05, 0.0), None)
    table = looks.with_memory.remembered.copy()
    whole = Rotation.random(random_state=rng).as_matrix()
    looks.pair._place(whole @ (0.1, 0.05, 0.0), whole, (0.0, 0.0, 0.0), whole)
    depth = separation(looks.tables, looks.places, 0, 1, 1.0, looks.with_memory)
    anew = separation(looks.tables, looks.places, 0, 1, 1.0, looks.without)
    assert depth == pytest.approx(anew, abs=1e-9)
    np.testing.assert_array_equal(looks.with_memory.remembered, table)


@pytest.mark.parametrize("kind", SHAPES)
def test_what_was_apart_is_apart_until_it_may_have_come_near(kind):
    looks = Looks(*SHAPES[kind](np.random.default_rng(2)))
    (far, _), _ = looks.at((5.0, 0.0, 0.0), None, 0.1)
    assert far == BEYOND
    for x in np.linspace(5.0, 0.5, 40):
        (kept, anew), _ = looks.at((x, 0.0, 0.0), None, 0.1)
        assert (kept == BEYOND) == (anew == BEYOND)
    assert anew < BEYOND


def test_moves_are_bounds_of_what_points_of_b_do_in_the_axes_of_a():
    rng = np.random.default_rng(11)
    for _ in range(30):
        looks = Looks(random_hull(rng, 30), random_hull(rng, 30))
        looks.pair._place(
            rng.normal(size=3),
            Rotation.random(random_state=rng).as_matrix(),
            rng.normal(size=3),
            None,
        )
        table, places = looks.with_memory.remembered, looks.places
        keep_apart(table, 0, places, 0, 1, 0.5)
        before = places.copy()
        step = 10.0 ** rng.uniform(-6, 0)
        looks.pair._place(
            places[0, :3] + step * rng.normal(size=3),
            places[0, 3:].reshape(3, 3),
            places[1, :3] + step * rng.normal(size=3),
            Rotation.from_rotvec(step * rng.normal(size=3)).as_matrix(),
        )
        moved = moved_since(table, 0, looks.tables, places, 0, 1)
        points = rng.normal(size=(200, 3))
        points *= looks.tables.floats[1, col.GEOM_BOUND] / np.linalg.norm(points, axis=1)[:, None]
        steps = [_in_a(p, points) for p in (before, places)]
        assert moved >= np.linalg.norm(steps[1] - steps[0], axis=1).max() - 1e-12
        assert apart_by(table, 0, moved) == 0.5 - moved


def _in_a(places, points):
    a, b = (row[3:].reshape(3, 3) for row in places[:2])
    return (points @ b.T + places[1, :3] - places[0, :3]) @ a


def test_pairs_find_their_rows_and_take_those_of_others_when_none_is_free():
    kinds = np.full((40, 2), col.HULL)
    ints = np.zeros((80, col.GEOM_INTS), dtype=np.int64)
    ints[:, col.GEOM_SHAPE] = kinds.ravel()
    pairs = np.arange(80).reshape(-1, 2)
    table = new_table(ints, runs_of(pairs.tolist()))
    assert table.shape == (64, COLUMNS)
    places = np.zeros((81, col.PLACE_COLUMNS))
    for a, b in pairs:
        row = row_of(table, a, b)
        keep_apart(table, row, places, a, b, 1.0)
        assert row_of(table, a, b) == row
    known = [table[row_of(table, a, b), 0] == a + 1 for a, b in pairs]
    assert np.mean(known) > 0.8
    forget_all(table)
    assert not table[:, 0].any()


def test_pairs_of_spheres_or_closed_forms_need_no_rows():
    kinds = [col.SPHERE, col.CAPSULE, col.BOX, col.HALF_SPACE, col.MESH, col.CYLINDER, col.CAPSULE]
    ints = np.zeros((7, col.GEOM_INTS), dtype=np.int64)
    ints[:, col.GEOM_SHAPE] = kinds
    none = runs_of([(0, 1), (0, 2), (0, 5), (1, 3), (1, 6), (4, 5)])
    assert len(new_table(ints, none)) == 0
    assert len(new_table(ints, runs_of([(2, 5)]))) == 1
    assert row_of(np.zeros((0, COLUMNS)), 0, 1) == -1
    assert len(new_table(ints, runs_of([]))) == 0


def runs_of(pairs):
    """Runs of single pairs, in order."""
    rows = [(low, high, i) for i, (low, high) in enumerate(pairs)]
    return np.array([*rows, (-1, 0, len(pairs))], dtype=np.int64)
