"""Building mechanisms: what comes out, and every error, which names the body and the field."""

import numpy as np
import pytest

import spatialops as so
from tests.support.trees import random_inertia, random_rotation, random_tree, relative_error

BALL = so.Inertia.sphere(0.1, mass=1.0)


def builder(*bodies):
    """A builder with bodies (name, parent) on revolute joints."""
    result = so.TreeBuilder()
    for name, parent in bodies:
        result.add_body(name, parent=parent, joint="revolute", inertia=BALL)
    return result


def test_order_of_addition_does_not_matter_to_parents():
    model = builder(("c", "b"), ("b", "a"), ("a", "world")).build()
    assert model.body_names == ("a", "b", "c")
    assert model.body_parents.tolist() == [-1, 0, 1]
    assert (model.tree[:, 0] < np.arange(model.nv)).all()


def test_bodies_keep_their_order_where_it_is_free():
    model = builder(("a", "world"), ("b", "world"), ("c", "a")).build()
    assert model.body_names == ("a", "b", "c")


def test_joint_names_default_to_bodies():
    model = (
        builder(("a", "world"))
        .add_body("b", parent="a", joint=so.Joint("prismatic", name="j"), inertia=BALL)
        .build()
    )
    assert model.joint_names == ("a", "j")
    assert model.q_slice("j") == slice(1, 2)
    assert model.v_slice("a") == slice(0, 1)


def test_fixed_bodies_are_merged(rng):
    a = random_inertia(rng)
    b = random_inertia(rng)
    place = rng.normal(size=3)
    turn = random_rotation(rng)
    both = so.TreeBuilder().add_body("a", joint="revolute", inertia=a)
    two = both.add_body("b", parent="a", inertia=b, position=place, rotation=turn).build()
    one = (
        so.TreeBuilder()
        .add_body("a", joint="revolute", inertia=a + b.rotated(turn).shifted(place))
        .build()
    )
    q = np.array([0.4])
    assert two.n_bodies == 1
    assert relative_error(so.mass_matrix(two, q), so.mass_matrix(one, q)) < 1e-12
    point = rng.normal(size=3)
    there = so.node_positions(two, q, [so.Node("b", point), so.Node("a", place + turn @ point)])
    assert np.allclose(there[0], there[1])


def test_bodies_fixed_to_the_world_place_what_hangs_on_them():
    b = so.TreeBuilder().add_body("table", position=(1.0, 2.0, 3.0), inertia=BALL)
    model = b.add_body(
        "arm", parent="table", joint="revolute", inertia=BALL, position=(0.0, 0.0, 1.0)
    ).build()
    assert model.mass == 1.0  # the table does not move
    assert np.allclose(so.node_positions(model, np.zeros(1), [so.Node("arm")]), [[1.0, 2.0, 4.0]])
    assert np.allclose(
        so.node_positions(model, np.zeros(1), [so.Node("table", (0, 0, 1))]), [[1.0, 2.0, 4.0]]
    )


def test_axes_in_any_direction_turn_about_themselves(rng):
    axis = rng.normal(size=3)
    model = (
        so.TreeBuilder().add_body("a", joint=so.Joint("revolute", axis=axis), inertia=BALL).build()
    )
    turn = so.body_poses(model, np.array([0.7])).rotations[0]
    unit = axis / np.linalg.norm(axis)
    assert np.allclose(turn @ unit, unit)
    assert np.trace(turn) == pytest.approx(1.0 + 2.0 * np.cos(0.7))
    assert np.allclose(so.jacobian(model, np.array([0.7]), [so.Node("a")])[:3, 0], unit)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda b: b.add_body("a"), "body 'a': name: is already taken"),
        (lambda b: b.add_body("world"), "body 'world': name: expected"),
        (lambda b: b.add_body(""), "body '': name: expected"),
        (lambda b: b.add_body(None), "body None: name: expected"),
        (lambda b: b.add_body("b", parent=3), "body 'b': parent: expected a body's name"),
        (lambda b: b.add_body("b", joint=3), "body 'b': joint: expected a Joint"),
        (lambda b: b.add_body("b", joint="hinge"), "joint 'b': kind 'hinge' is unknown"),
        (
            lambda b: b.add_body("b", inertia=1.0),
            "body 'b': inertia: expected an Inertia, got float",
        ),
        (
            lambda b: b.add_body("b", position=(0.0, 1.0)),
            "body 'b': position: expected 3 finite numbers",
        ),
        (
            lambda b: b.add_body("b", position=(0.0, 1.0, np.nan)),
            "body 'b': position: expected 3 finite numbers",
        ),
        (lambda b: b.add_body("b", position="here"), "body 'b': position: expected 3 numbers"),
        (lambda b: b.add_body("b", position=None), "body 'b': position: expected 3"),
        (
            lambda b: b.add_body("b", rotation=2.0 * np.eye(3)),
            "body 'b': rotation: is not a rotation",
        ),
        (
            lambda b: b.add_body("b", rotation=np.zeros(4)),
            "body 'b': rotation: a quaternion must not be zero",
        ),
        (
            lambda b: b.add_body("b", parent="ghost").build(),
            "body 'b': parent: there is no body 'ghost'",
        ),
        (
            lambda b: b.add_body("b", parent="a", joint="free", inertia=BALL).build(),
            "body 'b': joint: a free joint must hang on 'world', not 'a'",
        ),
        (
            lambda b: b.add_body("b", joint=so.Joint("revolute", name="a"), inertia=BALL).build(),
            "body 'b': joint: name 'a' is already taken by 'a'",
        ),
        (
            lambda b: b.add_body("b", parent="a", joint="revolute").build(),
            "body 'b': inertia: missing",
        ),
        (lambda b: b.add_body("b", joint="free").build(), "body 'b': inertia: missing"),
    ],
)
def test_refused(make, message):
    with pytest.raises(so.errors.ModelError, match=message):
        make(builder(("a", "world")))


