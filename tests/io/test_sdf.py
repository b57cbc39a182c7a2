"""SDF: the same robot as a URDF and as an SDF; frames, versions, what is free; what is refused."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import AssetError, AssetWarning
from spatialops.io.urdf_shapes import roll_pitch_yaw
from tests.io.test_robots import URDFS

URDF = """
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0.1 0 0.2" rpy="0.3 0 0"/>
    <mass value="2"/><inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0.01"/></inertial>
    <collision><origin xyz="0 0 0.5"/><geometry><box size="0.1 0.2 1"/></geometry></collision>
  </link>
  <link name="lower"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
  </link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" effort="5" velocity="3"/><dynamics damping="0.4" friction="0.2"/>
  </joint>
  <joint name="elbow" type="prismatic"><parent link="upper"/><child link="lower"/>
    <origin xyz="0 0 1" rpy="0 0.5 0"/><axis xyz="0.6 0 0.8"/><limit lower="0" upper="1" effort="1"
    velocity="1"/></joint>
</robot>"""

SDF = """
<sdf version="1.9"><model name="arm">
  <pose>0 0 0 0 0 0</pose>
  <frame name="mount"><pose>1 2 3 0.1 0.2 0.3</pose></frame>
  <link name="upper"><pose relative_to="mount"/>
    <inertial><pose>0.1 0 0.2 0.3 0 0</pose><mass>2</mass>
      <inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.15</izz><ixy>0.01</ixy><ixz>0</ixz><iyz>0</iyz>
      </inertia></inertial>
    <collision name="box"><pose>0 0 0.5 0 0 0</pose><geometry><box><size>0.1 0.2 1</size></box>
      </geometry><surface><friction><ode><mu>0.7</mu></ode></friction></surface></collision>
    <visual name="look"><geometry><sphere><radius>0.1</radius></sphere></geometry>
      <material><diffuse>1 0 0 1</diffuse></material></visual>
  </link>
  <link name="lower"><pose relative_to="upper">0 0 1 0 0.5 0</pose>
    <inertial><mass>1</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>
    <sensor name="s" type="imu"/></link>
  <joint name="shoulder" type="revolute"><parent>world</parent><child>upper</child>
    <axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>2</upper><effort>5</effort>
      <velocity>3</velocity></limit><dynamics><damping>0.4</damping><friction>0.2</friction>
      </dynamics></axis></joint>
  <joint name="elbow" type="prismatic"><parent>upper</parent><child>lower</child>
    <axis><xyz>0.6 0 0.8</xyz><limit><lower>0</lower><upper>1</upper></limit></axis></joint>
</model></sdf>"""


def loaded(tmp_path: Path, text: str, end: str = "sdf") -> so.LoadedScene:
    path = tmp_path / f"robot.{end}"
    path.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return so.load_scene(path)


def same_motion(one: so.Model, other: so.Model) -> None:
    assert one.nv == other.nv
    rng = np.random.default_rng(0)
    for _ in range(10):
        q = one.random(rng)
        v = rng.normal(size=one.nv)
        a = rng.normal(size=one.nv)
        np.testing.assert_allclose(so.mass_matrix(one, q), so.mass_matrix(other, q), atol=1e-12)
        forces = (so.inverse_dynamics(model, q, v, a) for model in (one, other))
        np.testing.assert_allclose(*forces, atol=1e-12 * 100.0)


def test_the_same_robot_in_both_formats(tmp_path: Path) -> None:
    one, other = loaded(tmp_path, SDF), loaded(tmp_path, URDF, "urdf")
    same_motion(one.model, other.model)
    for name in ("lower", "upper", "damping", "dry_friction"):
        np.testing.assert_array_equal(getattr(one.model, name), getattr(other.model, name))
    assert one.model.effort_limit.tolist() == [5.0, np.inf]
    (box,) = one.geoms
    assert (box.body, box.friction) == ("upper", 0.7)
    assert one.visuals[0].color == (1.0, 0.0, 0.0)
    assert one.description is not None
    assert one.description.left_out == ("<link><sensor> is not read: 1, first in line 16",)


def test_a_joint_off_its_link(tmp_path: Path) -> None:
    """The joint's <pose> moves the axis within the child; as a body that is fixed to a carrier."""
    moved = SDF.replace(
        '<joint name="shoulder" type="revolute">',
        '<joint name="shoulder" type="revolute"><pose>0 0 0.3 0.2 0 0</pose>',
    )
    model = loaded(tmp_path, moved).model
    turn = np.array([[1, 0, 0], [0, np.cos(0.2), -np.sin(0.2)], [0, np.sin(0.2), np.cos(0.2)]])
    axis = turn @ [0.0, 1.0, 0.0]  # in the link's frame
    other = URDF.replace(
        '<link name="base"/>', '<link name="base"/><link name="carrier"/>'
    ).replace(
        '<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>\n'
        '    <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 1 0"/>',
        '<joint name="mount" type="fixed"><parent link="base"/><child link="mounted"/>'
        '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/></joint>'
        '<joint name="back" type="fixed"><parent link="carrier"/><child link="upper"/>'
        '<origin xyz="0 0 -0.3"/></joint>'
        '<joint name="shoulder" type="revolute"><parent link="mounted"/><child link="carrier"/>\n'
        f'    <origin xyz="0 0 0.3"/><axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>',
    )
    other = other.replace('<link name="carrier"/>', '<link name="carrier"/><link name="mounted"/>')
    same_motion(model, loaded(tmp_path, other, "urdf").model)


