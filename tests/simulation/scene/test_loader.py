"""Scenes from files: geoms, floor, start, composition, and a robot that is dropped."""

from __future__ import annotations

import numpy as np
import pytest

import spatialops as so
from spatialops.collision import ConvexHull, Cylinder, HalfSpace
from spatialops.collision.extents import reach
from spatialops.errors import ArgumentError, AssetError, AssetWarning, ModelError, ShapeError
from spatialops.simulation.scene.placement import raised

BALL = """<link name="{0}"><inertial><mass value="{1}"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>
</inertial><contact><lateral_friction value="0.7"/></contact>
<collision><origin xyz="0 0 {2}"/><geometry><sphere radius="{3}"/></geometry></collision></link>"""
JOINT = """<joint name="{0}" type="revolute"><origin xyz="0 {1} 0"/>
<parent link="a"/><child link="{2}"/>
<axis xyz="1 0 0"/><limit lower="{3}" upper="1" effort="1" velocity="1"/>{4}</joint>"""
WALKER = (
    "<robot name='walker'>"
    + BALL.format("a", 5, 0, 0.2)
    + BALL.format("b", 1, -0.5, 0.05)
    + BALL.format("c", 1, -0.5, 0.05)
    + JOINT.format("left", 0.3, "b", 0.2, "")
    + JOINT.format("right", -0.3, "c", -1, '<mimic joint="left" multiplier="-1"/>')
    + "</robot>"
)


@pytest.fixture
def walker(tmp_path):
    path = tmp_path / "walker.urdf"
    path.write_text(WALKER)
    return path


def test_shapes_become_geoms(walker):
    scene = so.load_scene(walker, floating_base=True, floor=0.4)
    assert [(geom.name, geom.body) for geom in scene.geoms] == [
        ("floor", "world"),
        *((n, n) for n in "abc"),
    ]
    assert [geom.friction for geom in scene.geoms] == [0.4, 0.7, 0.7, 0.7]
    assert scene.geoms[2].position == (0.0, 0.0, -0.5)
    assert scene.n_pairs == 3  # with the floor only: a URDF says nothing of the rest
    assert (
        len(so.load_scene(walker, floating_base=True, floor=True, self_collision=True).pairs) == 4
    )
    assert scene.description.name == "walker"
    assert scene.warnings == ()


def test_the_floor_gives_way_to_a_geom_of_its_name(walker):
    walker.write_text(
        WALKER.replace('name="a"', 'name="floor"').replace('link="a"', 'link="floor"')
    )
    scene = so.load_scene(walker, floating_base=True, floor=True)
    assert [geom.name for geom in scene.geoms][:2] == ["floor_", "floor"]


def test_start_is_within_limits_and_closed(walker):
    scene = so.load_scene(walker)
    np.testing.assert_allclose(scene.state.q, [0.2, -0.2], atol=1e-12)
    assert np.abs(so.loop_errors(scene.model, scene.loops, scene.state.q)).max() < 1e-12


def test_missing_meshes_are_refused_or_listed(tmp_path):
    path = tmp_path / "robot.urdf"
    mesh = '<collision><geometry><mesh filename="{}"/></geometry></collision></link>'
    path.write_text(WALKER.replace("</link>", mesh.format("package://none/a.stl"), 1))
    if not hasattr(so.collision, "ConvexHull"):
        with pytest.warns(AssetWarning, match="meshes are not supported yet"):
            so.load_scene(path, floating_base=True)
        return
    with pytest.raises(
        AssetError, match=r"robot.urdf:\d+: 'package://none/a.stl': package 'none' was not found"
    ):
        so.load_scene(path, floating_base=True)
    with pytest.warns(AssetWarning, match="package 'none' was not found"):
        scene = so.load_scene(path, floating_base=True, strict=False)
    assert len(scene.geoms) == 3