def test_cycles_are_refused_and_named():
    loop = builder(("root", "world"), ("a", "c"), ("b", "a"), ("c", "b"))
    with pytest.raises(
        so.errors.ModelError, match=r"cycle: .*(a -> b -> c|b -> c -> a|c -> a -> b)"
    ):
        loop.build()
    with pytest.raises(so.errors.ModelError, match="cycle"):
        builder(("a", "a")).build()


def test_mechanisms_without_motion_are_refused():
    with pytest.raises(so.errors.ModelError, match="no moving body"):
        so.TreeBuilder().build()
    with pytest.raises(so.errors.ModelError, match="no moving body"):
        so.TreeBuilder().add_body("a", inertia=BALL).build()


@pytest.mark.parametrize("gravity", [(0.0, 1.0), "down", None, (0.0, 0.0, np.nan)])
def test_bad_gravity_is_refused(gravity):
    with pytest.raises(so.errors.ModelError, match="gravity: expected 3"):
        so.TreeBuilder(gravity=gravity)


def test_a_massless_body_may_carry_a_heavy_one():
    b = so.TreeBuilder().add_body("a", joint=so.Joint("revolute", axis="x"))
    model = b.add_body("b", parent="a", joint=so.Joint("revolute", axis="y"), inertia=BALL).build()
    assert np.isfinite(so.forward_dynamics(model, np.zeros(2), np.ones(2), np.ones(2))).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "hinge"}, "kind 'hinge' is unknown; choose one of fixed"),
        ({"kind": None}, "kind None is unknown"),
        ({"axis": (0.0, 0.0, 0.0)}, "axis: expected 3 finite numbers of non-zero length"),
        ({"axis": (1.0, 0.0)}, "axis: expected 3"),
        ({"axis": "w"}, "axis: expected 3 numbers or 'x', 'y', 'z'"),
        ({"axis": None}, "axis: expected 3"),
        ({"axis": (np.nan, 0.0, 0.0)}, "axis: expected 3 finite"),
        ({"kind": "universal", "axis": "y"}, "second_axis: must not be parallel"),
        ({"kind": "planar", "second_axis": "z"}, "second_axis: must not be parallel"),
        ({"kind": "screw", "pitch": np.nan}, "pitch: expected a finite number"),
        ({"damping": -1.0}, "damping: expected numbers >= 0"),
        ({"damping": np.inf}, "damping: expected finite"),
        ({"armature": np.nan}, "armature: expected numbers"),
        ({"armature": (1.0, 2.0)}, "armature: expected a number or 1 numbers"),
        ({"dry_friction": "a lot"}, "dry_friction: expected a number"),
        ({"lower": 1.0, "upper": 0.0}, "lower: .* is above upper"),
        ({"lower": np.nan}, "lower: expected numbers"),
        (
            {"kind": "ball", "lower": 0.0},
            "lower/upper: a ball or free joint has no position limits",
        ),
        ({"effort_limit": -1.0}, "effort_limit: expected numbers >= 0"),
        ({"velocity_limit": np.nan}, "velocity_limit: expected numbers"),
    ],
)
def test_bad_joints_are_refused(arguments, message):
    with pytest.raises(so.errors.ModelError, match=f"^joint 'j'.*{message}"):
        so.Joint(**({"kind": "revolute", "name": "j"} | arguments))


@pytest.mark.parametrize("pitch", [None, "steep"])
def test_bad_pitch_is_refused(pitch):
    with pytest.raises(so.errors.ModelError, match="pitch"):
        so.Joint("screw", pitch=pitch)


def test_kinds_that_are_no_strings_are_refused():
    with pytest.raises(so.errors.ModelError, match="unknown"):
        so.Joint(["revolute"])


def test_random_trees_build(rng):
    for _ in range(10):
        model = random_tree(rng, 12)
        assert np.linalg.eigvalsh(so.mass_matrix(model, model.random(rng))).min() > 0.0
