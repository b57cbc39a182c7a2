"""A motion as pictures: what stands still once, what moves for every one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from spatialops._arrays import Array
from spatialops.view.motion import Motion
from spatialops.view.pictures.camera import Camera, camera_on
from spatialops.view.pictures.caption import Caption, key_of
from spatialops.view.pictures.look import LIGHT, Look, rgb
from spatialops.view.pictures.rasterizer import draw_triangles
from spatialops.view.replay import palette
from spatialops.view.replay_shapes import half_space
from spatialops.view.triangles import (
    arrow_triangles,
    floor_tiles,
    line_triangles,
    shape_triangles,
)

_FINER = 2  # pixels are means of so many squared
_SUN = np.array([-0.45, -0.8, 1.2]) / np.linalg.norm([-0.45, -0.8, 1.2])
_SHADE = 0.5  # of a colour, where the sun does not shine
_ACROSS = 14  # tiles over the motion
_AROUND = 4  # how many times as wide as the motion a floor is
_UPRIGHT = 0.7  # height of the normal of a surface that is a floor
_ARROW = 0.14  # of the motion's size: the largest force
_THICK = 0.006
_LINE = 0.0025  # of the motion's size: half the width of a tendon


class _Painter(NamedTuple):
    """The camera, a picture being drawn, and its inverse distances."""

    camera: Camera
    image: NDArray[np.float32]
    depth: NDArray[np.float32]

    def draw(self, triangles: Array, colors: Array, *, lit: bool = True) -> None:
        """Triangles (n, 3, 3) in their colours (n, 3), or (3,) for all."""
        corners, front = self.camera.project(triangles)
        shown = np.broadcast_to(colors, (len(triangles), 3))
        if lit:
            normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
            length = np.linalg.norm(normals, axis=1)
            facing = np.sign(np.einsum("ij,ij->i", normals, self.camera.position - triangles[:, 0]))
            sun = np.clip(facing * (normals @ _SUN) / np.where(length > 0.0, length, 1.0), 0.0, 1.0)
            shown = shown * (_SHADE + (1.0 - _SHADE) * sun)[:, None]
        draw_triangles(
            np.ascontiguousarray(corners[front]),
            np.ascontiguousarray(shown[front], dtype=np.float64),
            self.image,
            self.depth,
        )


def pictures(
    shown: Motion,
    rate: float,
    size: tuple[int, int],
    *,
    look: Look = LIGHT,
    title: str = "",
) -> Iterator[NDArray[np.uint8]]:
    """Pictures of a motion, at equal distances in time from its first frame on.

    Parameters
    ----------
    shown : Motion
        What moves, and what does not.
    rate : float
        Pictures a second.
    size : (int, int)
        Width and height, pixels.
    look : Look
        Colours. Default light.
    title : str
        Said in the upper left corner. Default nothing.

    Yields
    ------
    (height, width, 3) array of bytes
        A picture.
    """
    width, height = size
    times = shown.times
    shapes = shown.shapes
    bodies = [shape_triangles(shape) for shape in shapes]
    low, high = _with_feet(*_bounds(bodies, shown), shown.fixtures)
    span = float(np.linalg.norm(high - low))
    camera = camera_on(low, high, _FINER * width, _FINER * height)
    still = _scenery(camera, shown.fixtures, low, high, (_FINER * height, _FINER * width), look)
    named = [shape.get("color") or own for shape, own in zip(shapes, palette(len(shapes)))]
    colors = [rgb(str(name)) for name in named]
    painter = _Painter(camera, still.image.copy(), still.depth.copy())
    largest = _largest(shown.contacts)
    arrows = _arrows(shown.contacts, largest, span, look)
    longest = _ARROW * span * camera.focus / (_FINER * camera.distance)
    caption = Caption(size, look, title, key_of(largest, longest))
    wanted = times[0] + np.arange(round((times[-1] - times[0]) * rate) + 1) / rate
    for frame in np.abs(wanted[:, None] - times).argmin(axis=1):
        np.copyto(painter.image, still.image)
        np.copyto(painter.depth, still.depth)
        for body, color, centre, turn in zip(
            bodies, colors, shown.centres[frame], shown.turns[frame]
        ):
            painter.draw(body @ turn.T + centre, color)
        painter.draw(line_triangles(shown.lines[frame], _LINE * span), look.tendon)
        painter.depth[:] = 0.0  # forces act into the bodies: they are drawn over everything
        for triangles, color in arrows[frame]:
            painter.draw(triangles, color, lit=False)
        yield caption.write(_coarser(painter.image), times[frame])


def _coarser(image: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Means of the finer pixels, as bytes."""
    height, width, _ = image.shape
    fine = image.reshape(height // _FINER, _FINER, width // _FINER, _FINER, 3)
    total = fine[:, 0, :, 0].copy()
    for i, j in np.ndindex(_FINER, _FINER):
        if i or j:
            total += fine[:, i, :, j]
    return (total * (255.0 / _FINER**2) + 0.5).astype(np.uint8)


def _bounds(bodies: Sequence[Array], shown: Motion) -> tuple[Array, Array]:
    """Corners of a box [m] in which everything moves: each body by the box that it fills."""
    lows, highs = [], []
    for i, body in enumerate(bodies):
        seen = shown.centres[:, i, None] + _corners(body) @ shown.turns[:, i].swapaxes(-1, -2)
        lows.append(seen.min(axis=(0, 1)))
        highs.append(seen.max(axis=(0, 1)))
    return np.min(lows, axis=0), np.max(highs, axis=0)


def _with_feet(
    low: Array, high: Array, still: Sequence[Mapping[str, object]]
) -> tuple[Array, Array]:
    """The same with what stands still and is no larger, as the foot of an arm."""
    span = np.linalg.norm(high - low)
    for fixture in still:
        if fixture["kind"] != "half_space":
            seen = _standing(fixture).reshape(-1, 3)
            own_low, own_high = seen.min(axis=0), seen.max(axis=0)
            if np.linalg.norm(own_high - own_low) <= span:
                low, high = np.minimum(low, own_low), np.maximum(high, own_high)
    return low, high


def _standing(fixture: Mapping[str, object]) -> Array:
    """Triangles (n, 3, 3) of what does not move, in the world, m."""
    turn = Rotation.from_quat(np.asarray(fixture["quaternion"])).as_matrix()
    return np.asarray(shape_triangles(fixture) @ turn.T + np.asarray(fixture["position"]))


def _corners(triangles: Array) -> Array:
    """Of the box around triangles (n, 3, 3): (8, 3)."""
    points = triangles.reshape(-1, 3)
    sides = zip(points.min(axis=0), points.max(axis=0))
    return np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, 3)