@pytest.mark.parametrize(
    ("version", "flag", "along"),
    [("1.9", "", "link"), ("1.4", "", "model"), ("1.6", "1", "model"), ("1.6", "0", "link")],
)
def test_axes_of_old_versions_are_in_the_models_frame(
    tmp_path: Path, version: str, flag: str, along: str
) -> None:
    extra = f"<use_parent_model_frame>{flag}</use_parent_model_frame>" if flag else ""
    text = f"""<sdf version="{version}"><model name="m"><link name="a">
    <pose>0 0 0 0 0 1.5707963267948966</pose></link><joint name="j" type="prismatic">
    <parent>world</parent><child>a</child>
    <axis><xyz>1 0 0</xyz>{extra}</axis></joint></model></sdf>"""
    model = loaded(tmp_path, text).model
    moved = so.body_poses(model, [1.0]).positions[0]
    expected = [1.0, 0.0, 0.0] if along == "model" else [0.0, 1.0, 0.0]
    np.testing.assert_allclose(moved, expected, atol=1e-15)


def test_what_stands_on_nothing_is_free_where_it_stands(tmp_path: Path) -> None:
    text = """<sdf version="1.9"><world name="w"><gravity>0 0 -1.62</gravity><model name="m">
    <pose>1 2 3 0 0 0.5</pose><link name="a"><pose>0 1 0 0 0 0</pose>
    <inertial><mass>3</mass></inertial></link></model></world></sdf>"""
    scene = loaded(tmp_path, text)
    assert scene.model.joint_kinds == ("free",)
    assert scene.model.mass == 3.0
    np.testing.assert_array_equal(scene.model.gravity, [0.0, 0.0, -1.62])
    place = so.body_poses(scene.model, scene.state.q)
    expected = np.array([1 - np.sin(0.5), 2 + np.cos(0.5), 3.0])
    np.testing.assert_allclose(place.positions[0], expected, atol=1e-15)
    np.testing.assert_allclose(place.rotations[0][0, 0], np.cos(0.5))


