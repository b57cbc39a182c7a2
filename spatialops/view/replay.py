"""A motion as one self-contained HTML page that shows it in 3-D, without server or network."""

from __future__ import annotations

import base64
import html
import json
import os
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spatialops._files import save_bytes
from spatialops.errors import AssetError, RecordError

_DIMENSIONS: dict[str, dict[str, tuple[int, ...]]] = {
    "sphere": {"radius": ()},
    "box": {"size": (3,)},
    "capsule": {"radius": (), "length": ()},
    "cylinder": {"radius": (), "length": ()},
    "cone": {"radius": (), "length": ()},
    "ellipsoid": {"semi_axes": (3,)},
}
_FORMATS = (".html", ".htm")
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
# A chain reads best as a gradient from its base; the last body, which the trail follows, gets the
# accent.
_FIRST = (0x2F, 0x5F, 0xA6)
_LAST = (0x6F, 0xC2, 0xCF)
_ACCENT = "#e69f00"
_SCENERY = "#8fa1b3"
_NO_LENGTH = 1e-12  # of a quaternion that is taken for zero
_TEXTS = ("kind", "name", "color")  # of a shape; all else is numbers


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
    bodies: int | None = None,
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
        (``vertices`` (n, 3), ``faces`` (f, 3)); optionally ``name`` and ``color`` as ``"#rrggbb"``.
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
    bodies : int, optional
        How many bodies the shapes stand on, to be told beside their number. Default G.

    Raises
    ------
    RecordError
        If the arrays do not fit together, hold NaN or infinity, a shape is unknown, or the path
        does not end as a page does.
    """
    suffix = Path(path).suffix
    if suffix.lower() not in _FORMATS:
        raise RecordError(f"a replay ends in {' or '.join(_FORMATS)}, not {suffix!r}")
    clock, centres, turns = _check_motion(times, positions, quaternions, len(shapes))
    moving = [_shape(shape, f"shapes[{i}]") for i, shape in enumerate(shapes)]
    for shape, default in zip(moving, _palette(len(moving)), strict=True):
        shape["color"] = shape["color"] or default
    scenery = [_fixture(fixture, f"fixtures[{i}]") for i, fixture in enumerate(fixtures)]
    rows, counts = _check_contacts(contacts, clock.size)
    payload = {
        "title": title or "Replay",
        "summary": [[str(label), _text(value)] for label, value in (summary or {}).items()],
        "bodies": len(moving) if bodies is None else bodies,
        "shapes": moving,
        "fixtures": scenery,
        "bounds": _bounds(moving, centres),
        "times": _pack(clock, "<f4"),
        "positions": _pack(centres, "<f4"),
        "quaternions": _pack(turns, "<f4"),
        "contacts": _pack(rows, "<f4"),
        "counts": _pack(counts, "<u4"),
    }
    return write_whole(path, _page(payload).encode(errors="replace"))


def write_whole(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write a file, whole or not at all; RecordError if it cannot be."""
    try:
        return save_bytes(path, content)
    except AssetError as error:
        raise RecordError(str(error)) from error


