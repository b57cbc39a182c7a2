"""A model's arrays as they come from a file, taken only if a builder could have made them.

Kernels follow the tree's numbers without looking: one that points outside its tables is memory of
somebody else. The whole structure follows from the kinds of joints and the bodies that they hang
on, so it is made again and compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, array
from spatialops.errors import ArgumentError, ModelError
from spatialops.tree.joint import KINDS, LINKS, joint_rows
from spatialops.tree.node import Frame

_MOST_LINKS = 10_000_000
_ORTHONORMAL = 1e-6  # error of a rotation that is damage, and not rounding
_TEXTS = ("body_names", "joint_names", "joint_kinds")
_SPRINGS = ("stiffness", "reference")  # records of version 0.1 have none
_LIMITS = ("lower", "upper", "velocity_limit", "effort_limit", "dry_friction")


def checked_model(data: Mapping[str, Any]) -> dict[str, Any]:
    """What `Model` is made of, from `Model.to_arrays` by way of anything.

    Parameters
    ----------
    data : mapping of str to array or sequence of str
        What a file says.

    Returns
    -------
    dict of str to object
        Arguments of `Model`.

    Raises
    ------
    ModelError
        If something is missing, or no builder makes such a model; it names the field.
    """
    try:
        values: dict[str, Any] = {name: _texts(data[name], name) for name in _TEXTS}
        structure = _structure(values, data["body_parents"])
        values |= structure
        for name in ("tree", "body_links"):
            _compare(data[name], structure[name], name)
        values |= _constants(data, len(structure["tree"]))
        values["frames"] = _frames(data, values["body_names"])
    except KeyError as error:
        raise ModelError(f"stored model: field {error} is missing") from None
    except ArgumentError as error:
        raise ModelError(f"stored model: {error}") from None
    return values


def _texts(entries: Sequence[object], name: str) -> tuple[str, ...]:
    texts = tuple(str(entry) for entry in entries)
    if name != "joint_kinds" and len(set(texts)) != len(texts):
        raise ModelError(f"stored model: {name}: a name stands twice")
    return texts


def _structure(values: Mapping[str, Any], parents: object) -> dict[str, Any]:
    """Tree, links of bodies and parents, from the kinds of joints."""
    kinds = values["joint_kinds"]
    n = len(kinds)
    if n == 0 or len(values["body_names"]) != n or len(values["joint_names"]) != n:
        raise ModelError("stored model: expected one body, one joint and one kind for each joint")
    unknown = [kind for kind in kinds if kind not in LINKS or kind == "fixed"]
    if unknown:
        raise ModelError(f"stored model: joint_kinds: no joint is {unknown[0]!r}")
    body_parents = _whole_numbers(parents, "body_parents")
    places = np.arange(n)
    if body_parents.shape != (n,) or (body_parents < -1).any() or (body_parents >= places).any():
        raise ModelError("stored model: body_parents: expected a body before each, or -1")
    sizes = np.array([len(LINKS[kind]) for kind in kinds])
    if sizes.sum() > _MOST_LINKS:
        raise ModelError(f"stored model: more than {_MOST_LINKS} links")
    body_links = np.cumsum(sizes) - 1
    coordinates = np.cumsum([KINDS[kind][0] for kind in kinds])
    tree = np.zeros((int(sizes.sum()), layout.TREE_COLUMNS), dtype=np.int64)
    for body, kind in enumerate(kinds):
        parent = body_parents[body]
        hangs_on = -1 if parent < 0 else int(body_links[parent])
        first_q = int(coordinates[body]) - KINDS[kind][0]
        tree[body_links[body] - sizes[body] + 1 : body_links[body] + 1] = joint_rows(
            kind, int(body_links[body] - sizes[body]) + 1, hangs_on, first_q, body
        )
    tree[:, layout.SIZE_Q] = coordinates[-1]
    return {"tree": tree, "body_links": body_links, "body_parents": body_parents}


def _whole_numbers(values: object, name: str) -> IntArray:
    numbers = np.asarray(values)
    if numbers.dtype.kind not in "iu":
        raise ModelError(f"stored model: {name}: expected whole numbers, got {numbers.dtype}")
    return np.ascontiguousarray(numbers, dtype=np.int64)


def _compare(given: object, expected: IntArray, name: str) -> None:
    numbers = _whole_numbers(given, name)
    if numbers.shape != expected.shape or (numbers != expected).any():
        raise ModelError(f"stored model: {name}: not what these joints make")


def _constants(data: Mapping[str, Any], n: int) -> dict[str, Array]:
    """Constants of links and joints: of their shapes, finite, and possible."""
    links = array(data["links"], (n, layout.LINK_COLUMNS), "links", finite=True)
    turns = array(data["turns"], (n, 3, 3), "turns", finite=True)
    _check_rotations(turns, "turns")
    places = links[:, layout.PLACE_R : layout.PLACE_R + 9].reshape(-1, 3, 3)
    _check_rotations(places, "links: rotations")
    for column in (layout.MASS, layout.ARMATURE, layout.DAMPING):
        if (links[:, column] < 0.0).any():
            raise ModelError("stored model: links: a mass, an armature or a damping is negative")
    gravity = links[:, layout.GRAVITY : layout.GRAVITY + 3]
    if (gravity != gravity[0]).any():
        raise ModelError("stored model: links: gravity must be one for all")
    limits = {name: array(data[name], (n,), name) for name in _LIMITS}
    if any(np.isnan(values).any() for values in limits.values()):
        raise ModelError("stored model: a limit is NaN")
    if (limits["lower"] > limits["upper"]).any():
        raise ModelError("stored model: lower: a limit above the upper one")
    springs = {
        name: array(data.get(name, np.zeros(n)), (n,), name, finite=True) for name in _SPRINGS
    }
    if (springs["stiffness"] < 0.0).any():
        raise ModelError("stored model: stiffness: negative")
    n_bodies = len(data["body_names"])
    borne = data.get("compensation", np.zeros((n_bodies, 4)))
    compensation = array(borne, (n_bodies, 4), "compensation", finite=True)
    return {"links": links, "turns": turns, **limits, **springs, "compensation": compensation}


def _check_rotations(rotations: Array, name: str) -> None:
    error = np.abs(rotations @ rotations.transpose(0, 2, 1) - np.eye(3)).max(initial=0.0)
    if error > _ORTHONORMAL:
        raise ModelError(f"stored model: {name}: not orthonormal")


def _frames(data: Mapping[str, Any], bodies: tuple[str, ...]) -> dict[str, Frame]:
    """Named frames: each on a body that there is, one for every body."""
    names = _texts(data["frame_names"], "frame_names")
    n = len(names)
    owners = _whole_numbers(data["frame_bodies"], "frame_bodies")
    if owners.shape != (n,) or (owners < -1).any() or (owners >= len(bodies)).any():
        raise ModelError("stored model: frame_bodies: expected a body for each frame, or -1")
    positions = array(data["frame_positions"], (n, 3), "frame_positions", finite=True)
    rotations = array(data["frame_rotations"], (n, 3, 3), "frame_rotations", finite=True)
    _check_rotations(rotations, "frame_rotations")
    known = set(names)
    missing = [name for name in bodies if name not in known]
    if missing:
        raise ModelError(f"stored model: frame_names: body {missing[0]!r} has none")
    parts = zip(names, owners, positions, rotations, strict=True)
    return {name: Frame(int(body), place, turn) for name, body, place, turn in parts}
