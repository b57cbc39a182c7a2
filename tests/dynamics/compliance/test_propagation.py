"""Lambda by propagation: joints of all kinds, branches that meet, memory, and when it is taken."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import spatialops as so
from spatialops._compile.fast_call import LONG
from spatialops.dynamics.compliance.compliance import compliance
from spatialops.tree.branches import FEW, FREE, MOST_LINKS
from tests.support.trees import chain, random_inertia, random_nodes, random_tree, relative_error


def routes(model, q, nodes):
    return [so.compliance(model, q, nodes, method=name) for name in ("propagation", "recursion")]


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "screw", "ball", "free"])
@pytest.mark.parametrize("tip", [1.0, 1e-6, 1e-12])
def test_joints_of_one_kind(rng, kind, tip):
    """Also where a link is much lighter than what its axis carries: D looks ahead of no digits."""
    builder = so.TreeBuilder()
    for i in range(4):
        own = random_inertia(rng)
        joint = so.Joint(kind if i or kind != "free" else "free")
        if kind in ("revolute", "prismatic"):
            joint = so.Joint(kind, axis=rng.normal(size=3))
        if kind == "screw":
            joint = so.Joint(kind, axis=rng.normal(size=3), pitch=0.3)
        if kind == "free" and i:
            joint = so.Joint("revolute", axis=rng.normal(size=3))
        scale = tip if i == 3 else 1.0
        own = so.Inertia(scale * own.mass, own.center, scale * own.tensor)
        parent, position = f"b{i - 1}" if i else "world", rng.uniform(-0.5, 0.5, 3)
        builder.add_body(f"b{i}", parent=parent, joint=joint, inertia=own, position=position)
    model = builder.build()
    for _ in range(5):
        ours, reference = routes(model, model.random(rng), random_nodes(rng, model, 3))
        assert relative_error(ours, reference) < 1e-10


@pytest.mark.parametrize("bodies", [1, 8, 9, 30])
def test_branches_meet(rng, bodies):
    """Trees of all shapes, several of which may stand on the world."""
    for _ in range(5):
        model = random_tree(rng, bodies)
        ours, reference = routes(model, model.random(rng), random_nodes(rng, model, 6))
        assert relative_error(ours, reference) < 1e-10


@pytest.mark.parametrize("armature", [0.0, 0.7])
def test_free_bases(rng, armature):
    """Six axes at once where they have no armature; several bases, some that carry nothing."""
    builder = so.TreeBuilder()
    for i, parent in enumerate(["world", "b0", "b1", "world", "world", "b4", "b4"]):
        free = so.Joint("free", armature=[armature, 0.0, 0.0, 0.0, 0.0, 0.0])
        joint = free if parent == "world" else so.Joint("revolute", axis=rng.normal(size=3))
        position, own = rng.uniform(-0.5, 0.5, 3), random_inertia(rng)
        builder.add_body(f"b{i}", parent=parent, joint=joint, inertia=own, position=position)
    model = builder.build()
    assert model.branches.tree[:, FREE].sum() == (3 if armature == 0.0 else 0)
    for count in (1, 5):
        ours, reference = routes(model, model.random(rng), random_nodes(rng, model, count))
        assert relative_error(ours, reference) < 1e-12


def test_more_nodes_than_memory_is_kept_for(rng):
    model = random_tree(rng, 6)
    q = model.random(rng)
    for count in (2, 40, 3, FEW + 1):
        ours, reference = routes(model, q, random_nodes(rng, model, count))
        assert relative_error(ours, reference) < 1e-10
    assert model.branches.factor_work.nbytes + model.branches.factor_rows.nbytes < 1e6


@pytest.mark.parametrize("links", [7, 70])
def test_auto_takes_it_for_few_nodes(rng, links):
    model = chain(links)
    q, few = 0.1 * model.random(rng), random_nodes(rng, model, min(3, model.branches.few))
    for _ in range(2):  # the second time with memory
        result = so.compliance(model, q, few)
        assert np.array_equal(result, so.compliance(model, q, few, method="propagation"))
        assert not np.array_equal(result, so.compliance(model, q, few, method="recursion"))


def test_auto_takes_the_recursion_for_many(rng):
    model = chain(LONG)
    q, many = 0.1 * model.random(rng), random_nodes(rng, model, FEW)
    by_recursion = so.compliance(model, q, many, method="recursion")
    assert np.array_equal(so.compliance(model, q, many), by_recursion)


def test_very_long_chains_take_the_recursion():
    assert chain(MOST_LINKS + 1).branches.few == 0


def test_threads_have_memory_of_their_own(rng):
    model = chain(LONG + 6)
    nodes = model.resolve(random_nodes(rng, model, 1))
    states = [0.1 * model.random(rng) for _ in range(20)]
    expected = [compliance(model, q, nodes) for q in states]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda q: compliance(model, q, nodes), states))
    assert np.array_equal(results, expected)
    assert len(model.branches.lent) <= 5
