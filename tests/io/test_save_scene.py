"""Scenes written as MJCF and URDF, and read again."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError, AssetWarning

STEEL = so.Inertia.capsule(0.05, 0.5, mass=1.0)


def full_scene() -> so.Scene:
    """Shapes of all kinds, closures, tendons along joints and through space, actuators, a state."""
    builder = so.TreeBuilder()
    builder.add_body("a", joint=so.Joint("revolute", axis="y", name="j1"), inertia=STEEL)
    builder.add_body(
        "b",
        parent="a",
        joint=so.Joint("revolute", axis="x", name="j2"),
        inertia=STEEL,
        position=(0.0, 0.1, 0.5),
    )
    builder.add_body("free", joint="free", inertia=STEEL, position=(2.0, 0.0, 1.0))
    builder.add_body("c", joint=so.Joint("prismatic", axis="z", name="j3"), inertia=STEEL)
    builder.add_body("hand", parent="b", joint="fixed", position=(0.0, 0.0, 0.5))
    turn = (0.5, 0.5, 0.5, 0.5)
    corners = np.random.default_rng(1).normal(size=(20, 3)) * 0.1 + [0.05, 0.0, 0.1]
    geoms = [
        so.Geom("floor", "world", so.HalfSpace((0.1, 0.0, 1.0)), position=(0, 0, -2), friction=0.9),
        so.Geom("ball", "a", so.Sphere(0.1), friction=0.4, torsion=0.01),
        so.Geom("rod", "b", so.collision.Capsule(0.05, 0.4), position=(0, 0, 0.2), rotation=turn),
        so.Geom("tin", "free", so.collision.Cylinder(0.1, 0.3), rotation=turn),
        so.Geom("box", "c", so.collision.Box((0.1, 0.2, 0.3)), position=(3.0, 0, 0), friction=0.1),
        so.Geom("egg", "hand", so.collision.Ellipsoid((0.1, 0.15, 0.2)), position=(0, 0, 1)),
        so.Geom("rock", "free", so.collision.ConvexHull(corners), position=(0.3, 0.0, 0.0)),
    ]
    line = so.TendonPath(
        [
            [
                so.Node("world", (0.3, 0.0, 1.0)),
                so.Around(middle=so.Node("a", (0.0, 0.0, 0.3)), radius=0.08, axis=(0.0, 1.0, 0.2)),
                so.Node("hand", (0.02, 0.01, 0.1)),
            ],
            [so.Node("b"), so.Node("free", (0.1, 0.0, 0.0))],
        ],
        divisors=[1.0, 2.0],
    )
    tendons = [
        so.Tendon(name="line", path=line, stiffness=5.0, damping=0.1, rest=(0.0, 1.1)),
        so.Tendon(name="sum", joints={"j1": 0.5, "j2": -0.2}, limits=(-0.6, 0.5)),
    ]
    actuators = [
        so.Actuator.position("servo", "j1", kp=20.0, kv=1.0, force_range=(-3.0, 4.0)),
        so.Actuator(name="both", joints={"j1": 1.0, "j2": 2.0}, ctrl_range=(-1.0, 2.0)),
        so.Actuator(name="pull", path=line, dynamics="filter", time_constant=0.1),
    ]
    q = np.array([0.2, -0.3, 2.0, 0.1, 1.0, 0.0, 0.6, 0.0, 0.8, 0.1])
    loops = [so.Loop(kind="coupler", joints={"j2": 1.0, "j3": 3.0}, offset=0.0, name="gear")]
    v = np.linspace(-1.0, 1.0, 9)
    v[8] = -v[1] / 3.0
    return so.Scene(
        builder.build(),
        geoms,
        loops=loops,
        tendons=tendons,
        actuators=actuators,
        ctrl=[0.4, 0.1, -0.7],
        state=so.State(q, v, activation=[0.3]),
        ignore=[("ball", "box")],
    )


def by_name(scene: so.Scene) -> dict[frozenset[str], tuple[float, float, float]]:
    """Coefficients of all pairs."""
    friction, _, torsion, rolling = scene.coefficients_of(np.arange(scene.n_pairs))
    return {
        frozenset(scene.pair_names(i)): (float(friction[i]), float(torsion[i]), float(rolling[i]))
        for i in range(scene.n_pairs)
    }


def test_a_scene_comes_back_from_mjcf_and_moves_the_same(tmp_path) -> None:
    ours = full_scene()
    with warnings.catch_warnings():
        warnings.simplefilter("error", AssetWarning)
        path = so.save_scene(ours, tmp_path / "scene.xml")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = so.load_scene(path, keyframe="start")
    expected = by_name(ours)
    assert by_name(again).keys() == expected.keys()
    for names, values in by_name(again).items():
        np.testing.assert_allclose(values, expected[names], rtol=1e-12)
    state, joints = ours.state, ours.model.joint_names
    for joint in set(joints) - {"free"}:  # it is placed at (2, 0, 1), and MJCF counts from zero
        np.testing.assert_allclose(
            again.state.q[again.model.q_slice(joint)], state.q[ours.model.q_slice(joint)], atol=1e-9
        )
        np.testing.assert_allclose(
            again.state.v[again.model.v_slice(joint)], state.v[ours.model.v_slice(joint)], atol=1e-9
        )
    np.testing.assert_allclose(again.ctrl, ours.ctrl)
    ends = [so.Simulator(one, dt=1e-3).run(duration=0.2).final for one in (ours, again)]
    for joint in joints:
        found = ends[1].q[again.model.q_slice(joint)]
        found[:3] -= (2.0, 0.0, 1.0) if joint == "free" else 0.0
        np.testing.assert_allclose(found, ends[0].q[ours.model.q_slice(joint)], atol=1e-7)


def test_a_scene_comes_back_from_urdf(tmp_path) -> None:
    builder = so.TreeBuilder()
    builder.add_body("a", joint=so.Joint("revolute", axis="y", name="j1"), inertia=STEEL)
    builder.add_body("b", parent="a", joint=so.Joint("revolute", name="j2"), inertia=STEEL)
    corners = np.random.default_rng(1).normal(size=(20, 3)) * 0.1
    geoms = [
        so.Geom("tin", "a", so.collision.Cylinder(0.1, 0.3), position=(1, 2, 3), friction=0.3),
        so.Geom("rock", "b", so.collision.ConvexHull(corners), friction=0.7, restitution=0.2),
        so.Geom("box", "world", so.collision.Box((0.1, 0.2, 0.3)), rotation=(0, 0.6, 0, 0.8)),
    ]
    loops = [so.Loop(kind="coupler", joints={"j2": 1.0, "j1": 3.0}, offset=0.5, name="gear")]
    ours = so.Scene(builder.build(), geoms, loops=loops)
    again = so.load_scene(so.save_scene(ours, tmp_path / "scene.urdf"))
    assert [type(geom.shape) for geom in again.geoms] == [
        so.collision.Box,
        so.collision.Cylinder,
        so.collision.ConvexHull,
    ]
    box, tin, rock = again.geoms
    np.testing.assert_allclose(box.turn, geoms[2].turn, atol=1e-12)
    np.testing.assert_allclose(tin.position, (1, 2, 3))
    assert (tin.friction, rock.friction, rock.restitution) == (0.3, 0.7, 0.2)
    np.testing.assert_allclose(rock.shape.vertices.min(axis=0), corners.min(axis=0), atol=1e-12)
    q = np.array([0.3, 0.5 - 0.9])
    (gear,) = again.loops.items
    assert gear.offset / gear.factors["j2"] == pytest.approx(0.5)
    assert gear.factors["j1"] / gear.factors["j2"] == pytest.approx(3.0)
    assert abs(q @ [3.0, 1.0] - 0.5) < 1e-12


def test_what_a_format_does_not_have_is_told(tmp_path) -> None:
    model = so.models.pendulum(2).model
    motor = so.Actuator.motor("m", "pin1")
    spring = so.Tendon(joints={"pin1": 1.0}, stiffness=1.0)
    scene = so.Scene(model, actuators=[motor], tendons=[spring])
    with pytest.warns(AssetWarning, match="a URDF has no actuators; a URDF has no tendons"):
        so.save_scene(scene, tmp_path / "a.urdf")
    with pytest.raises(ArgumentError, match="expected a Scene"):
        so.save_scene(model, tmp_path / "a.xml")  # type: ignore[arg-type]


def pile(n, **changes):
    builder = so.TreeBuilder()
    for i in range(n):
        builder.add_body(f"b{i}", joint="free", inertia=STEEL, position=(0.3 * i, 0.0, 0.1))
    builder.add_body("lid", parent="b0", joint="revolute", inertia=STEEL)
    geoms = [so.Geom("floor", "world", so.HalfSpace(), friction=0.7, torsion=0.01)]
    for body in (*(f"b{i}" for i in range(n)), "lid"):
        own = {"friction": 0.7, "torsion": 0.01, **changes.get(body, {})}
        geoms.append(so.Geom(body, body, so.Sphere(0.1), **own))
    return so.Scene(builder.build(), geoms)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, 0),
        ({"b1": {"friction": 0.2}}, 14),
        ({"b2": {"group": 2}}, 0),  # it collides with the group of all others
        ({"b2": {"group": 2, "collides_with": 2}}, 9),
    ],
)
def test_pairs_are_told_one_by_one_only_where_geoms_cannot_say_them(tmp_path, changes, told):
    ours = pile(4, **changes)
    path = so.save_scene(ours, tmp_path / "pile.xml")
    assert path.read_text().count("<pair ") == told
    again = so.load_scene(path)
    expected = by_name(ours)
    assert by_name(again).keys() == expected.keys()
    for names, values in by_name(again).items():
        np.testing.assert_allclose(values, expected[names], rtol=1e-12)


def test_a_large_pile_comes_back(tmp_path):
    ours = pile(400)
    again = so.load_scene(so.save_scene(ours, tmp_path / "pile.xml"))
    assert len(again.pairs) == len(ours.pairs) == 401 * 402 // 2 - 1
