"""Runs of pairs against the pairs themselves, one by one."""

from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from spatialops.collision import Box, Ellipsoid, HalfSpace, HeightField, Sphere
from spatialops.collision import _layout as col
from spatialops.collision.pair_runs import (
    count_pairs,
    find_pair,
    first_runs,
    kinds_met,
    least_width,
    most_contacts,
    pairs_within,
)
from spatialops.errors import ArgumentError

SHAPES = [Sphere(0.1), Box((0.1, 0.2, 0.3)), Ellipsoid((0.1, 0.2, 0.4))]


@pytest.fixture(params=range(6))
def scene(request):
    """Bodies with several geoms in any order, masks, and pairs that are told."""
    rng = np.random.default_rng(request.param)
    builder, inertia = so.TreeBuilder(), so.Inertia.sphere(0.1, mass=1.0)
    names = [
        builder.add_body(
            f"b{i}",
            parent="world" if i < 2 else f"b{rng.integers(0, i)}",
            joint=so.Joint("free" if i < 2 else "revolute"),
            inertia=inertia,
        )
        for i in range(6)
    ]
    shapes = [SHAPES[int(rng.integers(0, 3))] for _ in range(20)]
    geoms = [
        so.Geom(
            f"g{i}",
            str(rng.choice([f"b{j}" for j in range(len(names))])),
            shape,
            group=int(rng.integers(1, 4)),
            collides_with=int(rng.integers(1, 4)),
        )
        for i, shape in enumerate(shapes)
    ]
    geoms += [
        so.Geom("floor", "world", HalfSpace()),
        so.Geom("hill", "world", HeightField(np.zeros((3, 3)), (1.0, 1.0))),
    ]
    geoms = [geoms[i] for i in rng.permutation(len(geoms))]
    told = [tuple(map(str, rng.choice([geom.name for geom in geoms], 2, False))) for _ in range(9)]
    moving = [pair for pair in told if {"floor", "hill"} != set(pair)]
    return so.Scene(builder.build(), geoms, ignore=moving[:4], include=moving[4:])


def rule(scene, a, b):
    """The rule of `Scene`, read aloud for two geoms."""
    first, second = scene.geoms[a], scene.geoms[b]
    told = {frozenset(pair) for pair in scene.ignore}
    wanted = {frozenset(pair) for pair in scene.include}
    of_a, of_b = scene.bodies[a], scene.bodies[b]
    if of_a == of_b or frozenset((first.name, second.name)) in told:
        return False
    if frozenset((first.name, second.name)) in wanted:
        return True
    parents = scene.model.body_parents
    beside = any(x >= 0 and y >= 0 and parents[x] == y for x, y in ((of_a, of_b), (of_b, of_a)))
    masked = first.group & second.collides_with or second.group & first.collides_with
    return bool(masked) and not beside


def test_pairs_are_those_of_the_rule_in_the_order_of_both_geoms(scene):
    n = len(scene.geoms)
    expected = [(a, b) for a in range(n) for b in range(a + 1, n) if rule(scene, a, b)]
    found = [tuple(sorted(pair)) for pair in scene.pairs.tolist()]
    assert found == expected
    assert count_pairs(scene.pair_runs) == scene.n_pairs == len(expected) > 20
    assert len(scene.pair_runs) - 1 < len(expected)


def test_what_does_not_move_comes_second_and_a_sphere_first(scene):
    shapes = [geom.shape for geom in scene.geoms]
    for a, b in scene.pairs:
        assert not isinstance(shapes[a], (HalfSpace, HeightField))
        both_move = not isinstance(shapes[b], (HalfSpace, HeightField))
        assert not (both_move and isinstance(shapes[b], Sphere) and a > b) or isinstance(
            shapes[a], Sphere
        )


def test_numbers_are_found_of_geoms(scene):
    n = len(scene.geoms)
    first = first_runs(scene.pair_runs, n)
    numbers = {tuple(sorted(pair)): p for p, pair in enumerate(scene.pairs.tolist())}
    for low in range(n):
        for high in range(low + 1, n):
            assert find_pair(scene.pair_runs, first, low, high) == numbers.get((low, high), -1)


