"""Rays against every shape: MuJoCo's rays, triangles one by one, and the surface that was met."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import spatialops as so

COUNT = 300


def scene_of(shape, position=(0.0, 0.0, 0.0), rotation=None, fixed=False):
    builder = so.TreeBuilder()
    builder.add_body("body", joint="free", inertia=so.Inertia.sphere(0.1, mass=1.0))
    geom = so.Geom("geom", "world" if fixed else "body", shape, position, rotation=rotation)
    return so.Scene(builder.build(), [geom])


def turn(seed):
    return Rotation.random(random_state=seed).as_matrix()


def rays(seed, target, spread=0.4):
    rng = np.random.default_rng(seed)
    origins = rng.uniform(-3.0, 3.0, (COUNT, 3))
    return origins, target + spread * rng.normal(size=(COUNT, 3)) - origins


def by_triangles(corners, origins, directions):
    """Nearest crossing of every ray with triangles (f, 3, 3): planes and signs of volumes."""
    d = directions / np.linalg.norm(directions, axis=1)[:, None]
    best = np.full(len(origins), np.inf)
    for a, b, c in corners:
        normal = np.cross(b - a, c - a)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = ((a - origins) @ normal) / (d @ normal)
        x = origins + t[:, None] * d
        inside = t >= 0.0
        for u, v in ((a, b), (b, c), (c, a)):
            inside &= np.cross(v - u, x - u) @ normal >= 0.0
        best = np.where(inside & (t < best), t, best)
    return best


CONVEX = [
    (so.Sphere(0.4), 'type="sphere" size="0.4"'),
    (so.Capsule(0.2, 0.7), 'type="capsule" size="0.2 0.35"'),
    (so.Box((0.5, 0.7, 0.9)), 'type="box" size="0.25 0.35 0.45"'),
    (so.Cylinder(0.3, 0.8), 'type="cylinder" size="0.3 0.4"'),
    (so.Ellipsoid((0.2, 0.4, 0.6)), 'type="ellipsoid" size="0.2 0.4 0.6"'),
]


@pytest.mark.parametrize(("shape", "text"), CONVEX, ids=[type(s).__name__ for s, _ in CONVEX])
def test_rays_meet_what_mujoco_meets(shape, text):
    mujoco = pytest.importorskip("mujoco")
    place = np.array([0.5, -0.2, 0.3])
    matrix = turn(3)
    x, y, z, w = Rotation.from_matrix(matrix).as_quat()
    theirs = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><geom {text} pos="0.5 -0.2 0.3" quat="{w} {x} {y} {z}"/>'
        "</worldbody></mujoco>"
    )
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    scene = scene_of(shape, place, matrix)
    origins, directions = rays(1, place)
    origins[:20] = place + 0.02 * origins[:20]  # from inside
    found = so.cast_rays(scene, scene.state.q, origins, directions)
    for i, (o, d) in enumerate(zip(origins, directions)):
        which, normal = np.zeros(1, np.int32), np.zeros(3)
        unit = d / np.linalg.norm(d)
        distance = mujoco.mj_ray(theirs, data, o, unit, None, 1, -1, which, normal)
        assert found.geoms[i] == which[0]
        if distance >= 0.0:
            assert found.distances[i] == pytest.approx(distance, abs=1e-9)
            assert abs(found.normals[i] - normal).max() < 1e-7
        else:
            assert np.isinf(found.distances[i])


def surfaces():
    rng = np.random.default_rng(5)
    field = so.HeightField(0.2 * rng.normal(size=(9, 7)), (3.0, 2.0))
    points = rng.normal(size=(60, 3))
    hull = so.ConvexHull(points / np.linalg.norm(points, axis=1)[:, None] * [0.7, 0.9, 0.6])
    triangles = [
        (hull.vertices[f[0]], hull.vertices[f[i]], hull.vertices[f[i + 1]])
        for f in hull.solid.faces
        for i in range(1, len(f) - 1)
    ]
    mesh = so.Mesh(np.reshape(triangles, (-1, 3)), np.arange(3 * len(triangles)).reshape(-1, 3))
    vertices, faces = field.triangles()
    return {
        "hull": (hull, np.array(triangles), False),
        "mesh": (mesh, np.array(triangles), True),
        "field": (field, vertices[faces], True),
    }


@pytest.mark.parametrize("name", ["hull", "mesh", "field"])
def test_rays_meet_the_nearest_triangle(name):
    shape, corners, fixed = surfaces()[name]
    place, matrix = np.array([0.2, 0.1, -0.3]), turn(8)
    scene = scene_of(shape, place, matrix, fixed=fixed)
    origins, directions = rays(2, place)
    directions[:20, 2] = 0.0  # level ones, and upright ones
    directions[20:40, :2] = 0.0
    found = so.cast_rays(scene, scene.state.q, origins, directions)
    expected = by_triangles(corners @ matrix.T + place, origins, directions)
    met = np.isfinite(expected)
    assert met.sum() > 30
    assert np.array_equal(met, found.geoms == 0)
    assert abs(found.distances[met] - expected[met]).max() < 1e-9


def test_rays_meet_a_cone_where_it_is():
    radius, length = 0.4, 0.9
    scene = scene_of(so.Cone(radius, length))
    origins, directions = rays(4, np.zeros(3))
    found = so.cast_rays(scene, scene.state.q, origins, directions)
    angles = np.linspace(0.0, 2 * np.pi, 400, endpoint=False)
    rim = np.column_stack(
        [radius * np.cos(angles), radius * np.sin(angles), np.full(400, -0.5 * length)]
    )
    hull = scene_of(so.ConvexHull(np.vstack([rim, [0.0, 0.0, 0.5 * length]])))
    near = so.cast_rays(hull, scene.state.q, origins, directions)
    both = np.isfinite(found.distances) & np.isfinite(near.distances)
    assert both.sum() > 50
    assert (np.isfinite(found.distances) != np.isfinite(near.distances)).sum() <= 1  # at the edge
    assert abs(found.distances[both] - near.distances[both]).max() < 1e-3
    d = directions / np.linalg.norm(directions, axis=1)[:, None]
    x = (origins + found.distances[:, None] * d)[both]
    side = radius * (0.5 * length - x[:, 2]) / length - np.hypot(x[:, 0], x[:, 1])
    assert np.minimum(abs(side), abs(x[:, 2] + 0.5 * length)).max() < 1e-12


def test_ignored_geoms_let_rays_through():
    builder = so.TreeBuilder()
    builder.add_body("body", joint="free", inertia=so.Inertia.sphere(0.1, mass=1.0))
    geoms = [so.Geom("ball", "body", so.Sphere(0.1)), so.Geom("floor", "world", so.HalfSpace())]
    scene = so.Scene(builder.build(), geoms)
    q = scene.state.q.copy()
    q[2] = 1.0
    above = (0.0, 0.0, 3.0), (0.0, 0.0, -2.0)
    assert so.cast_rays(scene, q, *above).distances == pytest.approx([1.9])
    assert so.cast_rays(scene, q, *above, ignore=["ball"]).distances == pytest.approx([3.0])
    with pytest.raises(so.errors.ArgumentError, match="no geom 'wall'"):
        so.cast_rays(scene, q, *above, ignore=["wall"])
    with pytest.raises(so.errors.ArgumentError, match="no length"):
        so.cast_rays(scene, q, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
