"""What a contact problem is given, as arrays of the right shapes, or refused in words."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import ArrayLike, IntArray, array, dimensions, scalar
from spatialops.contact.constraint_rows import CONTACT, DRY, STOP
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model

Fields: TypeAlias = dict[str, Any]  # of a `ContactProblem`, by name

ZERO_BY_DEFAULT = (
    "gap_bias",
    "prior_normal_impulse",
    "dry",
    "viscous",
    "torsion",
    "rolling",
    "gaps",
)
_NOT_NEGATIVE = ("friction", "dry", "viscous", "torsion", "rolling")
_ORTHONORMAL = 1e-6  # error of a frame that is a mistake, and not rounding


def checked_fields(given: Fields, model: Model) -> Fields:
    """All fields but the model and the phase.

    Parameters
    ----------
    given : dict of str to object
        Fields of a `ContactProblem`; None where there is a default.
    model : Model
        The tree.

    Returns
    -------
    dict of str to array or float
        Converted and finite.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN, or numbers that nothing has.
    """
    friction = array(given["friction"], (None,), "friction")
    m = friction.size
    targets = () if given["loop_targets"] is None else given["loop_targets"]
    targets = array(targets, (None,), "loop_targets", finite=True)
    links = _links(given["links"], m, model, "links")
    loop_ints = _terms(given["loop_ints"], targets.size, model)
    none = np.zeros((0, layout.TERM_COLUMNS))
    terms = none if given["loop_terms"] is None else given["loop_terms"]
    shape = (len(loop_ints), layout.TERM_COLUMNS)
    drift = np.zeros((m, 3)) if given["drift"] is None else given["drift"]
    checked: Fields = {
        "q": array(given["q"], (model.nq,), "q", finite=True),
        "velocity": array(given["velocity"], (model.nv,), "velocity", finite=True),
        "links": links,
        "points": array(given["points"], (m, 3), "points", finite=True),
        "frames": array(given["frames"], (m, 3, 3), "frames", finite=True),
        "friction": friction,
        "drift": array(drift, (m, 3), "drift", finite=True),
        "loop_ints": loop_ints,
        "loop_terms": array(terms, shape, "loop_terms", finite=True),
        "loop_targets": targets,
        "kinds": _kinds(given["kinds"], links, model),
        "polygon_sides": _sides(given["polygon_sides"], m),
        "duration": scalar(given["duration"], "duration", low=0.0),
        "remaining": scalar(given["remaining"], "remaining", low=0.0),
    }
    for name in ZERO_BY_DEFAULT:
        values = np.zeros(m) if given[name] is None else given[name]
        checked[name] = array(values, (m,), name, finite=True)
    _check_values(checked)
    return checked


def _check_values(checked: Fields) -> None:
    """Raise ArgumentError for coefficients that nothing has, and frames that are none."""
    if np.isnan(checked["friction"]).any():
        raise ArgumentError("friction: holds NaN")
    for name in _NOT_NEGATIVE:
        least = checked[name].min(initial=0.0)
        if least < 0.0:
            raise ArgumentError(f"{name}: must not be negative, got {least:g}")
    if checked["friction"][checked["kinds"] != CONTACT].any():
        raise ArgumentError("friction: must be zero for stops and dry friction of joints")
    frames = checked["frames"]
    error = np.abs(frames @ frames.transpose(0, 2, 1) - np.eye(3)).max(initial=0.0)
    if error > _ORTHONORMAL:
        raise ArgumentError("frames: rows must be orthonormal: normal, tangent, tangent")


def _numbers(values: ArrayLike, name: str) -> np.ndarray:
    """A copy as an array of any kind, for checks of its kind and shape."""
    dimensions(values, name)
    return np.array(values)


def _links(values: ArrayLike, m: int, model: Model, name: str) -> IntArray:
    links = _numbers(values, name)
    if links.size == 0:
        links = np.zeros((0, 2), dtype=np.int64)
    if links.shape != (m, 2) or links.dtype.kind not in "iu":
        raise ArgumentError(
            f"{name}: expected whole numbers of shape ({m}, 2), got {links.dtype} {links.shape}"
        )
    if links.size and not (-1 <= links.min() and links.max() < model.nv):
        raise ArgumentError(
            f"{name}: expected links from -1 to {model.nv - 1}, got {links.min()} to {links.max()}"
        )
    return np.ascontiguousarray(links, dtype=np.int64)


def _kinds(values: ArrayLike | None, links: IntArray, model: Model) -> IntArray:
    none = np.zeros(len(links), dtype=np.int64)
    kinds = none if values is None else _numbers(values, "kinds")
    if kinds.size == 0:
        kinds = np.zeros(0, dtype=np.int64)
    if (
        kinds.shape != (len(links),)
        or kinds.dtype.kind not in "iu"
        or not np.isin(kinds, (CONTACT, STOP, DRY)).all()
    ):
        raise ArgumentError(f"kinds: expected {len(links)} numbers 0, 1 or 2, got {values!r}")
    joined = links[kinds != CONTACT]
    if (joined[:, 0] < 0).any() or (model.tree[joined[:, 0], layout.PARENT] != joined[:, 1]).any():
        raise ArgumentError(
            "kinds: a stop or dry friction of a joint acts between a link and its parent"
        )
    return np.ascontiguousarray(kinds, dtype=np.int64)


def _sides(values: ArrayLike | None, m: int) -> IntArray:
    none = np.zeros(m, dtype=np.int64)
    sides = none if values is None else _numbers(values, "polygon_sides")
    if sides.size == 0:
        sides = np.zeros(0, dtype=np.int64)
    if (
        sides.shape != (m,)
        or sides.dtype.kind not in "iu"
        or (sides < 0).any()
        or (sides % 2).any()
    ):
        raise ArgumentError(
            f"polygon_sides: expected {m} even numbers of directions, 0 for the round cone, got "
            f"{values!r}"
        )
    return np.ascontiguousarray(sides, dtype=np.int64)


def _terms(values: ArrayLike | None, rows: int, model: Model) -> IntArray:
    none = np.zeros((0, layout.TERM_INTS), dtype=np.int64)
    terms = none if values is None else _numbers(values, "loop_ints")
    if terms.ndim != 2 or terms.shape[1] != layout.TERM_INTS or terms.dtype.kind not in "iu":
        raise ArgumentError(
            f"loop_ints: expected whole numbers of shape (any, 3), got {terms.dtype} {terms.shape}"
        )
    _links(terms[:, layout.TERM_A :], len(terms), model, "loop_ints")
    if sorted(set(terms[:, layout.TERM_ROW].tolist())) != list(range(rows)):
        raise ArgumentError(
            f"loop_ints: every one of the {rows} rows of loop_targets needs a term, and no other"
        )
    return np.ascontiguousarray(terms, dtype=np.int64)
