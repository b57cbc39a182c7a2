"""Notes on files that load, and move as nobody meant."""

import pytest

import spatialops as so
from spatialops.errors import AssetError, AssetWarning

INERTIAL = """<inertial><mass value="2"/>
<inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>"""
BOX = '<collision><geometry><box size="{0} {0} {0}"/></geometry></collision>'


def loaded(tmp_path, shapes, **options):
    path = tmp_path / "box.urdf"
    path.write_text(f'<robot name="r"><link name="box">{INERTIAL}{shapes}</link></robot>')
    return so.load_scene(path, floating_base=True, **options)


def test_a_robot_without_shapes_falls_through_the_floor_and_that_is_said(tmp_path):
    with pytest.warns(AssetWarning, match="no link has a shape that collides"):
        scene = loaded(tmp_path, BOX.format(0.1).replace("collision", "visual"), floor=True)
    assert len(scene.warnings) == 1
    assert not loaded(tmp_path, "").warnings  # without a floor there is nothing to fall through


def test_a_shape_in_millimetres_is_told_by_the_inertia(tmp_path):
    assert not loaded(tmp_path, BOX.format(0.3), floor=True).warnings
    small = '<collision><geometry><sphere radius="1e-4"/></geometry></collision>'
    assert not loaded(tmp_path, BOX.format(0.3) + small).warnings  # a body's largest counts
    with pytest.warns(AssetWarning, match=r"reaches 260 m.*0\.122 m: .* millimetres"):
        loaded(tmp_path, BOX.format(300.0))
    with pytest.warns(AssetWarning, match="millimetres"):
        loaded(tmp_path, small)


def test_what_is_refused_says_how_to_go_on(tmp_path):
    mesh = '<collision><geometry><mesh filename="package://no/m.stl"/></geometry></collision>'
    with pytest.raises(AssetError, match="strict=False leaves such shapes out"):
        loaded(tmp_path, mesh)
    with pytest.warns(AssetWarning, match="a shape is left out"):
        loaded(tmp_path, mesh, strict=False, floor=True)
    template = tmp_path / "robot.xacro.urdf"
    template.write_text(
        '<robot xmlns:xacro="http://wiki.ros.org/xacro"><xacro:include filename="a"/></robot>'
    )
    with pytest.raises(AssetError, match=r"xacro FILE > robot\.urdf"):
        so.load_scene(template)
