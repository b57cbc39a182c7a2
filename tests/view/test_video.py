"""Videos: the rasterizer against closed forms, and files that other libraries read."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from spatialops.algebra.inertia import Inertia
from spatialops.collision.shapes import Box, Geom, HalfSpace, Sphere
from spatialops.errors import ArgumentError, MissingLibraryError, RecordError
from spatialops.simulation.records.record import Record
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.simulator import Simulator
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.view.motion import motion
from spatialops.view.pictures.camera import camera_on
from spatialops.view.pictures.caption import Key, key_of
from spatialops.view.pictures.look import DARK
from spatialops.view.pictures.painter import pictures
from spatialops.view.pictures.rasterizer import draw_triangles
from spatialops.view.triangles import arrow_triangles, shape_triangles

SIZE = (64, 48)
SHAPES: list[tuple[dict[str, Any], float]] = [  # with their volumes
    ({"kind": "box", "size": [1.0, 2.0, 3.0]}, 6.0),
    ({"kind": "sphere", "radius": 2.0}, 32.0 * np.pi / 3.0),
    ({"kind": "capsule", "radius": 1.0, "length": 3.0}, 13.0 * np.pi / 3.0),
    ({"kind": "cylinder", "radius": 1.0, "length": 3.0}, 3.0 * np.pi),
    ({"kind": "cone", "radius": 1.0, "length": 3.0}, np.pi),
    ({"kind": "ellipsoid", "semi_axes": [1.0, 2.0, 3.0]}, 8.0 * np.pi),
]


def volume(triangles: np.ndarray) -> float:
    """By the divergence theorem: positive where the surface is closed and seen from outside."""
    return float(np.linalg.det(triangles).sum() / 6.0)


@pytest.mark.parametrize(("shape", "expected"), SHAPES)
def test_surfaces_hold_the_volume_of_their_shapes(shape: dict[str, Any], expected: float) -> None:
    found = volume(shape_triangles(shape))
    assert 0.94 * expected < found < 1.001 * expected


def test_an_arrow_begins_and_ends_where_it_is_told() -> None:
    start, along = np.array([1.0, 2.0, 3.0]), np.array([0.0, -2.0, 1.0])
    points = arrow_triangles(start, along, 0.1).reshape(-1, 3)
    share = (points - start) @ along / (along @ along)
    assert share.min() == pytest.approx(0.0, abs=1e-12)
    assert share.max() == pytest.approx(1.0)
    assert volume(arrow_triangles(start, along, 0.1)) > 0.0


def test_the_nearer_triangle_hides_the_other_whatever_the_order() -> None:
    far = [[-0.5, -0.5, 0.5], [20.7, -0.5, 0.5], [-0.5, 20.7, 0.5]]
    near = [[1.5, 1.5, 1.0], [8.7, 1.5, 1.0], [1.5, 8.7, 1.0]]
    images = []
    for order in ([0, 1], [1, 0]):
        image = np.zeros((12, 12, 3), dtype=np.float32)
        depth = np.zeros((12, 12), dtype=np.float32)
        draw_triangles(np.array([far, near])[order], np.eye(3)[[0, 1]][order], image, depth)
        images.append(image)
    np.testing.assert_array_equal(images[0], images[1])
    columns, rows = np.meshgrid(np.arange(12), np.arange(12))
    inside = (columns >= 2) & (rows >= 2) & (columns + rows <= 10)
    np.testing.assert_array_equal(images[0][..., 1] == 1.0, inside)
    np.testing.assert_array_equal(images[0][..., 0] == 1.0, ~inside & (columns + rows <= 20))


def test_the_camera_shows_all_and_keeps_straight_lines() -> None:
    low, high = np.array([-1.0, -2.0, 0.0]), np.array([3.0, 1.0, 0.5])
    camera = camera_on(low, high, 640, 480)
    corners = np.stack(np.meshgrid(*zip(low, high)), axis=-1).reshape(-1, 3)
    seen, front = camera.project(corners[[0, 1, 2, 3, 4, 5, 6, 7, 0]].reshape(3, 3, 3))
    assert front.all()
    assert (seen[..., :2] > 0).all()
    assert (seen[..., :2] < [639, 479]).all()
    up, _ = camera.project(np.array([[low, low + [0, 0, 0.1], low + [0, 0, 0.4]]]))
    assert up[0, 0, 1] > up[0, 1, 1] > up[0, 2, 1]  # up is up
    behind = np.tile(2.0 * camera.position - 0.5 * (low + high), (1, 3, 1))
    assert not camera.project(behind)[1].any()


def sliding(duration: float = 0.1) -> Record:
    """A ball that slides on a floor past a box."""
    builder = TreeBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body("ball", joint=Joint("free"), inertia=Inertia.sphere(0.5, mass=1.0))
    geoms = [
        Geom("floor", "world", HalfSpace()),
        Geom("box", "world", Box((0.2, 0.2, 0.2)), position=(1.0, 0.0, 0.1)),
        Geom("ball", "ball", Sphere(0.5)),
    ]
    scene = Scene(builder.build(), geoms)
    scene.state.q[2] = 0.5
    scene.state.v[3] = 2.0
    return Simulator(scene, dt=0.01).run(duration=duration)


def test_pictures_show_the_ball_and_its_force() -> None:
    first, *others = pictures(motion(sliding(), 20.0), 20.0, SIZE)
    assert len(others) == 2
    assert first.shape == (48, 64, 3)
    ball = (first[..., 0].astype(int) - first[..., 2]) > 60  # the accent's orange
    assert 0.02 < ball.mean() < 0.6
    assert np.abs(np.argwhere(ball).mean(axis=0) - [23.5, 31.5]).max() < 12.0
    arrow = (others[0][..., 1].astype(int) - others[0][..., 0]) > 25  # green, drawn over the ball
    assert arrow.any()


def test_what_moves_fills_the_picture() -> None:
    """A rod along the picture, by the box that it fills and not by a ball about its middle."""
    builder = TreeBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body("rod", joint=Joint("free"), inertia=Inertia.sphere(0.5, mass=1.0))
    scene = Scene(builder.build(), [Geom("rod", "rod", Box((0.02, 0.02, 2.0)))])
    scene.state.q[2] = 2.0
    record = Simulator(scene, dt=0.01).run(duration=0.05)
    first = next(pictures(motion(record, 20.0), 20.0, (128, 96))).astype(int)
    rows = np.flatnonzero(np.abs(first - first[0, 0]).max(axis=(1, 2)) > 40)
    assert 0.85 < (rows[-1] - rows[0] + 1) / 96 < 1.0


def test_dark_pictures_are_dark() -> None:
    light = next(pictures(motion(sliding(), 20.0), 20.0, SIZE))
    dark = next(pictures(motion(sliding(), 20.0), 20.0, SIZE, look=DARK))
    paper = (slice(0, 3), slice(0, 3))  # a corner, above the floor
    assert light[paper].min() > 230
    assert dark[paper].max() < 40


def test_words_stand_in_the_corners_of_pictures_that_have_room() -> None:
    shown = motion(sliding(), 20.0)
    plain, titled = (next(pictures(shown, 20.0, (320, 240), title=one)) for one in ("", "A ball"))
    changed = np.argwhere((plain != titled).any(axis=2))
    assert len(changed) > 30
    assert (changed < [30, 60]).all()
    small, named = (next(pictures(shown, 20.0, SIZE, title=one)) for one in ("", "A ball"))
    np.testing.assert_array_equal(small, named)


@pytest.mark.parametrize(("largest", "force"), [(13.8, 10.0), (7.0, 5.0), (0.0031, 0.002)])
def test_the_key_of_arrows_is_round_and_as_long_as_they_are(largest: float, force: float) -> None:
    assert key_of(largest, 60.0) == Key(force, pytest.approx(60.0 * np.sqrt(force / largest)))


def test_without_forces_there_is_no_key() -> None:
    assert key_of(0.0, 60.0) is None


def test_a_gif_is_read_by_others(tmp_path: Path) -> None:
    path = sliding().video(tmp_path / "run.gif", rate=20.0, size=SIZE)
    with Image.open(path) as file:
        assert (file.n_frames, file.size, file.info["duration"]) == (3, SIZE, 50)


def test_an_mp4_is_read_by_others(tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    path = sliding().video(tmp_path / "run.mp4", rate=20.0, size=SIZE)
    with av.open(path) as file:
        frames = [frame.to_ndarray(format="rgb24") for frame in file.decode(video=0)]
        assert file.streams.video[0].average_rate == 20
    assert [frame.shape for frame in frames] == [(48, 64, 3)] * 3
    expected = next(pictures(motion(sliding(), 20.0), 20.0, SIZE))
    assert np.abs(frames[0].astype(float) - expected).mean() < 12.0  # compressed


def test_without_pyav_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "av":
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingLibraryError, match=r"spatialops\[video\]"):
        sliding().video(tmp_path / "run.mp4", size=SIZE)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"path": "run.avi"}, RecordError, r"ends in \.mp4 or \.gif, not '\.avi'"),
        ({"size": (63, 48)}, ArgumentError, "size: expected an even width"),
        ({"size": "large"}, ArgumentError, "size: expected an even width"),
        ({"rate": 0.0}, ArgumentError, "rate"),
    ],
)
def test_wrong_input_is_named(
    tmp_path: Path, change: dict[str, Any], error: type[Exception], words: str
) -> None:
    options = {"path": "run.gif", "size": SIZE, "rate": 20.0} | change
    with pytest.raises(error, match=words):
        sliding().video(tmp_path / options.pop("path"), **options)
    assert list(tmp_path.iterdir()) == []