def test_composition_stacks_models_geoms_and_loops(walker, tmp_path):
    plate = tmp_path / "plate.urdf"
    plate.write_text(
        '<robot name="p"><link name="base"/><link name="top"/>'
        '<joint name="f" type="fixed"><parent link="base"/>'
        '<child link="top"/><origin xyz="0 0 0.5"/></joint></robot>'.replace(
            '<link name="top"/>',
            '<link name="top"><collision><geometry><sphere radius="0.1"/></geometry></collision>'
            "</link>",
        )
    )
    ball = (
        so.TreeBuilder()
        .add_body("ball", joint="free", inertia=so.Inertia.sphere(0.1, mass=1.0))
        .build()
    )
    thing = so.Scene(
        ball, [so.Geom("ball", "ball", so.Sphere(0.1))], state=so.State(np.eye(7)[6], np.ones(6))
    )
    robot = so.load_scene(walker, floating_base=True)
    scene = so.compose(
        [
            so.Part(source=walker, name="one", floating_base=True),
            so.Part(
                source=robot, name="two", position=(0.0, 2.0, 0.0), rotation=(0.0, 0.0, 1.0, 0.0)
            ),
            so.Part(source=plate, name="plate", position=(5.0, 0.0, 0.0)),
            so.Part(source=thing, position=(1.0, 0.0, 3.0)),
        ],
        floor=True,
    )
    assert scene.model.nv == 2 * robot.model.nv + 6
    assert {"one/left", "two/left"} < set(scene.model.joint_names)
    assert [geom.name for geom in scene.geoms].count("floor") == 1
    fixed = next(geom for geom in scene.geoms if geom.name == "plate/top")
    assert (fixed.body, fixed.position) == ("world", (5.0, 0.0, 0.5))
    assert scene.loops.names == ("one/mimic right", "two/mimic right")
    np.testing.assert_array_equal(scene.state.v[-6:], 1.0)
    np.testing.assert_allclose(scene.state.q[-7:-4], [1.0, 0.0, 3.0])
    assert np.abs(so.loop_errors(scene.model, scene.loops, scene.state.q)).max() < 1e-12
    names = {frozenset(scene.pair_names(i)) for i in range(scene.n_pairs)}
    assert frozenset(("one/b", "two/b")) in names  # parts may touch
    assert frozenset(("one/b", "one/c")) not in names  # but not what was kept apart within one


def test_composition_needs_something_that_moves(tmp_path):
    plate = tmp_path / "plate.urdf"
    plate.write_text('<robot name="p"><link name="base"/></robot>')
    with pytest.raises(ModelError, match="nothing moves"):
        so.compose([so.Part(source=plate)])
    with pytest.raises(ArgumentError, match="expected a Part"):
        so.compose([plate])
    with pytest.raises(ArgumentError, match="3 finite numbers"):
        so.compose([so.Part(source=plate, position=(0.0, np.nan, 0.0))])


def test_raised_puts_the_lowest_point_where_asked(walker):
    scene = so.load_scene(walker, floating_base=True, floor=True)
    state = raised(scene, 0.1)
    poses = so.body_poses(scene.model, state.q)
    low = min(
        float((poses.positions[k] + poses.rotations[k] @ scene.geoms[k + 1].position)[2])
        - scene.geoms[k + 1].shape.radius
        for k in range(3)
    )
    assert low == pytest.approx(0.1, abs=1e-12)


def test_reach_is_the_support_function():
    tent = ConvexHull([(0, 0, 1), (0, 2, 0), (1, 0, 0), (0, 0, 0)])
    assert reach(so.Sphere(0.5), np.array([0.0, 0.0, 1.0])) == 0.5
    assert reach(Cylinder(0.3, 2.0), np.array([0.0, 0.6, 0.8])) == pytest.approx(0.3 * 0.6 + 0.8)
    assert reach(tent, np.array([0.0, 1.0, 0.0])) == 2.0
    with pytest.raises(ShapeError, match="no bound"):
        reach(HalfSpace(), np.array([0.0, 0.0, 1.0]))


@pytest.mark.compiled
def test_a_dropped_robot_comes_to_rest_on_the_floor(walker):
    scene = so.load_scene(walker, floating_base=True, floor=True)
    scene.state = raised(scene, 0.05)
    record = so.Simulator(scene, dt=1e-3).run(duration=0.5)
    summary = record.summary()
    assert summary["contacts_max"] if "contacts_max" in summary else summary["contact_problems"] > 0
    assert summary["penetration_max"] <= 1e-3
    assert summary["residual_max"] <= 1e-9
    assert summary["closure_error_max"] <= 1e-8
    assert summary["energy_end"] < summary["energy_start"]
