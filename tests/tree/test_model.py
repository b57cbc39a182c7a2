"""The frozen model: sizes, names, frames, limits, nodes, and going through arrays."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import spatialops as so
from tests.support.trees import random_nodes, relative_error


def test_sizes_agree(model):
    assert model.neutral().shape == (model.nq,)
    assert len(model.body_names) == len(model.joint_names) == model.n_bodies
    at_q, at_v = 0, 0
    for name in model.joint_names:
        q, v = model.q_slice(name), model.v_slice(name)
        assert (q.start, v.start) == (at_q, at_v)
        at_q, at_v = q.stop, v.stop
        assert all(model.joint_of_link(k) == name for k in range(v.start, v.stop))
    assert (at_q, at_v) == (model.nq, model.nv)
    for values in (
        model.lower,
        model.upper,
        model.damping,
        model.velocity_limit,
        model.effort_limit,
    ):
        assert values.shape == (model.nv,)


def test_models_do_not_change(model):
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.lower = None
    with pytest.raises(ValueError, match="read-only"):
        model.lower[0] = 0.0
    with pytest.raises(TypeError):
        model.frames["new"] = None


def test_random_coordinates_lie_within_limits(rng):
    builder, ball = so.TreeBuilder(), so.Inertia.sphere(0.1, mass=1.0)
    limits = [(-0.1, 0.2), (3.0, np.inf), (-np.inf, -9.0), (100.0, 101.0)]
    for i, (lower, upper) in enumerate(limits):
        builder.add_body(
            f"b{i}", joint=so.Joint("prismatic", lower=lower, upper=upper), inertia=ball
        )
    model = builder.build()
    for _ in range(50):
        q = model.random(rng)
        assert np.isfinite(q).all()
        assert (model.lower <= q).all()
        assert (q <= model.upper).all()


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]
)
def test_copies_compute_the_same(model, state, rng, again):
    q, v, a = state
    nodes, other = random_nodes(rng, model, 3), again(model)
    assert other is not model
    assert other.warnings == model.warnings
    assert dict(other.frames).keys() == model.frames.keys()
    assert np.array_equal(so.forward_dynamics(other, q, v, a), so.forward_dynamics(model, q, v, a))
    assert np.array_equal(so.compliance(other, q, nodes), so.compliance(model, q, nodes))


def test_arrays_round_trip(model, state, rng):
    again = so.Model.from_arrays(model.to_arrays())
    q, v, a = state
    assert again.body_names == model.body_names
    assert again.joint_kinds == model.joint_kinds
    assert np.array_equal(so.inverse_dynamics(again, q, v, a), so.inverse_dynamics(model, q, v, a))
    for name, frame in model.frames.items():
        assert np.array_equal(again.frame(name).position, frame.position)
    data = model.to_arrays()
    del data["tree"]
    with pytest.raises(so.errors.ModelError, match="'tree' is missing"):
        so.Model.from_arrays(data)


def test_nodes_by_name_and_by_index(model, state, rng):
    index = [so.Node(b, rng.normal(size=3)) for b in range(model.n_bodies)]
    name = [so.Node(model.body_names[b], point) for b, point in index]
    pairs = [(b, point.tolist()) for b, point in index]
    expected = so.node_positions(model, state[0], index)
    assert np.array_equal(so.node_positions(model, state[0], name), expected)
    assert np.array_equal(so.node_positions(model, state[0], pairs), expected)
    poses = so.body_poses(model, state[0])
    for b, (point, where) in enumerate(zip([node.position for node in index], expected)):
        assert relative_error(poses.positions[b] + poses.rotations[b] @ point, where) < 1e-13


def test_world_nodes_do_not_move(model, state):
    q, v, a = state
    nodes = [so.Node("world", (1.0, 2.0, 3.0))]
    assert np.array_equal(so.node_positions(model, q, nodes), [[1.0, 2.0, 3.0]])
    assert not so.jacobian(model, q, nodes).any()
    assert not so.node_velocities(model, q, v, nodes).any()
    assert not so.node_accelerations(model, q, v, a, nodes).any()


@pytest.mark.parametrize(
    "bad",
    [
        None,
        5,
        "b0",
        so.Node("b0"),
        [so.Node("ghost")],
        [so.Node(99)],
        [so.Node(-1)],
        [("b0", (0.0, 1.0))],
        [("b0", (0.0, 1.0, np.nan))],
        [("b0", "here")],
        [("b0", None)],
        [(None, (0.0, 0.0, 0.0))],
        [None],
        [1.5],
        [("b0", (0, 0, 0), 1)],
    ],
    ids=repr,
)
def test_bad_nodes_are_refused(model, bad):
    with pytest.raises(so.errors.ArgumentError):
        model.resolve(bad)


def test_unknown_names_say_what_there_is(model):
    with pytest.raises(so.errors.ArgumentError, match="there is no joint 'ghost'; there are"):
        model.q_slice("ghost")
    with pytest.raises(so.errors.ArgumentError, match="there is no joint"):
        model.v_slice(None)
    with pytest.raises(so.errors.ArgumentError, match="there is no body 'ghost'"):
        model.frame("ghost")
    for bad in ("ghost", "world", -1, 10**6):
        with pytest.raises(so.errors.ArgumentError):
            model.body_index(bad)


def test_bodies_by_name(model):
    assert [model.body_index(name) for name in model.body_names] == list(range(model.n_bodies))


def test_nodes_ready_made(model, state, rng):
    nodes = random_nodes(rng, model, 4)
    ready = model.resolve(nodes)
    assert np.array_equal(
        so.compliance(model, state[0], ready), so.compliance(model, state[0], nodes)
    )


def test_its_repr_says_in_five_lines_what_it_is():
    ball = so.Inertia.sphere(0.1, mass=1.5)
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -1.62))
    builder.add_body("lander", joint="free", inertia=ball)
    builder.add_body("leg", parent="lander", joint="revolute", inertia=ball)
    assert repr(builder.build()).split("\n") == [
        "Model of 2 bodies",
        "  bodies: 'lander', 'leg'",
        "  joints: 1 free, 1 revolute; nq = 8, nv = 7",
        "  mass: 3 kg",
        "  gravity: (0, 0, -1.62) m/s^2",
    ]


def test_the_repr_of_a_large_one_stays_short():
    text = repr(so.models.pendulum(40).model)
    assert "and 32 more" in text
    assert len(text.split("\n")) == 5


def test_named_nodes_are_looked_up_once():
    model = so.models.pendulum(3).model
    nodes = [so.Node("link2", (0.0, 0.0, -0.5)), "link1"]
    ready = model.resolve(nodes)
    assert model.resolve(list(nodes)) is ready
    assert model.resolve(iter(nodes)) is ready
    assert model.resolve([so.Node("link2", np.array([0.0, 0.0, -0.5])), "link1"]) is not ready
    for i in range(100):
        model.resolve([so.Node("link1", (0.0, 0.0, float(i)))])
    assert model.resolve(nodes) is ready
    assert len(model._resolved) <= 64


def test_an_index_is_never_taken_for_another_kind():
    model = so.models.pendulum(3).model
    model.resolve([1])
    for wrong in (1.0, so.Node(1.0)):
        with pytest.raises(so.errors.ArgumentError):
            model.resolve([wrong])