def test_springs_and_mimics(tmp_path: Path) -> None:
    text = """<sdf version="1.9"><model name="m"><link name="a"/><link name="b"/>
    <joint name="j" type="revolute"><parent>world</parent><child>a</child><axis><xyz>0 0 1</xyz>
    <dynamics><spring_stiffness>4</spring_stiffness><spring_reference>0.5</spring_reference>
    </dynamics></axis></joint>
    <joint name="k" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz>
    <mimic joint="j"><multiplier>2</multiplier><offset>0.1</offset><reference>0.3</reference>
    </mimic></axis></joint></model></sdf>"""
    scene = loaded(tmp_path, text)
    assert (scene.model.stiffness[0], scene.model.reference[0]) == (4.0, 0.5)
    np.testing.assert_allclose(scene.state.q[1], 2.0 * (scene.state.q[0] - 0.3) + 0.1)
    assert any("as the format says" in text for text in scene.warnings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("<sdf ", "<urdf "), "not well-formed|mismatched"),
        (('relative_to="mount"', 'relative_to="nowhere"'), "no frame 'nowhere'"),
        (('relative_to="mount"', 'relative_to="lower"'), "against itself"),
        (('type="revolute"', 'type="gearbox"'), "'gearbox' is not read"),
        (("<parent>world</parent>", "<parent>sky</parent>"), "<parent> names no link: 'sky'"),
        (("<parent>world</parent>", "<parent>lower</parent>"), "form a cycle"),
        (("<xyz>0 1 0</xyz>", "<xyz>0 0 0</xyz>"), "no direction"),
        (("<mass>2</mass>", "<mass>-2</mass>"), "outside"),
        (("<mass>2</mass>", "<mass>two</mass>"), "not a finite number"),
        (("<size>0.1 0.2 1</size>", "<size>0.1 0.2</size>"), "expected 3 numbers"),
        (("</model>", '</model><model name="b"/>'), "expected one <model>, got 2"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    with pytest.raises(AssetError, match=message):
        loaded(tmp_path, SDF.replace(*change))


def corpus() -> list[Path]:
    """All SDF files that are installed with the tests' robots."""
    folders = {path.parents[len(Path(name).parts) - 1] for name, path in URDFS}
    return sorted(found for folder in folders for found in folder.rglob("*.sdf"))


@pytest.mark.parametrize("path", corpus(), ids=lambda path: path.name)
def test_installed_files_load_or_say_why_not(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            scene = so.load_scene(path, strict=False)
        except so.SpatialOpsError as error:
            if not re.search(r"expected one <model>|no moving body", str(error)):
                raise
            return
    start = scene.state
    assert np.isfinite(so.forward_dynamics(scene.model, start.q, start.v, start.v)).all()
    if path.name.startswith("cassie"):  # four rods or more; limits of one file keep it open
        assert len(scene.loops) >= 4
        opening = np.abs(so.loop_errors(scene.model, scene.loops, start.q)).max()
        told = any("closures stay open" in text for text in scene.warnings)
        assert told == (path.name == "cassie_v2.sdf")
        assert told or opening < 1e-9


def test_a_model_stands_by_its_placement_frame(tmp_path: Path) -> None:
    text = """<sdf version="1.9"><model name="m" placement_frame="tip"><pose>1 2 3 0 0 0.5</pose>
    <link name="a"><pose>0 1 0 0 0 0</pose><inertial><mass>3</mass></inertial></link>
    <frame name="tip" attached_to="a"><pose>0.1 0.2 0.3 0.4 0.5 0.6</pose></frame></model></sdf>"""
    scene = loaded(tmp_path, text)
    place = so.body_poses(scene.model, scene.state.q)
    turn = roll_pitch_yaw(np.array([0.4, 0.5, 0.6]))
    tip = place.positions[0] + place.rotations[0] @ [0.1, 0.2, 0.3]
    np.testing.assert_allclose(tip, [1.0, 2.0, 3.0], atol=1e-15)
    stands = roll_pitch_yaw(np.array([0.0, 0.0, 0.5]))
    np.testing.assert_allclose(place.rotations[0] @ turn, stands, atol=1e-15)


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ('<model name="n"><link name="b"/></model>', "<model><model> is not read"),
        ("<include><uri>model://arm</uri></include>", "<model><include> is not read"),
        ('<link name="b"><inertial auto="true"/></link>', "shapes and densities"),
    ],
)
def test_what_changes_the_motion_is_told(tmp_path: Path, part: str, told: str) -> None:
    path = tmp_path / "robot.sdf"
    path.write_text(f'<sdf version="1.11"><model name="m"><link name="a"/>{part}</model></sdf>')
    with pytest.warns(AssetWarning, match=told):
        so.load_model(path)


def test_both_axes_of_a_universal_joint_are_read(tmp_path: Path) -> None:
    text = """<sdf version="1.7"><model name="m"><link name="a"/><link name="b"/>
    <joint name="j" type="universal"><parent>a</parent><child>b</child>
    <axis><xyz>0 0 1</xyz></axis><axis2><xyz>1 0 0</xyz></axis2></joint></model></sdf>"""
    assert loaded(tmp_path, text).description.left_out == ()
