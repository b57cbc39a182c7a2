"""Shapes of files as geoms.

Limits of meshes, parts of moving ones, and bodies that are weighed by their shapes.
"""

import numpy as np
import pytest

import spatialops as so
from spatialops.collision import ConvexHull, Mesh
from spatialops.errors import AssetError, AssetWarning, ShapeError, SpatialOpsError
from spatialops.simulation.scene import mesh_files
from tests.support.homes import elsewhere

LINK = """<link name="{0}">{1}
<collision><origin xyz="{2}" rpy="{3}"/><geometry>{4}</geometry></collision></link>"""
MASS = """<inertial><mass value="2"/>
<inertia ixx=".1" ixy="0" ixz="0" iyy=".1" iyz="0" izz=".1"/></inertial>"""
MESH = '<mesh filename="{}" scale="{}"/>'


def robot(tmp_path, geometry, mass=MASS, place="0 0 0", turn="0 0 0"):
    path = tmp_path / "robot.urdf"
    path.write_text(f"<robot name='r'>{LINK.format('base', mass, place, turn, geometry)}</robot>")
    return path


def write_obj(path, vertices, faces):
    lines = [f"v {x} {y} {z}" for x, y, z in vertices] + [
        f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces
    ]
    path.write_text("\n".join(lines))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "package.xml").write_text("<package><name>p</name></package>")
    box = ConvexHull([(x, y, z) for x in (0, 1) for y in (0, 2) for z in (0, 3)])
    write_obj(tmp_path / "box.obj", box.vertices, box.solid.triangles())
    write_obj(
        tmp_path / "flat.obj", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], [(0, 1, 2), (1, 3, 2)]
    )
    write_obj(
        tmp_path / "far.obj",
        [(0, 0, 0), (2000, 0, 0), (0, 1, 0), (0, 0, 1)],
        [(0, 2, 1), (0, 1, 3), (0, 3, 2)],
    )
    (tmp_path / "empty.obj").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("file", "scale", "named"),
    [
        ("flat.obj", "1 1 1", "no volume"),
        ("far.obj", "1 1 1", "are the units wrong"),
        ("box.obj", "2000 1 1", "are the units wrong"),
        ("empty.obj", "1 1 1", "no triangles|not a readable mesh"),
        ("missing.obj", "1 1 1", "missing.obj"),
        ("../secret.obj", "1 1 1", "secret.obj"),
    ],
)
def test_meshes_beyond_their_limits_are_refused_or_left_out(folder, file, scale, named):
    path = robot(folder, MESH.format(file, scale))
    with pytest.raises((AssetError, ShapeError), match=named):
        so.load_scene(path, floating_base=True)
    with pytest.warns(AssetWarning, match="a shape is left out"):
        scene = so.load_scene(path, floating_base=True, strict=False)
    assert not scene.geoms


def test_a_file_that_is_too_large_is_not_read(folder, monkeypatch):
    monkeypatch.setattr(mesh_files, "MAX_MESH_BYTES", 10)
    with pytest.raises(AssetError, match="is larger than"):
        so.load_scene(robot(folder, MESH.format("box.obj", "1 1 1")), floating_base=True)


def test_a_moving_mesh_is_its_hull_and_a_still_one_its_triangles(folder):
    path = robot(folder, MESH.format("box.obj", "1 1 -2"))
    (geom,) = so.load_scene(path, floating_base=True).geoms
    assert isinstance(geom.shape, ConvexHull)
    np.testing.assert_allclose(np.ptp(geom.shape.vertices, axis=0), (1.0, 2.0, 6.0))
    table = so.compose([so.Part(source=path), so.Part(source=so.models.pendulum(2).scene())])
    (still,) = (
        geom for geom in table.geoms if geom.body == "world" and isinstance(geom.shape, Mesh)
    )
    assert so.collision.shape_inertia(still.shape, 1.0).mass == pytest.approx(
        12.0
    )  # normals outside though mirrored


def test_a_moving_mesh_is_cut_into_parts_where_asked(folder):
    pytest.importorskip("coacd")
    outline = np.array([(0, 0), (1, 0), (1, 0.2), (0.2, 0.2), (0.2, 1), (0, 1)])
    vertices = np.vstack([np.column_stack([outline, np.full(6, z)]) for z in (0.0, 0.3)])
    sides = [
        f
        for i in range(6)
        for f in ((i, (i + 1) % 6, 6 + (i + 1) % 6), (i, 6 + (i + 1) % 6, 6 + i))
    ]
    caps = [
        (6, 7, 8),
        (6, 8, 9),
        (6, 9, 10),
        (6, 10, 11),
        (2, 1, 0),
        (3, 2, 0),
        (4, 3, 0),
        (5, 4, 0),
    ]
    write_obj(folder / "corner.obj", vertices, sides + caps)
    scene = so.load_scene(
        robot(folder, MESH.format("corner.obj", "1 1 1")), floating_base=True, decompose=0.05
    )
    assert len(scene.geoms) >= 2
    assert [geom.name for geom in scene.geoms] == [f"base/{i}" for i in range(len(scene.geoms))]
    volume = sum(so.collision.shape_inertia(geom.shape, 1.0).mass for geom in scene.geoms)
    assert volume == pytest.approx(0.108, rel=0.1)


def test_bodies_without_inertia_are_weighed_where_asked_and_it_is_told(folder):
    path = robot(
        folder, '<box size="1 2 3"/>', mass="", place="0.1 0.2 0.3", turn="0 0 1.5707963267948966"
    )
    with pytest.warns(
        AssetWarning, match=r"mass and inertia are those of the shapes with 500 kg/m\^3: 'base'"
    ):
        scene = so.load_scene(path, floating_base=True, density=500.0)
    want = so.Inertia.box((2.0, 1.0, 3.0), density=500.0).shifted((0.1, 0.2, 0.3))
    mass = so.mass_matrix(scene.model, scene.model.neutral())
    np.testing.assert_allclose(mass, want.spatial, atol=1e-9 * mass.max())


def test_what_has_an_inertia_keeps_it(folder):
    path = robot(folder, '<box size="1 2 3"/>')
    scene = so.load_scene(path, floating_base=True, density=500.0)
    assert so.mass_matrix(scene.model, scene.model.neutral())[3, 3] == pytest.approx(2.0)
    with pytest.raises(SpatialOpsError, match="density"):
        so.load_scene(path, floating_base=True, density=-1.0)


def test_free_bodies_at_home_elsewhere_are_raised_upwards():
    robot = so.models.quadruped()
    model, state = elsewhere(robot.model, robot.state)
    scenes = [
        so.Scene(own, robot.scene().geoms, state=start)
        for own, start in ((robot.model, robot.state), (model, state))
    ]
    places = [so.body_poses(one.model, so.raised(one, 0.2).q).positions for one in scenes]
    assert places[1] == pytest.approx(places[0], abs=1e-12)
