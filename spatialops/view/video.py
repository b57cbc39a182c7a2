"""A recorded run as a video: pictures by a rasterizer of triangles, without a graphics card."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from spatialops._arrays import Array, scalar
from spatialops.errors import ArgumentError, MissingLibraryError, RecordError
from spatialops.view.camera import Camera, camera_on
from spatialops.view.motion import Motion, motion
from spatialops.view.parts import Layer
from spatialops.view.rasterizer import draw_triangles
from spatialops.view.replay import palette, write_whole
from spatialops.view.replay_shapes import half_space
from spatialops.view.triangles import (
    arrow_triangles,
    floor_tiles,
    line_triangles,
    shape_triangles,
)

if TYPE_CHECKING:
    from spatialops.simulation.records.record import Record

_FINER = 2  # pixels are means of so many squared
_PAPER = (0.93, 0.945, 0.965)
_SCENERY = (0.56, 0.63, 0.70)
_TILES = np.array([[0.84, 0.87, 0.90], [0.88, 0.905, 0.93]])
_RESTING = (0.0, 0.475, 0.353)
_IMPACT = (0.816, 0.11, 0.42)
_SUN = np.array([-0.45, -0.8, 1.2]) / np.linalg.norm([-0.45, -0.8, 1.2])
_SHADE = 0.5  # of a colour, where the sun does not shine
_ACROSS = 14  # tiles over the motion
_AROUND = 4  # how many times as wide as the motion a floor is
_UPRIGHT = 0.7  # height of the normal of a surface that is a floor
_ARROW = 0.14  # of the motion's size: the largest force
_THICK = 0.006
_LINE = 0.0025  # of the motion's size: half the width of a tendon
_TENDON = (0.70, 0.15, 0.12)


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


def record_video(
    record: Record,
    path: str | os.PathLike[str],
    *,
    rate: float = 30.0,
    size: tuple[int, int] = (1280, 720),
    collision: bool = False,
    beside: Record | None = None,
) -> Path:
    """Write a video of a run, in the time that it took.

    Parameters
    ----------
    record : Record
        What to show.
    path : path-like
        .mp4 (H.264, by PyAV) or .gif.
    rate : float
        Pictures a second. Default 30.
    size : (int, int)
        Width and height, pixels; even for .mp4. Default (1280, 720).
    collision : bool
        Draw the shapes that collide, not those that the robot's file draws. Default False.
    beside : Record, optional
        A second run, shown beside the first by the same clock.

    Returns
    -------
    Path
        Of the video.

    Raises
    ------
    ArgumentError
        If `rate` is not positive, `size` is no size, or `beside` no record.
    MissingLibraryError
        Without PyAV, for .mp4.
    RecordError
        If the file cannot be written, or does not end as a video does.
    """
    pace = scalar(rate, "rate", low=0.0, strict=True)
    ending = Path(path).suffix.lower()
    if ending not in _WRITERS:
        raise RecordError(f"a video ends in {' or '.join(_WRITERS)}, not {ending!r}")
    layers: tuple[Layer, Layer] = ("both", "collision" if collision else "visual")
    pixels = _checked_size(size)
    frames = pictures(motion(record, pace, *layers, beside=beside), pace, pixels)
    return write_whole(path, _WRITERS[ending](frames, pace))


def pictures(shown: Motion, rate: float, size: tuple[int, int]) -> Iterator[NDArray[np.uint8]]:
    """Pictures (height, width, 3), bytes, at equal distances in time from the first frame on."""
    width, height = size
    times = shown.times
    shapes = shown.shapes
    bodies = [shape_triangles(shape) for shape in shapes]
    low, high = _bounds(bodies, shown.centres)
    camera = camera_on(low, high, _FINER * width, _FINER * height)
    still = _scenery(camera, shown.fixtures, low, high, (_FINER * height, _FINER * width))
    named = [shape.get("color") or own for shape, own in zip(shapes, palette(len(shapes)))]
    colors = [_rgb(str(name)) for name in named]
    painter = _Painter(camera, still.image.copy(), still.depth.copy())
    arrows = _arrows(shown.contacts, float(np.linalg.norm(high - low)))
    thick = _LINE * float(np.linalg.norm(high - low))
    wanted = times[0] + np.arange(round((times[-1] - times[0]) * rate) + 1) / rate
    for frame in np.abs(wanted[:, None] - times).argmin(axis=1):
        np.copyto(painter.image, still.image)
        np.copyto(painter.depth, still.depth)
        for body, color, centre, turn in zip(
            bodies, colors, shown.centres[frame], shown.turns[frame]
        ):
            painter.draw(body @ turn.T + centre, color)
        painter.draw(line_triangles(shown.lines[frame], thick), np.array(_TENDON))
        painter.depth[:] = 0.0  # forces act into the bodies: they are drawn over everything
        for triangles, color in arrows[frame]:
            painter.draw(triangles, np.array(color), lit=False)
        yield _coarser(painter.image)


def _rgb(name: str) -> Array:
    """Of "#rrggbb", in [0, 1]."""
    return np.array([int(name[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0


def _coarser(image: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Means of the finer pixels, as bytes."""
    height, width, _ = image.shape
    fine = image.reshape(height // _FINER, _FINER, width // _FINER, _FINER, 3)
    total = fine[:, 0, :, 0].copy()
    for i, j in np.ndindex(_FINER, _FINER):
        if i or j:
            total += fine[:, i, :, j]
    return (total * (255.0 / _FINER**2) + 0.5).astype(np.uint8)


def _checked_size(size: tuple[int, int]) -> tuple[int, int]:
    whole = np.asarray(size)
    if (
        whole.shape != (2,)
        or whole.dtype.kind not in "iu"
        or (whole < 2).any()
        or (whole % 2).any()
    ):
        raise ArgumentError(f"size: expected an even width and height in pixels, got {size!r}")
    return int(whole[0]), int(whole[1])


def _bounds(bodies: Sequence[Array], centres: Array) -> tuple[Array, Array]:
    """Corners of a box [m] in which everything moves."""
    reach = np.array([np.linalg.norm(body, axis=2).max() for body in bodies])[:, None]
    return (centres - reach).min(axis=(0, 1)), (centres + reach).max(axis=(0, 1))


def _scenery(
    camera: Camera,
    still: Sequence[Mapping[str, object]],
    low: Array,
    high: Array,
    shape: tuple[int, int],
) -> _Painter:
    """What does not move, drawn once; of walls that are seen from their front."""
    painter = _Painter(
        camera, np.full((*shape, 3), _PAPER, dtype=np.float32), np.zeros(shape, dtype=np.float32)
    )
    span = float(np.linalg.norm(high - low))
    for fixture in still:
        if fixture["kind"] != "half_space":
            turn = Rotation.from_quat(np.asarray(fixture["quaternion"])).as_matrix()
            triangles = shape_triangles(fixture) @ turn.T + np.asarray(fixture["position"])
            color = fixture.get("color")
            painter.draw(triangles, _rgb(str(color)) if color else np.array(_SCENERY))
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
        colors = np.repeat(_TILES[even].reshape(-1, 3), 2, axis=0)
        painter.draw(tiles.reshape(-1, 3, 3), colors if is_floor else 0.94 * colors, lit=False)
    return painter


def _arrows(
    contacts: Sequence[Array], span: float
) -> list[list[tuple[Array, tuple[float, float, float]]]]:
    """Arrows of every frame; their lengths grow with the square root of the force."""
    sizes = [np.linalg.norm(rows[:, 3:6], axis=1) for rows in contacts]
    largest = max((float(one.max(initial=0.0)) for one in sizes), default=0.0)
    result = []
    for rows, size in zip(contacts, sizes):
        drawn = []
        for row, force in zip(rows, size):
            if force > 0.0:
                along = row[3:6] / force * _ARROW * span * np.sqrt(force / largest)
                color = _IMPACT if row[6] > 0.0 else _RESTING
                drawn.append((arrow_triangles(row[:3], along, _THICK * span), color))
        result.append(drawn)
    return result


def _gif(frames: Iterator[NDArray[np.uint8]], rate: float) -> bytes:
    from PIL import Image

    images = [Image.fromarray(frame).quantize(128) for frame in frames]
    file = io.BytesIO()
    images[0].save(
        file,
        format="GIF",
        save_all=True,
        append_images=images[1:],
        duration=1000.0 / rate,
        loop=0,
    )
    return file.getvalue()


def _mp4(frames: Iterator[NDArray[np.uint8]], rate: float) -> bytes:
    try:
        import av
    except ImportError:
        raise MissingLibraryError(
            "an .mp4 needs PyAV: pip install 'spatialops[video]'; a .gif does not"
        ) from None
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream = None
        for frame in frames:
            if stream is None:
                stream = container.add_stream(
                    "libx264", rate=Fraction(rate).limit_denominator(1000)
                )
                stream.height, stream.width = frame.shape[:2]
                stream.pix_fmt = "yuv420p"
            for packet in stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")):
                container.mux(packet)
        if stream is not None:
            container.mux(stream.encode())
    return file.getvalue()


_WRITERS = {".mp4": _mp4, ".gif": _gif}
