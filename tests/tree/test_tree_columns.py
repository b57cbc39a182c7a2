"""Trees have columns of their own where these lie side by side."""

import numpy as np

import spatialops as so
from spatialops.tree.loops import Loops
from spatialops.tree.tree_columns import columns_of_trees


def forest(parents):
    """Bodies on hinges, each on another or on the world."""
    builder = so.TreeBuilder()
    for name, parent in parents:
        builder.add_body(
            name,
            parent=parent,
            joint=so.Joint("revolute"),
            inertia=so.Inertia.sphere(0.1, mass=1.0),
        )
    return builder.build()


def test_trees_side_by_side():
    model = forest([("a", "world"), ("b", "a"), ("c", "world"), ("d", "c"), ("e", "c")])
    tree_of, trees = columns_of_trees(model, Loops(model, []))
    assert trees.tolist() == [0, 2, 5]
    assert tree_of.tolist() == [0, 0, 1, 1, 1]


def test_trees_whose_links_alternate_are_one():
    model = forest([("a", "world"), ("c", "world"), ("b", "a"), ("d", "world")])
    tree_of, trees = columns_of_trees(model, Loops(model, []))
    assert trees.tolist() == [0, 3, 4]
    assert tree_of.tolist() == [0, 0, 0, 1]


def test_closures_join_trees():
    closed = so.models.four_bar()
    tree_of, trees = columns_of_trees(closed.model, closed.loops)
    assert trees.tolist() == [0, closed.model.nv]
    assert not np.any(tree_of)


def test_closures_join_no_others():
    names = "abcdef"
    model = forest([(name, "world") for name in names])
    ball = so.Loop(kind="ball", a="b", b="d", name="tie")
    gear = so.Loop(kind="coupler", joints={model.joint_names[4]: 1.0, model.joint_names[5]: 2.0})
    to_world = so.Loop(kind="ball", a="a", b="world")
    tree_of, trees = columns_of_trees(model, Loops(model, [ball, gear, to_world]))
    assert trees.tolist() == [0, 1, 4, 6]  # what lies between is with them
    assert tree_of.tolist() == [0, 1, 1, 1, 2, 2]
