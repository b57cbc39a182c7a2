"""Coefficients of pairs: means, maxima, priorities, and which of them act."""

import numpy as np
import pytest

from spatialops import _arrays
from spatialops.collision import Geom, Sphere
from spatialops.collision.pair_coefficients import (
    Coefficients,
    class_coefficients,
    geom_kinds,
)
from spatialops.errors import ShapeError


def ball(**options):
    return Geom("ball", "ball", Sphere(0.1), **options)


def pair_coefficients(geoms, pairs):
    """Those of pairs of geoms, by the classes of these."""
    kinds, kind_of = geom_kinds(geoms)
    a, b = np.asarray(pairs).T
    classes = len(kinds) * kind_of[a] + kind_of[b]
    return Coefficients(*(values[classes] for values in class_coefficients(geoms)))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"friction": 0.25}, {"friction": 1.0}, (0.5, 0.0, 0.0)),
        ({"friction": 0.25, "mixing": "maximum"}, {"friction": 1.0}, (1.0, 0.0, 0.0)),
        ({"friction": 0.25, "priority": 1}, {"friction": 1.0}, (0.25, 0.0, 0.0)),
        ({"friction": 0.25, "priority": -1}, {"friction": 1.0}, (1.0, 0.0, 0.0)),
        ({"friction": 0.5, "condim": 1}, {"friction": 0.5, "condim": 1}, (0.0, 0.0, 0.0)),
        ({"torsion": 0.1}, {"torsion": 0.4, "rolling": 0.3}, (0.5, 0.2, 0.0)),
        (
            {"torsion": 0.1, "rolling": 0.2, "mixing": "maximum", "condim": 3},
            {"torsion": 0.4, "mixing": "maximum"},
            (0.5, 0.4, 0.0),
        ),
    ],
)
def test_what_a_pair_has(first, second, expected):
    for geoms in ((ball(**first), ball(**second)), (ball(**second), ball(**first))):
        found = pair_coefficients(geoms, [[0, 1]])
        assert (found.friction[0], found.torsion[0], found.rolling[0]) == pytest.approx(expected)


@pytest.mark.parametrize("wrong", [{"mixing": "mean of both"}, {"priority": 0.5}, {"condim": 2}])
def test_what_a_geom_refuses(wrong):
    with pytest.raises(ShapeError, match=next(iter(wrong))):
        ball(**wrong)


def test_many_pairs_are_taken_in_parts(rng, monkeypatch):
    geoms = [
        ball(
            friction=rng.uniform(),
            restitution=rng.uniform(),
            torsion=rng.uniform(),
            mixing=str(rng.choice(["mean", "maximum"])),
            priority=int(rng.integers(2)),
            condim=int(rng.choice([1, 3, 4, 6])),
        )
        for _ in range(12)
    ]
    pairs = np.column_stack(np.triu_indices(12, 1))
    whole = pair_coefficients(geoms, pairs)
    monkeypatch.setattr(_arrays, "_AT_ONCE", 7)
    for values, expected in zip(pair_coefficients(geoms, pairs), whole, strict=True):
        assert np.array_equal(values, expected)
    assert len(set(whole.friction)) > 10


def test_pairs_of_few_kinds_have_what_each_pair_has_by_itself(rng):
    kinds = [
        ball(friction=0.25, torsion=0.1),
        ball(friction=1.0, mixing="maximum"),
        ball(friction=0.5, priority=1, restitution=0.3),
    ]
    geoms = [kinds[i] for i in rng.integers(0, 3, 30)]
    pairs = np.column_stack(np.triu_indices(30, 1))
    together = pair_coefficients(geoms, pairs)
    alone = [pair_coefficients(geoms, pair[None]) for pair in pairs]
    for name, values in together._asdict().items():
        assert np.array_equal(values, [getattr(one, name)[0] for one in alone])
    assert len(set(together.friction)) > 2
