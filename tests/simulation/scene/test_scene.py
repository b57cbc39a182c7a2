"""Scenes: what they refuse by name, their tables, and plain data there and back."""

import json

import numpy as np
import pytest

import spatialops as so
from spatialops.collision import HalfSpace, Sphere
from spatialops.errors import ArgumentError, ShapeError, SpatialOpsError
from spatialops.simulation.scene import touching_pairs

BALL = so.Inertia.sphere(0.1, mass=1.0)


@pytest.fixture
def model():
    builder = so.TreeBuilder()
    builder.add_body("arm", joint=so.Joint("revolute", axis="y"), inertia=BALL)
    builder.add_body(
        "hand", parent="arm", inertia=BALL, position=(0.0, 0.0, -1.0)
    )  # fixed: one body with the arm
    builder.add_body("ball", joint=so.Joint("free"), inertia=BALL)
    return builder.build()


def geoms():
    return [
        so.Geom("floor", "world", HalfSpace((0.0, 0.0, 2.0)), friction=0.7, restitution=0.2),
        so.Geom("tip", "hand", Sphere(0.2), position=(0.0, 0.0, -0.3)),
        so.Geom("ball", "ball", Sphere(0.1)),
    ]


@pytest.mark.parametrize(
    ("extra", "ignore", "named"),
    [
        (so.Geom("tip", "arm", Sphere(0.1)), (), "geom 'tip': the name is already taken"),
        (so.Geom("foot", "leg", Sphere(0.1)), (), "geom 'foot': body: there is no body 'leg'"),
        (so.Geom("foot", None, Sphere(0.1)), (), "geom 'foot': body"),
        (
            so.Geom("roof", "arm", HalfSpace()),
            (),
            "geom 'roof': a half-space must sit on the world, not on 'arm'",
        ),
        (
            so.Geom("roof", "hand", HalfSpace()),
            (),
            "geom 'roof': a half-space must sit on the world, not on 'hand'",
        ),
        (
            so.Geom("roof", "world", HalfSpace()),
            (("tip", "cieling"),),
            "ignore: there is no geom 'cieling'",
        ),
    ],
)
def test_bad_geoms_are_refused(model, extra, ignore, named):
    with pytest.raises(ShapeError, match=named):
        so.Scene(model, [*geoms(), extra], ignore=ignore)


@pytest.mark.parametrize("ignore", [["abc"], [("tip", "ball", "floor")], [3], 3])
def test_pairs_to_ignore_must_be_pairs(model, ignore):
    with pytest.raises(SpatialOpsError, match="ignore"):
        so.Scene(model, geoms(), ignore=ignore)


@pytest.mark.parametrize("bad", ["model", None])
def test_the_model_must_be_one(bad):
    with pytest.raises(SpatialOpsError, match="model"):
        so.Scene(bad)


@pytest.mark.parametrize("bad", [["tip"], None, 3, [None]])
def test_geoms_must_be_geoms(model, bad):
    with pytest.raises(SpatialOpsError, match="geom"):
        so.Scene(model, bad)


def test_the_state_is_checked(model):
    with pytest.raises(ArgumentError, match=r"state\.q: expected shape"):
        so.Scene(model, geoms(), state=so.State(np.zeros(2), np.zeros(model.nv)))
    with pytest.raises(ArgumentError, match="state: q, v and time must be finite"):
        so.Scene(model, geoms(), state=so.State(model.neutral(), np.full(model.nv, np.nan)))
    with pytest.raises(ArgumentError, match="state"):
        so.Scene(model, geoms(), state=np.zeros(3))


def test_default_state_is_at_rest_and_a_copy(model):
    scene = so.Scene(model, geoms())
    assert np.array_equal(scene.state.q, model.neutral())
    assert not scene.state.v.any()
    q = model.neutral()
    own = so.Scene(model, geoms(), state=so.State(q, np.zeros(model.nv)))
    q[0] = 1.0
    assert own.state.q[0] == 0.0


