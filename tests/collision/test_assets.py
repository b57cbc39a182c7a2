"""Meshes from files, COLLADA's units, and convex parts by the real tools."""

import numpy as np
import pytest

from spatialops.collision import (
    ConvexHull,
    Mesh,
    assets,
    convex_parts,
    load_mesh,
    mesh_files,
    shape_inertia,
)
from spatialops.errors import AssetError, MissingLibraryError, SpatialOpsError

COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset>{unit}<up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh><source id="p">
<float_array id="a" count="12">0 0 0 2 0 0 0 3 0 0 0 4</float_array>
<technique_common><accessor source="#a" count="4" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"/></node>
</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


@pytest.mark.parametrize(("unit", "factor"), [("", 1.0), ('<unit name="cm" meter="0.01"/>', 0.01)])
def test_collada_files_are_read_in_their_unit(tmp_path, unit, factor):
    pytest.importorskip("collada")
    path = tmp_path / "corner.dae"
    path.write_text(COLLADA.format(unit=unit))
    mesh = load_mesh(path, 2.0)
    np.testing.assert_allclose(
        np.ptp(mesh.vertices, axis=0), 2.0 * factor * np.array([2.0, 3.0, 4.0]), rtol=1e-6
    )
    assert shape_inertia(mesh).mass == pytest.approx(1000.0 * 4.0 * (2.0 * factor) ** 3, rel=1e-6)


def test_files_without_a_unit_are_in_metres(tmp_path):
    path = tmp_path / "corner.obj"
    path.write_text("v 0 0 0\nv 2 0 0\nv 0 3 0\nv 0 0 4\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    mesh = load_mesh(path)
    np.testing.assert_array_equal(np.ptp(mesh.vertices, axis=0), [2.0, 3.0, 4.0])
    assert shape_inertia(mesh).mass == pytest.approx(1000.0 * 4.0)


def test_without_pycollada_collada_files_say_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "corner.dae"
    path.write_text(COLLADA.format(unit=""))
    monkeypatch.setattr(mesh_files, "find_spec", lambda name: None)
    with pytest.raises(MissingLibraryError, match=r"spatialops\[dae\]"):
        load_mesh(path)


def test_a_damaged_collada_file_is_an_asset_error(tmp_path):
    pytest.importorskip("collada")
    path = tmp_path / "cut.dae"
    path.write_text(COLLADA.format(unit="")[:400])
    with pytest.raises(AssetError, match="not a readable mesh"):
        load_mesh(path)


def corner_piece():
    """An L of two boxes as one closed surface."""
    outline = np.array([(0, 0), (1, 0), (1, 0.2), (0.2, 0.2), (0.2, 1), (0, 1)])
    low, high = np.column_stack([outline, np.zeros(6)]), np.column_stack([outline, np.full(6, 0.3)])
    sides = [
        f
        for i in range(6)
        for f in ((i, (i + 1) % 6, 6 + (i + 1) % 6), (i, 6 + (i + 1) % 6, 6 + i))
    ]
    top = [(6, 7, 8), (6, 8, 9), (6, 9, 10), (6, 10, 11)]
    bottom = [(2, 1, 0), (3, 2, 0), (4, 3, 0), (5, 4, 0)]
    return Mesh(np.vstack([low, high]), sides + top + bottom)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("v 0 0 0\nv 1 0 0\nv nan 1 0\nf 1 2 3\n", "points that are not finite"),
        ("v 0 0 0\nv 1 0 0\n", "no triangles, or ends before them"),
    ],
)
def test_a_mesh_that_cannot_be_is_named(tmp_path, text, words):
    path = tmp_path / "part.obj"
    path.write_text(text)
    with pytest.raises(AssetError, match=rf"part\.obj: holds {words}"):
        load_mesh(path)


@pytest.mark.parametrize("tool", ["coacd", "vhacdx"])
def test_convex_parts_fill_the_shape_and_not_its_hull(tmp_path, monkeypatch, tool):
    """The real tools: the parts have the volume of the L to a few per cent, its hull has twice."""
    pytest.importorskip(tool)
    monkeypatch.setattr(assets, "find_spec", lambda name: name == tool or None)
    mesh = corner_piece()
    volume, hull = shape_inertia(mesh, 1.0).mass, shape_inertia(ConvexHull(mesh.vertices), 1.0).mass
    assert volume == pytest.approx(0.3 * 0.36)
    assert hull > 1.5 * volume
    parts = convex_parts(mesh, cache_dir=tmp_path)
    assert len(parts) >= 2
    assert all(isinstance(part, ConvexHull) for part in parts)
    assert sum(shape_inertia(part, 1.0).mass for part in parts) == pytest.approx(volume, rel=0.1)
    low, high = mesh.vertices.min(axis=0) - 0.02, mesh.vertices.max(axis=0) + 0.02
    assert all((part.vertices >= low).all() and (part.vertices <= high).all() for part in parts)
    # A second time they come from the file that is named after the content.
    monkeypatch.setattr(assets, "_decompose", lambda *args: pytest.fail("cut again"))
    again = convex_parts(mesh, cache_dir=tmp_path)
    assert [part.vertices.tolist() for part in again] == [part.vertices.tolist() for part in parts]
    with pytest.raises(pytest.fail.Exception):
        convex_parts(mesh, threshold=0.2, cache_dir=tmp_path)
    with pytest.raises(pytest.fail.Exception):
        convex_parts(Mesh(1.1 * mesh.vertices, mesh.faces), cache_dir=tmp_path)


def test_without_a_tool_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(assets, "find_spec", lambda name: None)
    with pytest.raises(MissingLibraryError, match=r"spatialops\[decompose\]"):
        convex_parts(corner_piece(), cache_dir=tmp_path)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, "fine"])
def test_the_threshold_must_be_positive(bad):
    with pytest.raises(SpatialOpsError, match="threshold"):
        convex_parts(corner_piece(), threshold=bad)
