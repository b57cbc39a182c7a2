"""Shapes and geoms: what they keep, and what they refuse by name."""

import dataclasses

import numpy as np
import pytest

from spatialops.collision import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Geom,
    HalfSpace,
    HeightField,
    Mesh,
    Sphere,
    convex_parts,
    load_hull,
    load_mesh,
    shape_inertia,
)
from spatialops.errors import AssetError, MissingLibraryError, ShapeError

NOT_NUMBERS = ["wide", None, [1.0]]


@pytest.mark.parametrize("radius", [0.0, -1.0, np.nan, np.inf, *NOT_NUMBERS])
def test_sphere_refuses_a_radius_that_is_none(radius):
    with pytest.raises(ShapeError, match="radius"):
        Sphere(radius)


def test_half_space_takes_any_length_of_normal():
    assert np.allclose(HalfSpace((0.0, 3.0, 4.0)).normal, (0.0, 0.6, 0.8), rtol=0.0, atol=1e-16)
    assert HalfSpace().normal == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    "normal",
    [(0.0, 0.0, 0.0), (1.0, 0.0), (np.nan, 0.0, 1.0), (np.inf, 0.0, 0.0), "up", None, np.eye(3)],
)
def test_half_space_refuses_a_normal_that_is_none(normal):
    with pytest.raises(ShapeError, match="normal"):
        HalfSpace(normal)


@pytest.mark.parametrize("position", [(0.0, 0.0), (0.0, 0.0, np.nan), "here", 1.0])
def test_geom_refuses_a_position_and_names_itself(position):
    with pytest.raises(ShapeError, match="geom 'foot': position"):
        Geom("foot", "leg", Sphere(0.1), position=position)


@pytest.mark.parametrize("friction", [-0.1, np.nan, np.inf, *NOT_NUMBERS])
def test_geom_refuses_friction(friction):
    with pytest.raises(ShapeError, match="geom 'foot': friction"):
        Geom("foot", "leg", Sphere(0.1), friction=friction)


@pytest.mark.parametrize("restitution", [-0.1, 1.1, np.nan, *NOT_NUMBERS])
def test_geom_refuses_restitution(restitution):
    with pytest.raises(ShapeError, match="geom 'foot': restitution"):
        Geom("foot", "leg", Sphere(0.1), restitution=restitution)


@pytest.mark.parametrize("shape", [None, 0.1, Sphere, "sphere"])
def test_geom_refuses_what_is_no_shape(shape):
    with pytest.raises(ShapeError, match="geom 'foot': shape"):
        Geom("foot", "leg", shape)