def test_a_geom_on_a_merged_body_moves_with_its_carrier(model, rng):
    scene, q = so.Scene(model, geoms()), model.random(rng)
    record = so.Simulator(scene).run(so.State(q, np.zeros(model.nv)), duration=0.0)
    positions, _ = record.geom_positions([0])
    expected = so.node_positions(model, q, [so.Node("arm", (0.0, 0.0, -1.3)), so.Node("ball")])
    assert np.allclose(positions[0, 1:], expected, rtol=0.0, atol=1e-14)
    assert not positions[0, 0].any()


def test_scenes_without_geoms_or_pairs(model):
    assert so.Scene(model).pairs.shape == (0, 2)
    assert so.Scene(model).smallest_radius == 1.0
    scene = so.Scene(model, geoms())
    assert scene.smallest_radius == 0.1
    assert [scene.pair_names(p) for p in range(3)] == [
        ("tip", "floor"),
        ("ball", "floor"),
        ("tip", "ball"),
    ]


def test_plain_data_there_and_back(model):
    scene = so.Scene(model, geoms(), ignore=[("tip", "ball")])
    again = so.Scene.from_data(model, json.loads(json.dumps(scene.to_data())), scene.state)
    assert np.array_equal(again.pairs, scene.pairs)
    assert np.array_equal(again.geom_ints, scene.geom_ints)
    assert np.array_equal(again.geom_floats, scene.geom_floats)
    assert again.ignore == (("tip", "ball"),)
    assert again.to_data() == scene.to_data()


def test_a_pair_may_have_a_friction_of_its_own(model):
    scene = so.Scene(model, geoms(), pair_laws=[so.Pair(a="floor", b="ball", friction=0.05)])
    friction = scene.coefficients_of(np.arange(scene.n_pairs)).friction
    given = {frozenset(scene.pair_names(p)): mu for p, mu in enumerate(friction)}
    assert given[frozenset(("ball", "floor"))] == 0.05
    assert given[frozenset(("tip", "floor"))] == pytest.approx(np.sqrt(0.7 * 0.5))
    again = so.Scene.from_data(model, json.loads(json.dumps(scene.to_data())), scene.state)
    assert again.pair_laws == scene.pair_laws


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ({"b": "bell"}, "no geom 'bell'"),
        ({"friction": -0.5}, "friction"),
        ({"friction": np.nan}, "friction"),
        ({"friction": "slippery"}, "friction"),
    ],
)
def test_frictions_of_pairs_are_checked(model, bad, named):
    with pytest.raises(SpatialOpsError, match=named):
        so.Scene(model, geoms(), pair_laws=[so.Pair(**{"a": "floor", "b": "ball", **bad})])


def test_a_scene_says_what_it_is(model):
    scene = so.Scene(model, geoms(), ignore=[("tip", "ball")])
    lines = repr(scene).splitlines()
    assert len(lines) == 5
    assert lines[0].startswith(f"Scene of {model.n_bodies} bodies, {model.nv} velocities, 3 geoms")
    assert "2 Sphere" in lines[2]
    assert lines[3].startswith("  pairs that may touch: 2")
    assert lines[4] == "  closures: none"


def test_more_runs_of_pairs_than_there_is_room_for_are_refused(monkeypatch):
    """Of geoms whose groups go to and fro a pair is a run."""
    builder = so.TreeBuilder()
    for i in range(6):
        builder.add_body(f"b{i}", joint="free", inertia=BALL)
    model = builder.build()
    masks = [(1, 1), (2, 2)] * 3
    balls = [
        so.Geom(f"b{i}", f"b{i}", Sphere(0.1), group=group, collides_with=other)
        for i, (group, other) in enumerate(masks)
    ]
    monkeypatch.setattr(touching_pairs, "_MOST", 5)
    with pytest.raises(ArgumentError, match=r"of 6 of them are more than 5e.00 runs.*group"):
        so.Scene(model, balls)
    monkeypatch.setattr(touching_pairs, "_MOST", 6)
    assert so.Scene(model, balls).n_pairs == 6
