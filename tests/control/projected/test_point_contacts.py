"""Points given by arrays are the contacts that they stand for."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.control.projected.point_contacts import (
    PointContacts,
    point_layout,
    point_offsets,
)
from spatialops.errors import ArgumentError


def chain():
    """A free base, a ball joint, a screw and a slider."""
    builder = so.TreeBuilder()
    body = so.Inertia.box((0.2, 0.3, 0.4), mass=1.0)
    builder.add_body("base", joint=so.Joint("free"), inertia=body)
    builder.add_body("a", parent="base", joint=so.Joint("ball"), inertia=body, position=(0, 0, 1))
    builder.add_body("b", parent="a", joint=so.Joint("screw", axis="y", pitch=0.3), inertia=body)
    builder.add_body("c", parent="b", joint=so.Joint("prismatic", axis="x"), inertia=body)
    builder.add_body("d", parent="base", joint=so.Joint("revolute", axis="x"), inertia=body)
    return builder.build()


def some_points(model, q, rng):
    links = np.array(
        [
            [model.body_links[b] if b >= 0 else -1 for b in pair]
            for pair in [(3, -1), (4, 3), (2, 4)]
        ]
    )
    frames = np.linalg.qr(rng.normal(size=(3, 3, 3)))[0]
    frames[:, 2] = np.cross(frames[:, 0], frames[:, 1])
    offsets = point_offsets(model, q, links, rng.normal(size=(3, 3)))
    mu = np.array([0.3, 0.5, 0.7])
    return PointContacts(model, links, offsets, frames, mu, point_layout(("one", "two", "three")))


def test_rows_are_those_of_the_contacts_one_by_one():
    model = chain()
    rng = np.random.default_rng(0)
    q, v = model.random(rng), rng.normal(size=model.nv)
    points = some_points(model, q, rng)
    plain = HeldContacts(model, points.contacts)
    for there in (q, model.random(rng)):
        ours, theirs = points.rows(there, v), plain.rows(there, v)
        assert np.abs(theirs[0]).max() > 0.1
        assert np.abs(theirs[1]).max() > 0.1
        assert np.allclose(ours[0], theirs[0], rtol=0.0, atol=1e-13)
        assert np.allclose(ours[1], theirs[1], rtol=0.0, atol=1e-12)


def test_limits_and_names_are_those_of_the_contacts_one_by_one():
    model = chain()
    points = some_points(model, model.neutral(), np.random.default_rng(1))
    plain = HeldContacts(model, points.contacts)
    assert len(points) == len(plain) == 3
    for name in ("mu", "frames", "first", "force_rows", "pressed_rows", "pressed"):
        assert np.allclose(getattr(points, name), getattr(plain, name))
    assert np.array_equal(points.limits[0], plain.limits[0])
    assert np.array_equal(points.limits[1], plain.limits[1])
    assert points.limits[2] == plain.limits[2]
    assert points.cone_names == plain.cone_names
    assert points.gripping == points.contacts
    assert points.bounded([5.0, np.inf, 7.0]).limits[1].tolist() == [0.0, 5.0, 0.0, 0.0, 7.0]


def test_what_is_not_finite_is_refused():
    model = chain()
    points = some_points(model, model.neutral(), np.random.default_rng(2))
    with pytest.raises(ArgumentError, match="v: holds NaN"):
        points.rows(model.neutral(), np.full(model.nv, np.nan))
    with pytest.raises(ArgumentError, match="positions: holds NaN"):
        point_offsets(model, model.neutral(), points._links, np.full((3, 3), np.nan))
