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
