"""Mechanisms as graphs: which joints are cut; the choice changes coordinates only."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ModelError
from tests.support.trees import random_inertia, random_rotation

HINGE = so.Joint("revolute", axis="y")


def ring(n, kinds=None):
    """World, n - 1 bodies, world: n joints in a ring."""
    names = ["world", *(f"b{i}" for i in range(1, n)), "world"]
    kinds = kinds or [5] * n
    return [(f"j{i + 1}", names[i], names[i + 1], kinds[i]) for i in range(n)]


def test_the_tree_is_shallow():
    tree = so.spanning_tree(ring(7))
    assert tree.cut_joints == ("j4",)
    assert tree.tree_joints == ("j1", "j7", "j2", "j6", "j3", "j5")


def test_fewest_rows_are_left():
    tree = so.spanning_tree(ring(7, kinds=[5, 5, 5, 5, 5, 3, 6]))
    assert tree.cut_joints == ("j6",)


def test_what_no_closure_stands_for_is_kept():
    assert so.spanning_tree(ring(4, kinds=[None, None, None, 6])).cut_joints == ("j4",)
    with pytest.raises(ModelError, match="of which no joint is a ball"):
        so.spanning_tree(ring(3, kinds=[None] * 3))


def test_nothing_is_cut_without_need():
    edges = [("a", "world", "x", 3), ("b", "x", "y", 3), ("c", "x", "z", 3)]
    assert so.spanning_tree(edges).cut_joints == ()


def test_two_joints_between_two_bodies():
    tree = so.spanning_tree([("a", "world", "x", 5), ("b", "x", "y", 5), ("c", "x", "y", 3)])
    assert tree.cut_joints == ("c",)


def test_cuts_can_be_demanded():
    assert so.spanning_tree(ring(5), cut=["j1"]).cut_joints == ("j1",)
    with pytest.raises(ModelError, match="would take the mechanism apart"):
        so.spanning_tree([("a", "world", "x", 3)], cut=["a"])
    with pytest.raises(ModelError, match="no joint 'z'"):
        so.spanning_tree(ring(3), cut=["z"])
    with pytest.raises(ModelError, match="no closure can stand for joint 'j2'"):
        so.spanning_tree(ring(3, kinds=[3, None, 3]), cut=["j2"])
    with pytest.raises(ModelError, match="expected a sequence"):
        so.spanning_tree(ring(3), cut="j2")


def test_parts_without_a_joint_to_the_world_float():
    edges = [("a", "x", "y", 3), ("b", "y", "z", 3), ("c", "z", "x", 3)]
    tree = so.spanning_tree(edges)
    assert tree.floating == ("x",)
    assert tree.cut_joints == ("b",)
    tree = so.spanning_tree(edges, root="z")
    assert tree.floating == ("z",)
    assert tree.cut_joints == ("a",)
    with pytest.raises(ModelError, match="no body 'w'"):
        so.spanning_tree(edges, root="w")
    with pytest.raises(ModelError, match="joined to the world"):
        so.spanning_tree([*edges, ("d", "world", "x", 3)], root="z")


def mechanism(
    rng, kinds=("revolute", "revolute", "ball", "revolute", "prismatic", "universal", "cylindrical")
):
    """A builder with a ring of joints between random frames, closed at zero."""
    graph = so.GraphBuilder()
    n = len(kinds)
    poses = [
        (np.zeros(3), np.eye(3)),
        *((rng.normal(size=3), random_rotation(rng)) for _ in range(n - 1)),
    ]
    names = ["world", *(f"b{i}" for i in range(1, n)), "world"]
    for name in names[1:-1]:
        graph.add_body(name, random_inertia(rng))
    for i, kind in enumerate(kinds):
        point, turn = rng.normal(size=3), random_rotation(rng)
        sides = {}
        for side, k in (("a", i), ("b", (i + 1) % n)):
            position, rotation = poses[k]
            sides[f"position_{side}"] = rotation.T @ (point - position)
            sides[f"rotation_{side}"] = rotation.T @ turn
        second = rng.normal(size=3) if kind in ("universal", "planar") else None
        joint = so.Joint(kind, axis=rng.normal(size=3), second_axis=second)
        graph.add_joint(f"j{i}", names[i], names[i + 1], joint, **sides)
    return graph, poses


def test_it_is_closed_as_it_was_drawn(rng):
    graph, poses = mechanism(rng)
    for cut in ([], ["j0"], ["j1"], ["j2"], ["j3"], ["j4"]):
        model, loops = graph.build(cut=cut)
        assert not cut or graph.cut_joints == tuple(cut)
        assert sorted([*graph.tree_joints, *graph.cut_joints]) == [f"j{i}" for i in range(7)]
        q = model.neutral()
        assert np.abs(so.loop_errors(model, loops, q)).max() < 1e-12
        for i, (position, rotation) in enumerate(poses[1:], start=1):
            corners = so.node_positions(model, q, [so.Node(f"b{i}", x) for x in np.eye(3)])
            assert np.allclose(corners, position + (rotation @ np.eye(3)).T, atol=1e-12)


def test_the_cut_changes_no_motion(rng):
    """Whichever joint is cut, accelerations, masses, axes and closures agree."""
    graph, _ = mechanism(rng)
    found, freedoms = [], set()
    for cut in ([], ["j0"], ["j2"], ["j3"], ["j4"]):
        model, loops = graph.build(cut=cut)
        q, v = model.neutral(), np.zeros(model.nv)
        motion = so.constrained_dynamics(model, loops, q, v, v)
        nodes = [so.Node(f"b{i}", (0.1, 0.2, 0.3)) for i in range(1, 7)]
        found.append(so.node_accelerations(model, q, v, motion.accelerations, nodes))
        freedoms.add(model.nv - motion.rank)
    assert len(freedoms) == 1
    for other in found[1:]:
        assert np.allclose(other, found[0], atol=1e-9)


@pytest.mark.parametrize(
    "kind", ["revolute", "prismatic", "screw", "cylindrical", "universal", "ball", "planar"]
)
def test_a_joint_seen_from_the_other_side(rng, kind):
    """Two bodies in space, rooted at either: one coordinate keeps its sense, two swap."""
    second = rng.normal(size=3) if kind in ("universal", "planar") else None
    joint = so.Joint(
        kind, axis=rng.normal(size=3), second_axis=second, pitch=0.2 if kind == "screw" else 0.0
    )
    graph = so.GraphBuilder()
    graph.add_body("a", random_inertia(rng)).add_body("b", random_inertia(rng))
    graph.add_joint(
        "j",
        "a",
        "b",
        joint,
        position_a=rng.normal(size=3),
        rotation_a=random_rotation(rng),
        position_b=rng.normal(size=3),
        rotation_b=random_rotation(rng),
    )
    value = rng.normal(size=joint.nq)
    seen = []
    for root in ("a", "b"):
        model, _ = graph.build(root=root)
        q = model.neutral()
        value = value[::-1] if kind == "universal" and root == "b" else value
        if kind in ("revolute", "prismatic", "screw", "cylindrical", "universal"):
            q[model.q_slice("j")] = value
        points = so.node_positions(
            model, q, [so.Node(name, x) for name in "ab" for x in (*np.eye(3), np.zeros(3))]
        )
        seen.append(points)
    distances = [np.linalg.norm(p[:, None] - p[None], axis=2) for p in seen]
    assert np.allclose(distances[0], distances[1], atol=1e-12)


def test_four_bar_of_the_docstring_falls(rng):
    graph = so.GraphBuilder()
    rod = so.Inertia.box((1.0, 0.1, 0.1), mass=1.0).shifted((0.5, 0.0, 0.0))
    for name in ("crank", "coupler", "rocker"):
        graph.add_body(name, rod)
    graph.add_joint("A", "world", "crank", HINGE)
    graph.add_joint("B", "crank", "coupler", HINGE, position_a=(1.0, 0, 0))
    graph.add_joint("C", "coupler", "rocker", HINGE, position_a=(1.0, 0, 0))
    graph.add_joint("D", "rocker", "world", HINGE, position_a=(1.0, 0, 0), position_b=(1.0, 0, 0))
    model, loops = graph.build()
    assert graph.cut_joints == ("C",)
    assert "rocker@D" in model.body_names
    q = so.close_loops(model, loops, [1.0, -2.0, -1.0])
    assert np.abs(so.loop_errors(model, loops, q)).max() < 1e-12


def test_loose_bodies_get_a_free_joint(rng):
    graph = so.GraphBuilder()
    graph.add_body("a", random_inertia(rng)).add_body("b", random_inertia(rng))
    graph.add_joint("j", "world", "a", HINGE)
    model, loops = graph.build()
    assert model.joint_kinds == ("free", "revolute") or model.joint_kinds == ("revolute", "free")
    assert len(loops) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda g: g.add_body("a"), "body 'a': name"),
        (lambda g: g.add_body("world"), "name: expected a new"),
        (lambda g: g.add_body("c", 3.0), "expected an Inertia"),
        (lambda g: g.add_joint("j", "a", "b", HINGE), "joint 'j': name"),
        (lambda g: g.add_joint("k", "a", "a", HINGE), "joins 'a' to itself"),
        (lambda g: g.add_joint("k", "a", "b", 3), "expected a Joint"),
        (lambda g: g.add_joint("k", "a", "b", HINGE, position_a=(1.0,)), "position_a: expected 3"),
        (lambda g: g.add_joint("k", "a", "z", HINGE).build(), "there is no body 'z'"),
    ],
)
def test_wrong_input(rng, change, message):
    graph = so.GraphBuilder()
    graph.add_body("a", random_inertia(rng)).add_body("b", random_inertia(rng))
    graph.add_joint("j", "world", "a", HINGE)
    with pytest.raises(ModelError, match=message):
        change(graph)


def test_joints_with_data_that_closures_lack_are_kept():
    damped = so.Joint("revolute", axis="y", damping=0.1)
    graph = so.GraphBuilder()
    for name in ("x", "y", "z"):
        graph.add_body(name, so.Inertia.sphere(0.1, mass=1.0))
    graph.add_joint("a", "world", "x", HINGE)
    graph.add_joint("b", "x", "y", damped)
    graph.add_joint("c", "y", "z", damped)
    graph.add_joint("d", "z", "world", HINGE)
    assert graph.cut_joints == ("d",) or graph.cut_joints == ("a",)
    with pytest.raises(ModelError, match="no closure can stand for joint 'b'"):
        graph.build(cut=["b"])


@pytest.mark.parametrize(
    ("kind", "values", "name"),
    [
        ("planar", {"lower": (0.0, -np.inf, -np.inf)}, "lower"),
        ("planar", {"damping": 0.3}, "damping"),
        ("ball", {"dry_friction": (0.1, 0.2, 0.1)}, "dry_friction"),
    ],
)
def test_values_along_axes_of_the_parent_are_not_turned_into_the_other_bodys(kind, values, name):
    graph = so.GraphBuilder().add_body("a", so.Inertia.sphere(0.1, mass=1.0))
    graph.add_joint("j", "a", "world", so.Joint(kind, **values))
    with pytest.raises(ModelError, match=rf"^joint 'j' .*{name}: .*exchange the two bodies"):
        graph.build()
    graph = so.GraphBuilder().add_body("a", so.Inertia.sphere(0.1, mass=1.0))
    assert graph.add_joint("j", "world", "a", so.Joint(kind, **values)).build()[0].nv == 3