def test_counts_and_widths_are_those_of_all_pairs(scene):
    runs = scene.pair_runs
    ints, floats = scene.geom_ints, scene.geom_floats
    shape = ints[:, col.GEOM_SHAPE]
    a, b = scene.pairs.T
    ball = (shape == col.SPHERE) | (shape == col.ELLIPSOID)
    assert pairs_within(runs, ball) == np.sum(ball[a] & ball[b])
    few = np.where(ball[a] | ball[b], 1, col.MAX_POINTS)
    assert most_contacts(ints, runs) == np.where(shape[b] >= col.MESH, 12, few).sum()
    passing = (shape[b] != col.HALF_SPACE) & ~((shape[a] == shape[b]) & (shape[a] == col.SPHERE))
    assert least_width(ints, floats, runs) == scene.pair_widths[passing].min()


def test_kinds_meet_that_have_a_pair(scene):
    kinds = scene.geom_ints[:-1, col.GEOM_SHAPE]
    met = kinds_met(scene.pair_runs, kinds, 10)
    expected = np.zeros((10, 10), dtype=bool)
    for a, b in scene.pairs:
        expected[kinds[a], kinds[b]] = expected[kinds[b], kinds[a]] = True
    assert np.array_equal(met, expected)
    assert not met.all()


def test_the_thinnest_is_found_wherever_it_stands_in_a_run(rng):
    builder, inertia = so.TreeBuilder(), so.Inertia.sphere(0.1, mass=1.0)
    for i in range(13):
        builder.add_body(f"b{i}", joint="free", inertia=inertia)
    model = builder.build()
    for thin in range(13):
        sizes = [0.01 if i == thin else 0.2 + 0.1 * i for i in range(13)]
        geoms = [so.Geom(f"g{i}", f"b{i}", Box((size,) * 3)) for i, size in enumerate(sizes)]
        assert so.Scene(model, geoms).least_width == pytest.approx(0.005)


def test_a_scene_without_geoms_has_no_pairs():
    scene = so.models.pendulum(2).scene()
    empty = so.Scene(scene.model)
    assert empty.n_pairs == 0
    assert empty.pairs.shape == empty.sides_of([]).shape == (0, 2)
    assert empty.least_width == col.INFINITE


@pytest.mark.parametrize("wrong", [[4], [-1], [0.5], [np.nan], [[0]], 0, ["floor"], None, [1j]])
def test_what_is_no_number_of_a_pair_is_refused(wrong):
    scene = so.models.pendulum(2).scene()
    assert scene.n_pairs == 4
    for of in (scene.sides_of, scene.classes_of, scene.coefficients_of):
        with pytest.raises(ArgumentError, match=r"pairs: (expected|holds)"):
            of(wrong)


def test_a_moment_of_a_pair_that_there_is_not_counts_nowhere():
    """Walls with torsional friction alone: sqrt(0.1 0) is none, and walls do not meet."""
    scene = so.models.pendulum(2).scene()
    geoms = [
        replace(geom, torsion=0.1) if isinstance(geom.shape, HalfSpace) else geom
        for geom in scene.geoms
    ]
    table = so.Scene(scene.model, geoms).pair_table
    assert not table.torsion.any()
    assert table.occur.sum() == 2


def test_thousands_of_bodies_need_a_row_each():
    """50 million pairs of 10 000 balls, in tables of less than a megabyte."""
    builder, inertia = so.TreeBuilder(), so.Inertia.sphere(0.1, mass=1.0)
    n = 10_000
    for i in range(n):
        builder.add_body(f"b{i}", joint="free", inertia=inertia)
    geoms = [so.Geom(f"g{i}", f"b{i}", Sphere(0.1)) for i in range(n)]
    scene = so.Scene(builder.build(), [so.Geom("floor", "world", HalfSpace()), *geoms])
    assert scene.n_pairs == n + n * (n - 1) // 2
    assert scene.pair_runs.nbytes < 2**20
    assert scene.most_contacts == scene.n_pairs
    last = scene.n_pairs - 1
    assert scene.pair_names(last) == (f"g{n - 2}", f"g{n - 1}")
    assert scene.pair_names(0) == ("g0", "floor")
