"""Tables by branches: links depth first, what they carry after them, constants in columns."""

import numpy as np
import pytest

import spatialops as so
from spatialops import _layout as layout
from spatialops.algebra.simd import WIDTH
from spatialops.tree.branches import (
    ALONG,
    ANGULAR,
    BLOCK,
    FEW,
    LARGE,
    LAST,
    NUMBER,
    RANK,
    SLIDING,
    TURNING,
    Branches,
    branches_of,
)
from tests.support.trees import chain, random_tree


def columns(model):
    """Constants with a column per link."""
    constants = model.branches.constants
    return (
        constants.reshape(len(constants), -1, WIDTH)
        .swapaxes(0, 1)
        .reshape(-1, WIDTH * len(constants))
    )


@pytest.mark.parametrize("seed", range(6))
def test_what_a_link_carries_comes_right_after_it(seed):
    model = random_tree(np.random.default_rng(seed), 9, branching=0.7)
    tree, n = model.branches.tree, model.nv
    parents, rank = tree[:, layout.PARENT], tree[:, RANK]
    assert sorted(rank) == list(range(n))
    assert all(parents[k] < k for k in range(n))
    for k in range(n):
        carried = [k]
        for j in range(k + 1, n):
            if parents[j] in carried:
                carried.append(j)
        assert carried == list(range(k, tree[k, LAST] + 1))
        assert rank[tree[k, NUMBER]] == k


def test_large_trees_have_rows_to_spare():
    model = chain(3)
    tables = model.branches
    for eights, rows in ((LARGE, LARGE), (LARGE + 1, LARGE + 1 + BLOCK)):
        large = Branches(tables.tree, np.zeros((eights, 1)), few=0)
        assert len(large.workspace()) == rows


@pytest.mark.parametrize("seed", range(6))
def test_columns_are_rows_of_the_models_tables(seed):
    model = random_tree(np.random.default_rng(seed), 9, branching=0.7)
    tree, constants = model.branches.tree, columns(model)
    rank = tree[:, RANK]
    assert constants.shape[1] % WIDTH == 0
    assert 0 <= constants.shape[1] - model.nv < WIDTH
    assert not constants[:, model.nv :].any()
    for k, j in enumerate(rank):
        parent = model.tree[k, layout.PARENT]
        assert tree[j, layout.PARENT] == (rank[parent] if parent >= 0 else -1)
        assert tree[j, layout.FIRST_Q] == model.tree[k, layout.FIRST_Q]
        link = model.links[k]
        assert np.array_equal(
            constants[layout.PLACE_R : layout.PLACE_R + 9, j],
            link[layout.PLACE_R : layout.PLACE_R + 9],
        )
        assert np.array_equal(
            constants[layout.COM : layout.COM + 3, j],
            link[layout.MASS] * link[layout.COM : layout.COM + 3],
        )
        assert np.array_equal(
            constants[layout.INERTIA : layout.INERTIA + 6, j],
            link[layout.INERTIA : layout.INERTIA + 6],
        )
    assert (tree[:, layout.SIZE_Q] == model.nq).all()


def test_axes():
    builder = so.TreeBuilder()
    own = so.Inertia.box((0.1, 0.2, 0.3), mass=1.0)
    builder.add_body("slider", joint=so.Joint("prismatic"), inertia=own, position=(5.0, 0.0, 0.0))
    builder.add_body(
        "arm", parent="slider", joint=so.Joint("revolute"), inertia=own, position=(7.0, 0.0, 0.0)
    )
    builder.add_body(
        "nut",
        parent="arm",
        joint=so.Joint("screw", pitch=0.2),
        inertia=own,
        position=(9.0, 0.0, 0.0),
    )
    constants = columns(builder.build())[:, :3]
    assert constants[[TURNING, ANGULAR]].tolist() == [[0.0, 1.0, 1.0]] * 2
    assert constants[ALONG].tolist() == [1.0, 0.0, 0.2]
    # Positions count from the first axis that turns.
    assert constants[SLIDING].tolist() == [0.0, 0.0, 0.2]
    assert constants[layout.PLACE_P].tolist() == [0.0, 0.0, 9.0]


def test_few_nodes():
    assert branches_of(chain(5).tree, chain(5).links).few == FEW
    assert chain(30).branches.few == FEW
    assert 0 < chain(100).branches.few < FEW
