"""Closed mechanisms have rows and columns of their own, side by side."""

import numpy as np

import spatialops as so
from spatialops.simulation import _layout as at
from spatialops.simulation.scene.mechanisms import mechanisms_of
from spatialops.tree.loops import Loops
from spatialops.tree.tree_columns import columns_of_trees


def hinges(names):
    builder = so.TreeBuilder()
    for name in names:
        inertia = so.Inertia.sphere(0.1, mass=1.0)
        builder.add_body(name, joint=so.Joint("revolute"), inertia=inertia)
    return builder.build()


def mechanisms(model, *closures):
    loops = Loops(model, [so.Loop(**closure) for closure in closures])
    return mechanisms_of(loops, columns_of_trees(model, loops)[1])


def extents(table):
    columns = (at.CLOSED_ROW, at.CLOSED_ROWS, at.CLOSED_COLUMN, at.CLOSED_COLUMNS)
    return table[:, columns].tolist()


def ball(a, b):
    return {"kind": "ball", "a": a, "b": b}


def test_each_has_its_own():
    model = hinges("abcdefg")
    driven = {"kind": "coupler", "joints": dict.fromkeys(model.joint_names[5:], 1.0), "rate": 0.5}
    table, of_tree = mechanisms(model, ball("a", "b"), ball("d", "world"), driven)
    assert extents(table) == [[0, 3, 0, 2], [3, 3, 3, 1], [6, 1, 5, 2]]
    assert of_tree.tolist() == [0, -1, 1, -1, 2]  # trees: ab, c, d, e, fg
    assert table[:, at.CLOSED_DRIVEN].tolist() == [0, 0, 1]
    assert table[:, [at.CLOSED_TERM, at.CLOSED_TERMS]].tolist() == [[0, 3], [3, 3], [6, 2]]
    assert table[:, at.CLOSED_PLACE].tolist() == [0, 6, 9]
    assert table[:, at.CLOSED_SQUARE].tolist() == [0, 9, 18]


def test_closures_in_any_order():
    model = hinges("abcd")
    table, of_tree = mechanisms(model, ball("c", "d"), ball("a", "b"))
    assert extents(table) == [[0, 3, 2, 2], [3, 3, 0, 2]]
    assert of_tree.tolist() == [1, 0]


def test_those_whose_closures_alternate_are_one():
    model = hinges("abcdef")
    table, of_tree = mechanisms(
        model, ball("a", "b"), ball("e", "f"), ball("a", "world"), ball("c", "d")
    )
    assert extents(table) == [[0, 12, 0, 6]]  # the columns of the last lie between
    assert not np.any(of_tree)


def test_none_without_closures():
    model = hinges("ab")
    table, of_tree = mechanisms(model)
    assert table.shape == (0, at.CLOSED_INTS)
    assert of_tree.tolist() == [-1, -1]