def test_geoms_keep_their_own_copy_and_cannot_be_changed():
    place = np.array([1.0, 2.0, 3.0])
    geom = Geom("foot", "leg", Sphere(0.1), position=place)
    place[0] = 9.0
    assert geom.position == (1.0, 2.0, 3.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        geom.friction = 1.0
    with pytest.raises(TypeError):
        Geom("foot", "leg", Sphere(0.1), frition=0.3)


CUBE = np.array([(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Capsule(0.1, 0.0), "capsule: length"),
        (lambda: Box((1.0, 0.0, 1.0)), "box: size"),
        (lambda: Box(1.0), "box: size"),
        (lambda: Cylinder(-1.0, 1.0), "cylinder: radius"),
        (lambda: Cone(np.nan, 1.0), "cone: radius"),
        (lambda: Ellipsoid((1.0, 1.0)), "ellipsoid: semi_axes"),
        (lambda: ConvexHull(CUBE[:3]), "at least 4 points"),
        (lambda: ConvexHull(CUBE[:4]), "plane"),
        (lambda: ConvexHull(np.ones((5, 3))), "coincide"),
        (lambda: ConvexHull("points"), "convex hull: vertices"),
        (lambda: Mesh(CUBE, [(0, 1, 8)]), "indices must lie in 0 to 7"),
        (lambda: Mesh(CUBE, [(0, 1, 1)]), "no triangle has an area"),
        (lambda: Mesh(CUBE, [(0.0, 1.0, 2.0)]), "whole numbers"),
        (lambda: HeightField([[0.0]], (1.0, 1.0)), "2 x 2"),
        (lambda: HeightField(np.zeros((2, 2)), (1.0, 0.0)), "size"),
        (lambda: Geom("g", "b", Sphere(1.0), rotation=(0.0, 0.0)), "geom 'g': rotation"),
        (lambda: Geom("g", "b", Sphere(1.0), group=-1), "geom 'g': group"),
        (lambda: Geom("g", "b", Sphere(1.0), margin=-1.0), "geom 'g': margin"),
    ],
)
def test_what_cannot_be_is_refused_by_name(make, named):
    with pytest.raises(ShapeError, match=named):
        make()


def test_a_hull_has_the_faces_of_its_body():
    inner = np.random.default_rng(1).uniform(0.1, 0.9, (50, 3))
    solid = ConvexHull(np.concatenate([CUBE, inner, [(0.5, 0.5, 0.0), (0.5, 0.0, 0.0)]])).solid
    assert len(solid.vertices) == 8
    assert sorted(len(face) for face in solid.faces) == [4] * 6
    assert all(len(fan) == 3 for fan in solid.fans())
    for face, plane in zip(solid.faces, solid.planes, strict=True):
        a, b, c = solid.vertices[face[:3]]
        assert np.allclose(np.cross(b - a, c - b), plane[:3])  # counter-clockwise from outside
        assert (solid.vertices @ plane[:3]).max() == pytest.approx(plane[3])


def test_inertia_of_solids_is_that_of_the_closed_forms():
    box = ConvexHull((CUBE - 0.5) * (0.4, 0.3, 0.2) + (1.0, 2.0, 3.0))
    found, expected = shape_inertia(box, 700.0), shape_inertia(Box((0.4, 0.3, 0.2)), 700.0)
    assert found.mass == pytest.approx(expected.mass, rel=1e-12)
    assert np.allclose(found.center, (1.0, 2.0, 3.0), atol=1e-12)
    assert np.allclose(found.tensor, expected.tensor, rtol=0.0, atol=1e-10)
    angles = 2.0 * np.pi * np.arange(400) / 400
    rim = np.column_stack([0.2 * np.cos(angles), 0.2 * np.sin(angles), np.full(400, -0.2)])
    cone = shape_inertia(ConvexHull(np.vstack([rim, (0.0, 0.0, 0.2)])))
    assert np.allclose(cone.center, shape_inertia(Cone(0.2, 0.4)).center, atol=1e-9)
    assert np.allclose(cone.tensor, shape_inertia(Cone(0.2, 0.4)).tensor, rtol=1e-3)


def test_inertia_wants_a_volume():
    with pytest.raises(ShapeError, match="no volume"):
        shape_inertia(HalfSpace())
    with pytest.raises(ShapeError, match="not closed"):
        shape_inertia(Mesh(CUBE, [(0, 1, 2)]))
    hull = ConvexHull(CUBE).solid
    assert shape_inertia(Mesh(hull.vertices, hull.triangles()), 2.0).mass == pytest.approx(2.0)
    with pytest.raises(ShapeError, match="inside out"):
        shape_inertia(Mesh(hull.vertices, hull.triangles()[:, ::-1]))


def test_meshes_are_read_with_their_scale_and_turned_with_it(tmp_path):
    hull = ConvexHull(CUBE).solid
    text = [f"v {x} {y} {z}" for x, y, z in hull.vertices] + [
        f"f {a + 1} {b + 1} {c + 1}" for a, b, c in hull.triangles()
    ]
    file = tmp_path / "cube.obj"
    file.write_text("\n".join(text))
    assert shape_inertia(load_mesh(file, 2.0), 1.0).mass == pytest.approx(8.0)
    assert shape_inertia(load_mesh(file, (1.0, -1.0, 1.0)), 1.0).mass == pytest.approx(1.0)
    assert len(load_hull(file).solid.faces) == 6
    with pytest.raises(AssetError, match="cannot read"):
        load_mesh(tmp_path / "none.obj")
    (tmp_path / "bad.stl").write_text("nothing")
    with pytest.raises(AssetError, match=r"bad\.stl"):
        load_mesh(tmp_path / "bad.stl")


def test_convex_parts_are_kept_by_their_content(tmp_path, monkeypatch):
    from spatialops.collision import assets

    hull = ConvexHull(CUBE).solid
    mesh, calls = Mesh(hull.vertices, hull.triangles()), []
    monkeypatch.setattr(assets, "find_spec", lambda name: None)
    with pytest.raises(MissingLibraryError, match="decompose"):
        convex_parts(mesh, cache_dir=tmp_path)
    monkeypatch.setattr(assets, "find_spec", lambda name: name)
    monkeypatch.setattr(
        assets, "_decompose", lambda *args: calls.append(args) or [CUBE, CUBE + 3.0]
    )
    for _ in range(2):
        parts = convex_parts(mesh, cache_dir=tmp_path)
        assert [part.vertices.mean() for part in parts] == [0.5, 3.5]
    assert len(calls) == 1
