"""A motion as one self-contained HTML page that shows it in 3-D, without server or network."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spatialops._files import checked_path, save_bytes
from spatialops.errors import AssetError, RecordError
from spatialops.view.replay_shapes import (
    checked_fixture,
    checked_shape,
    finite_array,
    packed,
    reach,
    unit_vectors,
)

_FORMATS = (".html", ".htm")
# A chain reads best as a gradient from its base; the last body, which the trail follows, gets the
# accent.
_FIRST = (0x2F, 0x5F, 0xA6)
_LAST = (0x6F, 0xC2, 0xCF)
_ACCENT = "#e69f00"
_VIEWS = ("start", "front", "side", "top", "free")
_SCRIPTS = ("scene", "motion", "ui", "curves", "main")


class Curves(NamedTuple):
    """What a page plots over its slider: a title, a unit, names of k curves, and (F, k) values."""

    name: str
    unit: str
    labels: Sequence[str]
    values: ArrayLike


def write_replay(
    path: str | os.PathLike[str],
    *,
    times: ArrayLike,
    shapes: Sequence[Mapping[str, object]],
    positions: ArrayLike,
    quaternions: ArrayLike,
    contacts: Sequence[ArrayLike] = (),
    fixtures: Sequence[Mapping[str, object]] = (),
    title: str = "",
    summary: Mapping[str, object] | None = None,
    frames: tuple[ArrayLike, ArrayLike] | None = None,
    curves: Sequence[Curves] = (),
    lines: ArrayLike | None = None,
    view: str = "start",
) -> Path:
    """Write a page that replays a motion of rigid bodies, and return its path.

    Parameters
    ----------
    path : path-like
        The page, .html or .htm; replaced in one step, so that a reader never sees half of it.
    times : (F,) array
        Times of the frames [s], never decreasing.
    shapes : sequence of G mappings
        What moves: ``kind`` and its dimensions [m], namely ``sphere`` (``radius``), ``box``
        (``size`` of 3), ``capsule``, ``cylinder`` or ``cone`` (``radius``, ``length`` along the
        local z axis, a capsule's without its caps), ``ellipsoid`` (``semi_axes`` of 3), or ``mesh``
        (``vertices`` (n, 3), ``faces`` (f, 3)); optionally ``name``, ``color`` as ``"#rrggbb"``,
        and ``layer``: ``"visual"`` or ``"collision"``, between which a switch chooses, or "both".
    positions : (F, G, 3) array
        Centres of the shapes in the world [m], z up.
    quaternions : (F, G, 4) array
        Orientations of the shapes, (x, y, z, w); normalised here.
    contacts : sequence of F arrays (k_f, 7), or empty
        Per contact its position [m], the force on the body [N], and 1 for an impact or 0 otherwise.
    fixtures : sequence of mappings
        Static scenery: ``half_space`` (``point`` [m] on its surface, outward ``normal``), or a
        shape as above with ``position`` [m] and ``quaternion``.
    title : str
        Title of the page.
    summary : mapping, optional
        Rows of the summary table, label to value.
    frames : pair of arrays, optional
        Positions (F, B, 3) [m] and quaternions (F, B, 4) of the bodies that the shapes stand on: a
        switch draws their axes. Default none, every shape a body.
    curves : sequence of Curves
        What can be plotted in step with the slider; NaN leaves a gap. Default nothing.
    lines : (F, k, 2, 3) array, optional
        Ends of straight pieces that are drawn, as of tendons, m. Default none.
    view : {"start", "front", "side", "top", "free"}
        Where the page looks from at first. Default "start": nearly the front.

    Raises
    ------
    RecordError
        If the arrays do not fit together, hold NaN or infinity, a shape is unknown, or the path
        does not end as a page does, or the view is unknown.
    """
    if view not in _VIEWS:
        raise RecordError(f"view: expected one of {', '.join(_VIEWS)}, got {view!r}")
    suffix = checked_path(path).suffix
    if suffix.lower() not in _FORMATS:
        raise RecordError(f"a replay ends in {' or '.join(_FORMATS)}, not {suffix!r}")
    clock, centres, turns = _check_motion(times, positions, quaternions, len(shapes))
    moving = [checked_shape(shape, f"shapes[{i}]") for i, shape in enumerate(shapes)]
    for shape, default in zip(moving, palette(len(moving)), strict=True):
        shape["color"] = shape["color"] or default
    scenery = [checked_fixture(fixture, f"fixtures[{i}]") for i, fixture in enumerate(fixtures)]
    rows, counts = _check_contacts(contacts, clock.size)
    axes = _check_frames(frames, clock.size)
    payload = {
        "title": title or "Replay",
        "view": view,
        "summary": [[str(label), _text(value)] for label, value in (summary or {}).items()],
        "bodies": len(moving) if frames is None else axes[0].shape[1],
        "axes": [packed(part, "<f4") for part in axes],
        "lines": packed(_check_lines(lines, clock.size), "<f4"),
        "curves": [_curves(each, clock.size, f"curves[{i}]") for i, each in enumerate(curves)],
        "shapes": moving,
        "fixtures": scenery,
        "bounds": _bounds(moving, centres),
        "times": packed(clock, "<f4"),
        "positions": packed(centres, "<f4"),
        "quaternions": packed(turns, "<f4"),
        "contacts": packed(rows, "<f4"),
        "counts": packed(counts, "<u4"),
    }
    return write_whole(path, _page(payload).encode(errors="replace"))


def write_whole(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write a file, whole or not at all; RecordError if it cannot be."""
    try:
        return save_bytes(path, content)
    except AssetError as error:
        raise RecordError(str(error)) from error


def _check_motion(
    times: ArrayLike, positions: ArrayLike, quaternions: ArrayLike, bodies: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    clock = finite_array(times, (None,), "times")
    if clock.size == 0 or bodies == 0:
        raise RecordError("a replay needs at least one frame and one body")
    if (np.diff(clock) < 0).any():
        raise RecordError(
            f"times must not decrease, but do after frame {int(np.argmax(np.diff(clock) < 0))}"
        )
    centres = finite_array(positions, (clock.size, bodies, 3), "positions")
    turns = finite_array(quaternions, (clock.size, bodies, 4), "quaternions")
    return clock, centres, unit_vectors(turns, "quaternions")


def _check_frames(
    frames: tuple[ArrayLike, ArrayLike] | None, count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if frames is None:
        return np.zeros((count, 0, 3)), np.zeros((count, 0, 4))
    origins = finite_array(frames[0], (count, None, 3), "positions of frames")
    turns = finite_array(frames[1], (count, origins.shape[1], 4), "quaternions of frames")
    return origins, unit_vectors(turns, "quaternions of frames")


def _check_lines(lines: ArrayLike | None, count: int) -> NDArray[np.float64]:
    if lines is None:
        return np.zeros((count, 0, 2, 3))
    return finite_array(lines, (count, None, 2, 3), "lines")


def _curves(curves: Curves, count: int, name: str) -> dict[str, object]:
    """Curves as the page reads them; infinite values are gaps, too."""
    values = np.array(curves.values, dtype=np.float64)
    if values.shape != (count, len(curves.labels)):
        raise RecordError(
            f"{name}.values must have shape {(count, len(curves.labels))}, not {values.shape}"
        )
    values[~np.isfinite(values)] = np.nan
    return {
        "name": str(curves.name),
        "unit": str(curves.unit),
        "labels": [str(label) for label in curves.labels],
        "values": packed(values, "<f4"),
    }


def _check_contacts(
    contacts: Sequence[ArrayLike], frames: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    if len(contacts) == 0:
        return np.zeros((0, 7)), np.zeros(frames, dtype=np.int64)
    if len(contacts) != frames:
        raise RecordError(
            f"contacts must hold one array for each of the {frames} frames, not {len(contacts)}"
        )
    rows = [
        np.zeros((0, 7))
        if np.size(frame) == 0
        else finite_array(frame, (None, 7), f"contacts[{i}]")
        for i, frame in enumerate(contacts)
    ]
    joined = np.concatenate(rows)
    if not np.isin(joined[:, 6], (0.0, 1.0)).all():
        raise RecordError(
            "the last column of contacts must be 0 (resting or sliding) or 1 (impact)"
        )
    return joined, np.array([len(row) for row in rows])


def palette(count: int) -> list[str]:
    """Colours of so many shapes, as "#rrggbb"."""
    steps = np.linspace(_FIRST, _LAST, max(count - 1, 1)).round().astype(int)
    return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in steps[: count - 1]] + [_ACCENT]


def _bounds(
    bodies: Sequence[Mapping[str, object]], centres: NDArray[np.float64]
) -> list[list[float]]:
    """Corners of the box [m] that holds the whole motion: what the camera must show."""
    radii = np.array([reach(body) for body in bodies])[:, None]
    return [
        (centres - radii).min(axis=(0, 1)).tolist(),
        (centres + radii).max(axis=(0, 1)).tolist(),
    ]


def _text(value: object) -> str:
    return f"{float(value):.6g}" if isinstance(value, (float, np.floating)) else str(value)


def _page(payload: Mapping[str, object]) -> str:
    assets = files("spatialops.view") / "assets"

    def asset(name: str) -> str:
        return (assets / name).read_text(encoding="utf-8")

    # "<" never occurs in the embedded JSON, so no text in it can end its script element or open a
    # comment.
    parts = {
        "title": html.escape(str(payload["title"])),
        "data": json.dumps(payload, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"),
        "licence": asset("three.LICENSE").strip(),
        "style": asset("replay.css"),
        "three": asset("three.min.js"),
        "app": "".join(asset(f"replay-{part}.js") for part in _SCRIPTS),
    }
    # One pass over the template alone: inserted text is never searched for placeholders again.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], asset("replay.html"))
