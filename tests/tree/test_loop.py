"""Closures: what they refuse by name, their tables, and plain data there and back."""

import json

import numpy as np
import pytest

import spatialops as so
from spatialops import _layout as layout
from spatialops.errors import ArgumentError, ModelError

BALL = so.Inertia.sphere(0.1, mass=1.0)


@pytest.fixture
def model():
    """Two arms, a wheel on a ball joint, a plate fixed to the first arm."""
    builder = so.TreeBuilder()
    builder.add_body("left", joint=so.Joint("revolute", axis="y"), inertia=BALL)
    builder.add_body("right", joint=so.Joint("prismatic", axis="x"), inertia=BALL)
    builder.add_body("wheel", parent="left", joint=so.Joint("ball"), inertia=BALL)
    builder.add_body("plate", parent="left", position=(1.0, 0.0, 0.0))
    return builder.build()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "hinge", "a": "left"}, "kind 'hinge' is unknown; choose one of ball"),
        ({"kind": 3, "a": "left"}, "kind 3 is unknown"),
        ({"kind": "ball"}, "a: missing"),
        ({"kind": "ball", "a": "left", "distance": 1.0}, "distance: belongs to a distance"),
        ({"kind": "ball", "a": "left", "joints": {"left": 1.0}}, "joints: belongs to a coupler"),
        ({"kind": "ball", "a": "left", "position_a": (1.0, 2.0)}, "position_a: expected 3 finite"),
        (
            {"kind": "ball", "a": "left", "position_b": (1.0, 2.0, np.nan)},
            "position_b: expected 3 finite",
        ),
        ({"kind": "ball", "a": "left", "rotation_a": np.ones((3, 3))}, "is not a rotation"),
        ({"kind": "ball", "a": "left", "name": ""}, "name: expected a non-empty string"),
        ({"kind": "ball", "a": "left", "rate": (1.0, 2.0)}, "rate: expected 3 finite"),
        ({"kind": "revolute", "a": "left", "axis": "w"}, "axis: expected 3 numbers or"),
        ({"kind": "revolute", "a": "left", "axis": (0.0, 0.0, 0.0)}, "axis: must not be zero"),
        ({"kind": "prismatic", "a": "left", "rate": (0.0, 0.0, 0.0, 0.0, 1.0)}, "cannot be turned"),
        ({"kind": "distance", "a": "left"}, "distance: expected 1 finite"),
        ({"kind": "distance", "a": "left", "distance": 0.0}, "distance: must be positive"),
        ({"kind": "coupler"}, "joints: expected factors"),
        ({"kind": "coupler", "joints": {}}, "joints: expected factors"),
        ({"kind": "coupler", "joints": {"left": 0.0}}, "factor must not be zero"),
        ({"kind": "coupler", "joints": {"left": "x"}}, "joints: expected 1 number"),
        (
            {"kind": "coupler", "joints": {"left": 1.0}, "offset": np.inf},
            "offset: expected 1 finite",
        ),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ModelError, match=message):
        so.Loop(**options)


@pytest.mark.parametrize(
    ("loop", "message"),
    [
        (
            so.Loop(kind="ball", a="nobody", name="x"),
            "loop 'x': a: body: there is no body 'nobody'",
        ),
        (so.Loop(kind="ball", a="left", b=7), "b: body: index 7 is out of range"),
        (so.Loop(kind="ball", a="left", b="plate"), "are one body"),
        (so.Loop(kind="coupler", joints={"nothing": 1.0}), "there is no joint 'nothing'"),
        (so.Loop(kind="coupler", joints={"wheel": 1.0}), "'wheel' has 3 velocities, not one"),
    ],
)
def test_what_does_not_fit_the_model(model, loop, message):
    with pytest.raises(ModelError, match=message):
        so.Loops(model, [loop])


def test_names_are_unique(model):
    with pytest.raises(ModelError, match="already taken"):
        so.Loops(model, [so.Loop(kind="ball", a="left"), so.Loop(kind="ball", a="left")])
    with pytest.raises(ArgumentError, match="expected a sequence of Loop"):
        so.Loops(model, so.Loop(kind="ball", a="left"))
    with pytest.raises(ArgumentError, match=r"loops\[0\]"):
        so.Loops(model, ["ball"])


def test_tables(model):
    loops = so.Loops(
        model,
        [
            so.Loop(kind="weld", a="plate", b="right", name="w", rate=0.0 * np.ones(6)),
            so.Loop.mimic("left", of="right", multiplier=3.0, name="m"),
            so.Loop(kind="distance", a="wheel", distance=1.0, name="d"),
        ],
    )
    assert (loops.n_rows, len(loops), loops.names) == (8, 3, ("w", "m", "d"))
    assert loops.rows("m") == slice(6, 7)
    assert loops.row_names[4:] == ("w: turn y", "w: turn z", "m: sum", "d: length")
    assert loops.ints[0, [layout.LOOP_A, layout.LOOP_B]].tolist() == [
        model.body_links[0],
        model.body_links[1],
    ]
    assert loops.ints[:, layout.LOOP_DRIVEN].tolist() == [1, 0, 0]
    assert loops.term_ints[:, layout.TERM_ROW].tolist() == [0, 1, 2, 3, 4, 5, 6, 6, 7]
    assert loops.term_ints[6:8, layout.TERM_A].tolist() == [0, 1]
    assert loops.ratios[6:8].tolist() == [1.0, -3.0]
    with pytest.raises(ArgumentError, match="there is no loop 'x'"):
        loops.rows("x")


def test_rates():
    constant = so.Loop(kind="ball", a="left", rate=(1.0, 2.0, 3.0))
    assert constant.rates(5.0).tolist() == [1.0, 2.0, 3.0]
    moving = so.Loop(kind="coupler", joints={"left": 1.0}, rate=lambda t: 2.0 * t)
    assert moving.rates(3.0).tolist() == [6.0]
    assert so.Loop(kind="ball", a="left").rates(1.0).tolist() == [0.0] * 3
    bad = so.Loop(kind="ball", a="left", rate=lambda t: (t, t))
    with pytest.raises(ModelError, match="rate: expected 3 finite"):
        bad.rates(1.0)


@pytest.mark.parametrize(
    "loop",
    [
        so.Loop(
            kind="revolute",
            a="left",
            b=1,
            axis=np.array([1.0, 2.0, 3.0]),
            rotation_a=np.eye(3),
            name="r",
        ),
        so.Loop(kind="distance", a="left", distance=2, rate=0.5),
        so.Loop(kind="coupler", joints={"left": 1, "right": -2.0}, offset=0.3),
    ],
)
def test_there_and_back(loop):
    data = loop.to_data()
    again = so.Loop.from_data(json.loads(json.dumps(data)))
    assert again.to_data() == data
    for side in (0, 1):
        for one, other in zip(loop.node_frame(side), again.node_frame(side)):
            assert np.array_equal(one, other)


def test_a_function_is_not_stored():
    loop = so.Loop(kind="coupler", joints={"left": 1.0}, rate=lambda t: t, name="motor")
    again = so.Loop.from_data(json.loads(json.dumps(loop.to_data())))
    with pytest.raises(ModelError, match=r"'motor'.*functions are not stored"):
        again.rates(0.0)
