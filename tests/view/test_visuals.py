"""What robot files want drawn: read with its colours, drawn in place of what collides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import spatialops as so
from spatialops.view.coarser import coarser
from spatialops.view.parts import drawn_parts, fixture

ARM = """
<robot name="arm">
  <material name="gold"><color rgba="1 0.8 0 1"/></material>
  <link name="base">
    <visual><geometry><box size="0.4 0.4 0.1"/></geometry><material name="gold"/></visual>
    <collision><geometry><box size="0.5 0.5 0.1"/></geometry></collision>
  </link>
  <link name="rod">
    <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
    <visual><origin xyz="0 0 0.3"/><geometry><mesh filename="rod.obj"/></geometry>
      <material name="red"><color rgba="1 0 0 1"/></material></visual>
    <collision><origin xyz="0 0 0.3"/><geometry><sphere radius="0.2"/></geometry></collision>
  </link>
  <link name="tip">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="wrist" type="continuous"><parent link="rod"/><child link="tip"/>
    <origin xyz="0 0 1"/><axis xyz="0 1 0"/></joint>
</robot>"""
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="centimeter" meter="0.01"/><up_axis>Z_UP</up_axis></asset>
<library_effects><effect id="e"><profile_COMMON><technique sid="c"><lambert><diffuse>
<color>0 0.4 0.8 1</color></diffuse></lambert></technique></profile_COMMON></effect>
</library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="9">0 0 0 1 0 0 0 1 0</float_array><technique_common>
<accessor source="#a" count="3" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="1" material="s"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p>
</triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="w"><node id="n"><instance_geometry url="#g">
<bind_material><technique_common><instance_material symbol="s" target="#m"/></technique_common>
</bind_material></instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#w"/></scene></COLLADA>"""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    (tmp_path / "rod.obj").write_text(TETRAHEDRON)
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


def test_visuals_of_a_urdf_with_their_colors(arm: Path) -> None:
    scene = so.load_scene(arm)
    base, rod = scene.visuals
    assert base.kind == "box"
    assert base.sizes == (0.4, 0.4, 0.1)
    assert base.color == (1.0, 0.8, 0.0)
    assert rod.color == (1.0, 0.0, 0.0)
    assert rod.surface is not None
    assert rod.surface[1].shape == (4, 3)
    assert not any("material" in text for text in scene.description.left_out)  # type: ignore[union-attr]


TWO_COLORS = """mtllib rod.mtl
v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1
usemtl steel\nf 1 3 2\nf 1 2 4\nusemtl tape\nf 1 4 3\nf 2 3 4
"""
MATERIALS = "newmtl steel\nKd 0.2 0.4 0.6\nnewmtl tape\nKd 1 0 0\n"


def test_meshes_have_the_colors_of_their_files_where_the_robot_says_none(arm: Path) -> None:
    arm.with_name("rod.obj").write_text(TWO_COLORS)
    arm.with_name("rod.mtl").write_text(MATERIALS)
    named = so.load_scene(arm).visuals[1:]
    assert [(rod.name, rod.color) for rod in named] == [("rod/visual", (1.0, 0.0, 0.0))]
    red = '<material name="red"><color rgba="1 0 0 1"/></material>'
    mirrored = ARM.replace(red, "").replace('"rod.obj"', '"rod.obj" scale="-2 2 2"')
    arm.write_text(mirrored)
    parts = so.load_scene(arm).visuals[1:]
    assert [part.name for part in parts] == ["rod/visual/0", "rod/visual/1"]
    colors = np.array(sorted(part.color for part in parts if part.color))
    np.testing.assert_allclose(colors, [[0.2, 0.4, 0.6], [1.0, 0.0, 0.0]], atol=1 / 255)
    whole = so.collision.load_mesh(arm.with_name("rod.obj"), (-2.0, 2.0, 2.0))
    corners = [one.surface[0][one.surface[1]] for one in parts]  # type: ignore[index]
    np.testing.assert_array_equal(np.concatenate(corners), whole.vertices[whole.faces])


