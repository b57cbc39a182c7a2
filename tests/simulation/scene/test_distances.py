"""Nearest distances against closed forms and MuJoCo."""

import numpy as np
import pytest

import spatialops as so


def scene_of(*geoms):
    builder = so.TreeBuilder()
    for name in ("one", "two"):
        builder.add_body(name, joint="free", inertia=so.Inertia.sphere(0.1, mass=1.0))
    return so.Scene(builder.build(), geoms)


def at(one, two=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0, 1.0)):
    return np.concatenate([one, turn, two, (0.0, 0.0, 0.0, 1.0)])


def test_the_least_of_all_geoms_of_a_body_counts():
    scene = scene_of(
        so.Geom("a", "one", so.Sphere(0.1)),
        so.Geom("b", "one", so.Sphere(0.1), position=(0.5, 0.0, 0.0)),
        so.Geom("c", "two", so.Sphere(0.2)),
    )
    found = so.distances(scene, at((-2.0, 0.0, 0.0)), [("one", "two"), ("two", "a")])
    assert found.distances == pytest.approx([1.2, 1.7])
    assert found.geoms.tolist() == [[1, 2], [2, 0]]
    assert abs(found.points_a[0] - [-1.4, 0.0, 0.0]).max() < 1e-12
    assert abs(found.points_b[0] - [-0.2, 0.0, 0.0]).max() < 1e-12
    assert abs(found.normals[0] - [-1.0, 0.0, 0.0]).max() < 1e-12


def test_fixed_surfaces_have_a_distance_however_far():
    square = so.Mesh([(-9, -9, 0), (9, -9, 0), (9, 9, 0), (-9, 9, 0)], [(0, 1, 2), (0, 2, 3)])
    for ground in (so.HalfSpace(), square, so.HeightField(np.zeros((5, 5)), (18.0, 18.0))):
        scene = scene_of(
            so.Geom("box", "one", so.Box((0.2, 0.2, 0.4))), so.Geom("ground", "world", ground)
        )
        for height in (0.21, 3.0, 40.0, 0.19):
            found = so.distances(
                scene, at((0.1, 0.2, height)), [("box", "ground"), ("world", "one")]
            )
            assert found.distances == pytest.approx([height - 0.2] * 2, abs=1e-9)
            assert abs(found.points_b[0, 2]) < 1e-9
            assert found.normals[:, 2] == pytest.approx([1.0, -1.0])


def test_convex_shapes_are_as_far_apart_as_in_mujoco():
    mujoco = pytest.importorskip("mujoco")
    theirs = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><freejoint/><geom type="box" size="0.1 0.2 0.3"/></body>'
        '<body><freejoint/><geom type="capsule" size="0.1 0.3"/></body></worldbody></mujoco>'
    )
    data = mujoco.MjData(theirs)
    scene = scene_of(
        so.Geom("box", "one", so.Box((0.2, 0.4, 0.6))), so.Geom("pill", "two", so.Capsule(0.1, 0.6))
    )
    rng = np.random.default_rng(4)
    for _ in range(20):
        turn = rng.normal(size=4)
        turn /= np.linalg.norm(turn)
        place = 1.0 * turn[:3] / np.linalg.norm(turn[:3])
        data.qpos[:] = [*place, turn[3], *turn[:3], 0, 0, 0, 1, 0, 0, 0]
        mujoco.mj_forward(theirs, data)
        ends = np.zeros(6)
        expected = mujoco.mj_geomDistance(theirs, data, 0, 1, 10.0, ends)
        found = so.distances(scene, at(place, turn=turn), [("one", "two")])
        assert found.distances[0] == pytest.approx(expected, abs=1e-6)


def test_unknown_names_are_refused_in_words():
    scene = scene_of(so.Geom("floor", "world", so.HalfSpace()))
    with pytest.raises(so.errors.ArgumentError, match="no geom 'wall'"):
        so.distances(scene, scene.state.q, [("floor", "wall")])
    with pytest.raises(so.errors.ArgumentError, match="pairs of two names"):
        so.distances(scene, scene.state.q, ["floor"])


def test_a_geom_and_itself_are_refused():
    scene = scene_of(so.Geom("ball", "one", so.Sphere(0.1)))
    with pytest.raises(so.errors.ArgumentError, match="no distance from itself"):
        so.distances(scene, scene.state.q, [("ball", "ball")])


def test_no_pairs_have_no_distances():
    scene = scene_of(so.Geom("ball", "one", so.Sphere(0.1)))
    found = so.distances(scene, scene.state.q, [])
    assert found.distances.shape == (0,)
    assert found.points_a.shape == (0, 3)
