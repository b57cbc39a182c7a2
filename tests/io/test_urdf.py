"""The URDF reader: what it keeps, what it repairs and says, and what it refuses with a line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import AssetError, AssetWarning, ModelError
from spatialops.io import build, read
from spatialops.io.build import MASSLESS_ARMATURE

MASS = (
    '<inertial><mass value="{}"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    "</inertial>"
)
HEAVY = MASS.format(1)
JOINT = '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/>{4}</joint>'


@pytest.fixture
def load(tmp_path):
    """Description of a robot with these elements."""

    def make(*elements: str):
        path = tmp_path / "robot.urdf"
        path.write_text('<robot name="r">\n' + "\n".join(elements) + "\n</robot>")
        return read(path)

    return make


def link(name, content=HEAVY):
    return f'<link name="{name}">{content}</link>'


def joint(name, kind="continuous", parent="a", child="b", content=""):
    return JOINT.format(name, kind, parent, child, content)


def test_joint_data_are_kept(load):
    content = (
        '<origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><axis xyz="0 0 2"/>'
        '<limit lower="-1" upper="2" effort="30" velocity="4"/>'
        '<dynamics damping="0.5" friction="0.25"/>'
    )
    description = load(link("a"), link("b"), joint("j", "revolute", content=content))
    model = build(description)
    assert (model.lower[0], model.upper[0], model.effort_limit[0], model.velocity_limit[0]) == (
        -1.0,
        2.0,
        30.0,
        4.0,
    )
    assert (model.damping[0], model.dry_friction[0]) == (0.5, 0.25)
    assert "not of unit length" in description.warnings[0]
    poses = so.body_poses(model, np.array([0.5]))
    np.testing.assert_allclose(poses.positions[0], [1.0, 2.0, 3.0])
    c, s = np.cos(0.5 + np.pi / 2), np.sin(0.5 + np.pi / 2)
    np.testing.assert_allclose(
        poses.rotations[0], [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]], atol=1e-15
    )


def test_roll_pitch_yaw_turn_about_fixed_axes(load):
    from scipy.spatial.transform import Rotation

    content = '<origin rpy="0.3 -0.4 0.5"/>'
    model = build(load(link("a"), link("b"), joint("j", content=content)))
    expected = Rotation.from_euler("xyz", [0.3, -0.4, 0.5]).as_matrix()
    np.testing.assert_allclose(so.body_poses(model, np.zeros(1)).rotations[0], expected, atol=1e-15)


def test_fixed_links_are_merged_and_keep_their_frames(load):
    fixed = joint("f", "fixed", "b", "c", '<origin xyz="0 0 2"/>')
    model = build(load(link("a"), link("b"), link("c", MASS.format(3)), joint("j"), fixed))
    assert model.body_names == ("b",)
    assert set(model.frames) == {"world", "a", "b", "c"}
    np.testing.assert_array_equal(model.frame("c").position, [0.0, 0.0, 2.0])
    assert model.mass == 4.0


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("continuous", "revolute"),
        ("prismatic", "prismatic"),
        ("planar", "planar"),
        ("spherical", "ball"),
    ],
)
def test_kinds_of_joints(load, kind, expected):
    model = build(load(link("a"), link("b"), joint("j", kind)))
    assert model.joint_kinds == (expected,)


def test_planar_joint_moves_in_the_plane_of_its_normal(load):
    model = build(load(link("a"), link("b"), joint("j", "planar", content='<axis xyz="0 0 1"/>')))
    np.testing.assert_allclose(
        so.body_poses(model, np.array([1.0, 2.0, 0.0])).positions[0], [1.0, 2.0, 0.0]
    )


def test_floating_joint_of_the_root_and_below(load):
    model = build(load(link("a"), link("b"), joint("j", "floating")))
    assert model.joint_kinds == ("prismatic", "prismatic", "prismatic", "ball")
    free = build(load(link("a"), link("b"), joint("j")), floating_base=True)
    assert free.joint_kinds == ("free", "revolute")
    assert free.joint_names == ("root_joint", "j")
    assert free.body_names == ("a", "b")


def test_link_world_is_the_world(load):
    description = load(link("world", ""), link("b"), joint("j", parent="world"))
    assert build(description).frame("world_link").body == -1
    assert build(description, floating_base=True).body_names == ("world_link", "b")


def test_mimic_chains_become_couplers(load):
    limited = '<mimic joint="{}" multiplier="{}" offset="{}"/>'
    description = load(
        *(link(name) for name in "abcde"),
        joint("j1"),
        joint("j2", parent="b", child="c", content=limited.format("j1", 2.0, 0.1)),
        joint("j3", parent="c", child="d", content=limited.format("j2", -1.0, 0.0)),
        joint("j4", parent="d", child="e", content=limited.format("j1", 0.0, 0.7)),
    )
    model = build(description)
    q = so.close_loops(
        model, so.Loops(model, description.loops), np.array([0.3, 0.0, 0.0, 0.0]), hold=["j1"]
    )
    np.testing.assert_allclose(q, [0.3, 0.7, -0.7, 0.7], atol=1e-12)


@pytest.mark.parametrize(
    ("mimic", "reason"),
    [("nobody", "'nobody' is missing"), ("f", "'f' is fixed")],
)
def test_mimic_of_what_does_not_move_is_left_out(load, mimic, reason):
    description = load(
        *(link(name) for name in "abc"),
        joint("f", "fixed", "b", "c"),
        joint("j", content=f'<mimic joint="{mimic}"/>'),
    )
    assert not description.loops
    assert reason in description.warnings[0]


def test_inertia_without_mass_gets_an_armature_and_says_so(load, tmp_path):
    load(link("a"), link("b", ""), joint("j"))
    with pytest.warns(AssetWarning, match="without inertia to move get an armature"):
        model = so.load_model(tmp_path / "robot.urdf")
    assert so.mass_matrix(model, np.zeros(1))[0, 0] == pytest.approx(MASSLESS_ARMATURE)
    assert "'j'" in model.warnings[0]


def test_point_mass_on_its_axis_gets_an_armature(load):
    point = (
        '<inertial><mass value="1"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'
        "</inertial>"
    )
    model = build(load(link("a"), link("b", point), joint("j")))
    assert so.mass_matrix(model, np.zeros(1))[0, 0] == pytest.approx(MASSLESS_ARMATURE)
    assert np.isfinite(so.forward_dynamics(model, np.zeros(1), np.zeros(1), np.zeros(1))).all()


def test_impossible_inertia_is_kept_and_told(load):
    bad = (
        '<inertial><mass value="2"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'
    )
    description = load(link("a"), link("b", bad), joint("j", content='<axis xyz="1 0 0"/>'))
    assert "no body can have" in description.warnings[0]
    assert so.mass_matrix(build(description), np.zeros(1))[0, 0] == pytest.approx(1.0)


def test_limits_that_make_no_sense_are_told(load):
    degrees = '<limit lower="-180" upper="180" effort="1" velocity="1"/>'
    crossed = '<limit lower="1" upper="-1" effort="-1" velocity="1"/>'
    description = load(
        *(link(name) for name in "abcd"),
        joint("j1", "revolute", content=degrees),
        joint("j2", "revolute", "b", "c", crossed),
        joint("j3", "revolute", "c", "d"),
    )
    text = " ".join(description.warnings)
    for words in ("in degrees?", "above the upper one", "negative effort", "without <limit>"):
        assert words in text
    model = build(description)
    assert model.upper.tolist() == [180.0, np.inf, np.inf]


def test_shapes_and_friction(load):
    shapes = """<contact><lateral_friction value="0.9"/><rolling_friction value="0.01"/>
    <stiffness value="3"/></contact>
      <collision><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry></collision>
      <collision><geometry><cylinder radius="1" length="2"/></geometry></collision>
      <visual><geometry><mesh filename="a.stl" scale="1 1 0.001"/></geometry></visual>"""
    other = '<collision><geometry><sphere radius="0.5"/></geometry></collision>'
    gazebo = (
        '<gazebo reference="b"><mu1 value="0.3"/></gazebo><gazebo><plugin/></gazebo><transmission/>'
    )
    description = load(link("a", HEAVY + shapes), link("b", HEAVY + other), joint("j"), gazebo)
    box, cylinder, visual, sphere = description.shapes
    assert (box.kind, box.sizes, box.name, box.collides) == ("box", (1.0, 2.0, 3.0), "a/0", True)
    assert (cylinder.kind, cylinder.sizes) == ("cylinder", (1.0, 2.0))
    assert (visual.mesh.uri, visual.mesh.scale, visual.collides) == (
        "a.stl",
        (1.0, 1.0, 0.001),
        False,
    )
    assert box.friction == (0.9, 0.0, 0.01)
    assert sphere.friction == (0.3, 0.0, 0.0)
    for words in ("<gazebo>", "<transmission>", "<contact><stiffness>"):
        assert any(words in text for text in description.left_out)


@pytest.mark.parametrize(
    ("elements", "line", "message"),
    [
        ([], 1, "has no link"),
        ([link("a"), link("a")], 3, "'a': the name is already taken in line 2"),
        ([link("a"), link("b")], 1, "2 links have no parent: 'a' (line 2), 'b' (line 3)"),
        ([link("a"), link("b"), joint("j", parent="x")], 4, "there is no link 'x'"),
        ([link("a"), link("b"), joint("j", "hinge")], 4, "type 'hinge' is unknown"),
        ([link("a"), link("b"), joint("j"), joint("j")], 5, "'j': the name is already taken"),
        (
            [link("a"), link("b"), joint("j"), joint("k")],
            5,
            "link 'b' has a parent already (joint 'j', line 4)",
        ),
        (
            [link("r"), link("a"), link("b"), joint("j"), joint("k", parent="b", child="a")],
            3,
            "form a cycle",
        ),
        (
            [link("a"), link("b"), joint("j", content='<axis xyz="0 0 0"/>')],
            4,
            "the axis has no direction",
        ),
        ([link("a"), link("b"), joint("j", content='<axis xyz="0 1"/>')], 4, "expected 3 numbers"),
        (
            [link("a"), link("b"), joint("j", content='<axis xyz="0 nan 1"/>')],
            4,
            "'nan' is not a finite number",
        ),
        (
            [link("a"), link("b"), joint("j", content='<origin xyz="${x} 0 0"/>')],
            4,
            "is a xacro macro",
        ),
        (
            [link("a"), link("b"), joint("j", content='<origin xyz="1e9 0 0"/>')],
            4,
            "are the units wrong?",
        ),
        ([link("a"), link("b"), joint("j", content='<mimic joint="j"/>')], 4, "mimics itself"),
        (
            [link("a"), link("b"), joint("j", content='<dynamics damping="-1"/>')],
            4,
            "damping: expected numbers >= 0",
        ),
        ([link("a", MASS.format(-1))], 2, "a mass of -1 kg is outside"),
        ([link("a", MASS.format("1_0"))], 2, "'1_0' is not a finite number"),
        ([link("a", MASS.format("1e12"))], 2, "is outside [0, 1e+09] kg"),
        ([link("a", "<inertial/>")], 2, "<inertial> has no <mass>"),
        (
            [link("a", "<collision><geometry><box size='1 -2 3'/></geometry></collision>")],
            2,
            "must not be negative",
        ),
        (
            [link("a", "<collision><geometry><sphere radius='1e9'/></geometry></collision>")],
            2,
            "are the units wrong?",
        ),
        (
            [link("a", "<collision><geometry><mesh/></geometry></collision>")],
            2,
            "<mesh> has no 'filename'",
        ),
        (["<link/>"], 2, "<link> has no 'name'"),
    ],
)
def test_errors_name_the_line(load, tmp_path, elements, line, message):
    with pytest.raises(AssetError) as caught:
        load(*elements)
    assert str(caught.value).startswith(f"{tmp_path / 'robot.urdf'}:{line}: ")
    assert message in str(caught.value)


def test_mimics_in_a_circle_are_refused(load):
    limited = '<mimic joint="{}"/>'
    with pytest.raises(AssetError, match="mimics itself, directly or by way of others"):
        load(
            *(link(name) for name in "abc"),
            joint("j1", content=limited.format("j2")),
            joint("j2", parent="b", child="c", content=limited.format("j1")),
        )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.urdf", b"", "no element found"),
        ("a.urdf", b"<robot>", "a.urdf:1:7: is not well-formed XML"),
        ("a.urdf", b"\n\n<robot>\n<a></b></robot>", "a.urdf:4:5: is not well-formed XML"),
        ("a.urdf", b"<mujoco/>", "expected <robot>, got <mujoco>"),
        ("a.xml", b"<robot/>", "expected <mujoco>"),
        ("a.obj", b"<robot/>", "expected a .urdf, .sdf, .xml or .mjcf file"),
        ("a.sdf", b"<robot/>", "expected <sdf>, got <robot>"),
        ("a.urdf", b"<?xml version='1.0' encoding='ebcdic-x'?><robot/>", "unknown encoding"),
        ("a.urdf", b"\x00\xff\xfe", "is not well-formed XML"),
    ],
)
def test_what_is_no_robot_file_is_refused(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(AssetError) as caught:
        read(path)
    assert message in str(caught.value)


def test_missing_files_and_folders_are_refused(tmp_path):
    with pytest.raises(AssetError, match="cannot be read"):
        so.load_model(tmp_path / "none.urdf")
    (tmp_path / "folder.urdf").mkdir()
    with pytest.raises(AssetError, match="cannot be read"):
        so.load_model(tmp_path / "folder.urdf")


def test_a_thing_that_cannot_move_needs_a_floating_base(load, tmp_path):
    description = load(link("a"))
    with pytest.raises(ModelError, match=r"no moving body.*floating_base=True"):
        so.load_model(Path(tmp_path) / "robot.urdf")
    assert build(description, floating_base=True).nv == 6


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("<turnGravityOff>true</turnGravityOff>", True),
        ("<turnGravityOff>false</turnGravityOff>", False),
        ("<springStiffness>3</springStiffness>", True),
        ("<static>false</static>", False),
        ("<selfCollide>true</selfCollide>", False),
    ],
)
def test_what_gazebo_would_move_otherwise_is_told(tmp_path, said, told):
    path = tmp_path / "robot.urdf"
    path.write_text(
        f'<robot name="r"><link name="a"/><gazebo reference="a">{said}</gazebo></robot>'
    )
    found = read(path)
    assert any("<gazebo>" in text for text in (found.warnings if told else found.left_out))
    assert not any("<gazebo>" in text for text in (found.left_out if told else found.warnings))