def finite_array(value: object, shape: tuple[int | None, ...], name: str) -> NDArray[np.float64]:
    """Return `value` as finite floats of the given shape, where None stands for any length."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise RecordError(f"{name} must be an array of numbers: {error}") from error
    wanted = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ")"
    if array.ndim != len(shape) or any(
        n not in (None, m) for n, m in zip(shape, array.shape, strict=True)
    ):
        raise RecordError(f"{name} must have shape {wanted}, not {array.shape}")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise RecordError(f"{name} must be finite, but holds {array[where]} at index {where}")
    return array


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
    return clock, centres, _unit(turns, "quaternions")


def _unit(vectors: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    if (norms < _NO_LENGTH).any():
        raise RecordError(f"{name} must not be zero")
    unit: NDArray[np.float64] = vectors / norms
    return unit


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


def _shape(shape: Mapping[str, object], name: str) -> dict[str, object]:
    kind = shape.get("kind")
    if kind == "mesh":
        return {
            **_mesh(shape, name),
            "name": str(shape.get("name", "")),
            "color": _color(shape, name),
        }
    if kind not in _DIMENSIONS:
        raise RecordError(
            f"{name} has kind {kind!r}, not one of {', '.join([*_DIMENSIONS, 'mesh'])}"
        )
    result: dict[str, object] = {
        "kind": kind,
        "name": str(shape.get("name", "")),
        "color": _color(shape, name),
    }
    for key, form in _DIMENSIONS[str(kind)].items():
        if key not in shape:
            raise RecordError(f"{name} is a {kind} without {key}")
        value = finite_array(shape[key], form, f"{name}.{key}")
        if (value <= 0).any():
            raise RecordError(f"{name}.{key} must be positive, not {value.tolist()}")
        result[key] = value.tolist()
    return result


def _mesh(shape: Mapping[str, object], name: str) -> dict[str, object]:
    """A surface of triangles, packed."""
    if "vertices" not in shape or "faces" not in shape:
        raise RecordError(f"{name} is a mesh without vertices or faces")
    vertices = finite_array(shape["vertices"], (None, 3), f"{name}.vertices")
    faces = finite_array(shape["faces"], (None, 3), f"{name}.faces").astype(np.int64)
    if not len(faces) or faces.min() < 0 or faces.max() >= len(vertices):
        raise RecordError(
            f"{name}.faces must hold numbers of vertices, from 0 to {len(vertices) - 1}"
        )
    size = float(np.linalg.norm(vertices, axis=1).max())
    return {
        "kind": "mesh",
        "vertices": _pack(vertices, "<f4"),
        "faces": _pack(faces, "<u4"),
        "reach": size,
    }


def _fixture(fixture: Mapping[str, object], name: str) -> dict[str, object]:
    if fixture.get("kind") != "half_space":
        result = _shape(fixture, name)
        result["color"] = result["color"] or _SCENERY
        result["position"] = finite_array(
            fixture.get("position", (0, 0, 0)), (3,), f"{name}.position"
        ).tolist()
        turn = finite_array(fixture.get("quaternion", (0, 0, 0, 1)), (4,), f"{name}.quaternion")
        return {**result, "quaternion": _unit(turn, f"{name}.quaternion").tolist()}
    point, normal = half_space(fixture, name)
    label = str(fixture.get("name", ""))
    color = _color(fixture, name) or _SCENERY
    return {
        "kind": "half_space",
        "name": label,
        "color": color,
        "point": point.tolist(),
        "normal": normal.tolist(),
    }


def half_space(
    fixture: Mapping[str, object], name: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a point (3,) [m] and the unit normal (3,) of a half-space given as a mapping."""
    if "point" not in fixture or "normal" not in fixture:
        raise RecordError(f"{name} is a half_space without point or normal")
    point = finite_array(fixture["point"], (3,), f"{name}.point")
    return point, _unit(finite_array(fixture["normal"], (3,), f"{name}.normal"), f"{name}.normal")


def _color(shape: Mapping[str, object], name: str) -> str:
    color = shape.get("color") or ""
    if color and not (isinstance(color, str) and _COLOR.fullmatch(color)):
        raise RecordError(f'{name}.color must look like "#rrggbb", not {color!r}')
    return str(color)


def _palette(count: int) -> list[str]:
    steps = np.linspace(_FIRST, _LAST, max(count - 1, 1)).round().astype(int)
    return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in steps[: count - 1]] + [_ACCENT]


def reach(shape: Mapping[str, object]) -> float:
    """Radius [m] of a ball about the centre that holds the shape."""
    sizes = {key: np.asarray(value) for key, value in shape.items() if key not in _TEXTS}
    if shape["kind"] == "mesh":
        return float(
            sizes["reach"] if "reach" in sizes else np.linalg.norm(sizes["vertices"], axis=1).max()
        )
    if shape["kind"] == "ellipsoid":
        return float(sizes["semi_axes"].max())
    if shape["kind"] == "box":
        return float(np.linalg.norm(sizes["size"])) / 2
    half, radius = float(sizes.get("length", 0.0)) / 2, float(sizes["radius"])
    return half + radius if shape["kind"] == "capsule" else float(np.hypot(half, radius))


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


def _pack(array: NDArray[np.generic], form: str) -> str:
    return base64.b64encode(np.ascontiguousarray(array, dtype=form).tobytes()).decode("ascii")


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
        "app": "".join(asset(f"replay-{part}.js") for part in ("scene", "motion", "ui", "main")),
    }
    # One pass over the template alone: inserted text is never searched for placeholders again.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], asset("replay.html"))