def test_a_collada_file_says_its_colors_and_its_unit(arm: Path) -> None:
    pytest.importorskip("collada")
    arm.with_name("rod.dae").write_text(COLLADA)
    red = '<material name="red"><color rgba="1 0 0 1"/></material>'
    arm.write_text(ARM.replace(red, "").replace("rod.obj", "rod.dae"))
    (rod,) = so.load_scene(arm).visuals[1:]
    np.testing.assert_allclose(rod.color, [0.0, 0.4, 0.8], atol=1 / 255)
    np.testing.assert_allclose(np.ptp(rod.surface[0], axis=0), [0.01, 0.01, 0.0])  # type: ignore[index]


def test_what_collides_is_drawn_where_the_file_draws_nothing(arm: Path) -> None:
    parts = {part.shape["name"]: part for part in drawn_parts(so.load_scene(arm, floor=True))}
    assert {name: part.layer for name, part in parts.items()} == {
        "base/visual": "visual",
        "rod/visual": "visual",
        "floor": "both",
        "base": "collision",
        "rod": "collision",
        "tip": "both",
    }
    assert parts["rod/visual"].shape["color"] == "#ff0000"
    assert parts["rod/visual"].body == parts["rod"].body == 0
    np.testing.assert_allclose(parts["rod/visual"].position, [0.0, 0.0, 0.3])
    assert fixture(parts["base/visual"])["color"] == "#ffcc00"


def test_parts_of_a_composed_scene_keep_their_looks(arm: Path) -> None:
    still = arm.with_name("box.urdf")
    still.write_text(
        '<robot name="box"><link name="box"><visual><origin xyz="0 0 1"/><geometry>'
        '<sphere radius="1"/></geometry></visual></link></robot>'
    )
    half_turn = np.diag([-1.0, -1.0, 1.0])
    scene = so.compose(
        [
            so.Part(source=str(arm), name="a"),
            so.Part(source=str(still), name="b", position=(1, 0, 0), rotation=half_turn),
        ]
    )
    rod, box = scene.visuals[1], scene.visuals[2]
    assert (rod.name, rod.body) == ("a/rod/visual", "a/rod")
    assert (box.name, box.body) == ("b/box/visual", "world")
    np.testing.assert_allclose(box.position, [1.0, 0.0, 1.0])
    np.testing.assert_allclose(box.rotation, half_turn)


def test_a_missing_mesh_is_not_drawn(arm: Path) -> None:
    arm.with_name("rod.obj").unlink()
    assert [visual.name for visual in so.load_scene(arm).visuals] == ["base/visual"]


def test_geoms_of_mjcf_by_group_and_color(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    path = tmp_path / "a.xml"
    path.write_text("""
    <mujoco><asset><material name="blue" rgba="0 0 1 1"/></asset><worldbody>
      <body name="ball"><freejoint/>
        <geom name="own" size="0.1" rgba="0 1 0 1" material="blue"/>
        <geom name="material" size="0.1" material="blue" contype="0" conaffinity="0"/>
        <geom name="hidden" size="0.1" group="3"/>
        <geom name="glass" size="0.1" rgba="1 1 1 0"/>
      </body></worldbody></mujoco>""")
    scene = so.load_scene(path)
    assert {visual.name: visual.color for visual in scene.visuals} == {
        "own": (0.0, 1.0, 0.0),
        "material": (0.0, 0.0, 1.0),
    }
    assert {geom.name for geom in scene.geoms} == {"own", "hidden", "glass"}


def test_a_fine_mesh_is_drawn_coarser() -> None:
    turns = np.linspace(0.0, 2.0 * np.pi, 201)
    u, v = np.meshgrid(turns, turns, indexing="ij")
    ring = 1.0 + 0.3 * np.cos(v)
    points = np.stack([ring * np.cos(u), ring * np.sin(u), 0.3 * np.sin(v)], axis=-1)
    at = np.arange(201 * 201).reshape(201, 201)
    low, right, left, high = (
        a.ravel() for a in (at[:-1, :-1], at[1:, :-1], at[:-1, 1:], at[1:, 1:])
    )
    faces = np.concatenate([np.stack([low, right, high], 1), np.stack([low, high, left], 1)])
    vertices, fewer = coarser(points.reshape(-1, 3), faces, most=5000)
    assert 500 < len(fewer) <= 5000
    distance = np.hypot(np.hypot(vertices[:, 0], vertices[:, 1]) - 1.0, vertices[:, 2])
    assert np.abs(distance - 0.3).max() < 0.05  # still that torus
    same = coarser(points.reshape(-1, 3), faces, most=len(faces))
    assert same[1] is faces
