"""Lambda by the mass matrix: where its digits go, and what it refuses.

The rest is in `test_compliance`.
"""

import numpy as np
import pytest

import spatialops as so
from tests.support.trees import chain, random_inertia, random_nodes, random_tree, relative_error


def arm(rng, base, *, tip=1.0):
    """Seven revolute joints with its first at `base`; the mass of the last link is scaled."""
    builder = so.TreeBuilder()
    for i in range(7):
        own = random_inertia(rng)
        builder.add_body(
            f"b{i}",
            parent=f"b{i - 1}" if i else "world",
            joint=so.Joint("revolute", axis=rng.normal(size=3)),
            inertia=so.Inertia(tip * own.mass, own.center, tip * own.tensor) if i == 6 else own,
            position=rng.uniform(-0.5, 0.5, 3) if i else base,
        )
    return builder.build()


def routes(model, q, nodes):
    return [
        so.compliance(model, q, nodes, method=method) for method in ("mass-matrix", "recursion")
    ]


def test_the_worlds_origin_may_be_far_away():
    near, far = (
        arm(np.random.default_rng(3), base) for base in ((0.0, 0.0, 0.0), (1e7, -2e7, 3e7))
    )
    rng = np.random.default_rng(4)
    q, nodes = near.random(rng), random_nodes(rng, near, 3)
    results = [so.compliance(model, q, nodes, method="mass-matrix") for model in (near, far)]
    assert np.array_equal(*results)


def test_a_rail_may_be_long(rng):
    builder = so.TreeBuilder()
    builder.add_body("car", joint=so.Joint("prismatic"), inertia=random_inertia(rng))
    for i in range(5):
        joint = so.Joint("revolute", axis=rng.normal(size=3))
        builder.add_body(
            f"b{i}", parent=f"b{i - 1}" if i else "car", joint=joint, inertia=random_inertia(rng)
        )
    model = builder.build()
    q, nodes = model.random(rng), random_nodes(rng, model, 3)
    results = []
    for place in (0.0, 1e9):
        q[0] = place
        results.append(so.compliance(model, q, nodes, method="mass-matrix"))
    assert np.array_equal(*results)


@pytest.mark.parametrize("tip", [1e-3, 1e-6, 1e-9, 1e-12])
def test_where_digits_would_be_lost_the_recursion_takes_over(rng, tip):
    """A link much lighter than what its axis carries: M is known to few digits there."""
    model = arm(rng, (0.0, 0.0, 0.0), tip=tip)
    for _ in range(5):
        ours, reference = routes(model, model.random(rng), random_nodes(rng, model, 4))
        assert relative_error(ours, reference) < 1e-10


def test_a_long_chain_takes_the_recursion(rng):
    """Rods that reach 60 m, with M(i, i) a hundred million times what is left of it."""
    model = chain(300)
    q = rng.uniform(-0.1, 0.1, 300)
    assert np.array_equal(*routes(model, q, random_nodes(rng, model, 3)))


@pytest.mark.parametrize("angle", [1e4, 2e5, 1e9])
def test_many_turns(rng, angle):
    model = random_tree(rng, 6, kinds=("revolute", "screw"))
    q = angle * rng.uniform(-1.0, 1.0, model.nq)
    q[[kind == "screw" for kind in model.joint_kinds]] *= 10.0 / angle  # these also slide
    ours, reference = routes(model, q, random_nodes(rng, model, 4))
    assert relative_error(ours, reference) < 1e-10


def test_bodies_in_any_order(rng):
    """Breadth first and depth first: the same mechanism, the same Lambda."""
    parents = {
        "a": "world",
        "b": "world",
        "aa": "a",
        "ab": "a",
        "ba": "b",
        "aaa": "aa",
        "bab": "ba",
    }
    places = {
        name: (rng.normal(size=3), rng.uniform(-0.5, 0.5, 3), random_inertia(rng))
        for name in parents
    }
    results = []
    for order in (list(parents), ["b", "ba", "bab", "a", "ab", "aa", "aaa"]):
        builder = so.TreeBuilder()
        for name in order:
            axis, position, own = places[name]
            joint = so.Joint("revolute", axis=axis)
            builder.add_body(
                name, parent=parents[name], joint=joint, inertia=own, position=position
            )
        model, q = builder.build(), np.empty(7)
        for i, name in enumerate(parents):
            q[model.q_slice(model.joint_names[model.body_index(name)])] = 0.3 * i - 1.0
        nodes = [so.Node(name, (0.1, 0.2, 0.3)) for name in ("aaa", "bab", "ab")]
        results.append(so.compliance(model, q, nodes, method="mass-matrix"))
    assert relative_error(*results) < 1e-13


@pytest.mark.parametrize("method", ["auto", "mass-matrix", "recursion", "propagation"])
def test_singular_mass_matrices_name_the_joint(method):
    builder = so.TreeBuilder()
    builder.add_body("a", joint=so.Joint("prismatic", name="idle"))
    builder.add_body("b", parent="a", joint="prismatic", inertia=so.Inertia.sphere(0.1, mass=1.0))
    model = builder.build()
    for _ in range(2):  # the second time with memory
        with pytest.raises(so.errors.ModelError, match="'idle': nothing to move"):
            so.compliance(model, np.zeros(2), [so.Node("a")], method=method)


@pytest.mark.parametrize("method", ["auto", "mass-matrix", "recursion", "propagation"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_coordinates_must_be_finite(rng, method, bad):
    model = random_tree(rng, 5)
    q, nodes = model.random(rng), random_nodes(rng, model, 2)
    so.compliance(model, q, nodes, method=method)
    q[-1] = bad
    with pytest.raises(so.errors.ArgumentError, match="q"):
        so.compliance(model, q, nodes, method=method)


@pytest.mark.parametrize("method", ["auto", "mass-matrix", "recursion", "propagation"])
def test_nodes_of_another_model_are_refused(method):
    small, large = chain(3), chain(9)
    nodes = large.resolve([so.Node("b8")])
    so.compliance(small, np.zeros(3), [so.Node("b2")], method=method)
    with pytest.raises(so.errors.ArgumentError, match="another model"):
        so.compliance(small, np.zeros(3), nodes, method=method)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8, 11, 16])
def test_it_is_symmetric_to_the_bit(rng, count):
    """Both halves are computed, register by register; nodes of the world among the others."""
    model = random_tree(rng, 8)
    nodes = [*random_nodes(rng, model, count), so.Node("world", (1.0, 2.0, 3.0))][-count:]
    ours, reference = routes(model, model.random(rng), nodes)
    assert np.array_equal(ours, ours.T)
    assert not ours[-6:].any()
    assert relative_error(ours, reference) < 1e-10