def _scenery(
    camera: Camera,
    still: Sequence[Mapping[str, object]],
    low: Array,
    high: Array,
    shape: tuple[int, int],
    look: Look,
) -> _Painter:
    """What does not move, drawn once; of walls that are seen from their front."""
    image = np.full((*shape, 3), look.paper, dtype=np.float32)
    painter = _Painter(camera, image, np.zeros(shape, dtype=np.float32))
    span = float(np.linalg.norm(high - low))
    for fixture in still:
        if fixture["kind"] != "half_space":
            color = fixture.get("color")
            painter.draw(_standing(fixture), rgb(str(color)) if color else look.scenery)
            continue
        point, normal = half_space(fixture, "fixture")
        if normal @ (camera.position - point) <= 0.0:
            continue
        is_floor = normal[2] > _UPRIGHT
        middle = 0.5 * (low + high)
        middle += normal * (normal @ (point - middle))
        count = _ACROSS * _AROUND if is_floor else _ACROSS // 2
        tiles = floor_tiles(middle, normal, span / _ACROSS, count)
        even = np.add.outer(np.arange(count), np.arange(count)) % 2
        colors = np.repeat(look.tiles[even].reshape(-1, 3), 2, axis=0)
        painter.draw(tiles.reshape(-1, 3, 3), colors if is_floor else 0.94 * colors, lit=False)
    return painter


def _largest(contacts: Sequence[Array]) -> float:
    """Of all forces, N."""
    return max((float(_sizes(rows).max(initial=0.0)) for rows in contacts), default=0.0)


def _sizes(rows: Array) -> Array:
    return np.asarray(np.linalg.norm(rows[:, 3:6], axis=1))


def _arrows(
    contacts: Sequence[Array], largest: float, span: float, look: Look
) -> list[list[tuple[Array, Array]]]:
    """Arrows of every frame; their lengths grow with the square root of the force."""
    result = []
    for rows in contacts:
        drawn = []
        for row, force in zip(rows, _sizes(rows)):
            if force > 0.0:
                along = row[3:6] / force * _ARROW * span * np.sqrt(force / largest)
                color = look.impact if row[6] > 0.0 else look.resting
                drawn.append((arrow_triangles(row[:3], along, _THICK * span), color))
        result.append(drawn)
    return result
