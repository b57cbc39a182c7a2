"""Shapes as a replay page is told of them: their dimensions checked, their arrays packed."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from spatialops.errors import RecordError

_DIMENSIONS: dict[str, dict[str, tuple[int, ...]]] = {
    "sphere": {"radius": ()},
    "box": {"size": (3,)},
    "capsule": {"radius": (), "length": ()},
    "cylinder": {"radius": (), "length": ()},
    "cone": {"radius": (), "length": ()},
    "ellipsoid": {"semi_axes": (3,)},
}
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
_SCENERY = "#8fa1b3"
_NO_LENGTH = 1e-12  # of a quaternion that is taken for zero
TEXTS = ("kind", "name", "color", "layer")  # of a shape; all else is numbers
LAYERS = ("visual", "collision", "both")  # drawn, touched, or one for both


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


def unit_vectors(vectors: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Vectors of length one; RecordError if one has none."""
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    if (norms < _NO_LENGTH).any():
        raise RecordError(f"{name} must not be zero")
    unit: NDArray[np.float64] = vectors / norms
    return unit


def checked_shape(shape: Mapping[str, object], name: str) -> dict[str, object]:
    """A shape as the page draws it; RecordError if it is none."""
    kind = shape.get("kind")
    common = {
        "kind": kind,
        "name": str(shape.get("name", "")),
        "color": _color(shape, name),
        "layer": _layer(shape, name),
    }
    if kind == "mesh":
        return {**common, **_mesh(shape, name)}
    if kind not in _DIMENSIONS:
        raise RecordError(
            f"{name} has kind {kind!r}, not one of {', '.join([*_DIMENSIONS, 'mesh'])}"
        )
    result: dict[str, object] = common
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
        "vertices": packed(vertices, "<f4"),
        "faces": packed(faces, "<u4"),
        "reach": size,
    }


def checked_fixture(fixture: Mapping[str, object], name: str) -> dict[str, object]:
    """A half-space, or a shape with its place."""
    if fixture.get("kind") != "half_space":
        result = checked_shape(fixture, name)
        result["color"] = result["color"] or _SCENERY
        result["position"] = finite_array(
            fixture.get("position", (0, 0, 0)), (3,), f"{name}.position"
        ).tolist()
        turn = finite_array(fixture.get("quaternion", (0, 0, 0, 1)), (4,), f"{name}.quaternion")
        return {**result, "quaternion": unit_vectors(turn, f"{name}.quaternion").tolist()}
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
    return point, unit_vectors(
        finite_array(fixture["normal"], (3,), f"{name}.normal"), f"{name}.normal"
    )


def _color(shape: Mapping[str, object], name: str) -> str:
    color = shape.get("color") or ""
    if color and not (isinstance(color, str) and _COLOR.fullmatch(color)):
        raise RecordError(f'{name}.color must look like "#rrggbb", not {color!r}')
    return str(color)


def _layer(shape: Mapping[str, object], name: str) -> str:
    layer = shape.get("layer", "both")
    if layer not in LAYERS:
        raise RecordError(f"{name}.layer must be one of {', '.join(LAYERS)}, not {layer!r}")
    return str(layer)


def reach(shape: Mapping[str, object]) -> float:
    """Radius [m] of a ball about the centre that holds the shape."""
    sizes = {key: np.asarray(value) for key, value in shape.items() if key not in TEXTS}
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


def packed(array: NDArray[np.generic], form: str) -> str:
    """Numbers in base 64, for JSON."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=form).tobytes()).decode("ascii")
