"""Equality constraints of a compiled MuJoCo model as closures."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.rotation import from_quaternion
from spatialops.errors import ModelError
from spatialops.io.mjcf_parts.compiled import Compiled, disabled
from spatialops.tree.loop import Loop

_CONNECT, _WELD, _JOINT, _TENDON = range(4)  # mjtEq
_SITE = 6  # mjtObj
_WRAP_JOINT = 1  # mjtWrap
_SLIDE = 2  # mjtJoint, and hinges are above


def loops(c: Compiled) -> Iterator[Loop]:
    """A closure for every active constraint that has one; others are listed."""
    m = c.m
    taken: set[str] = set()
    if disabled(c, "EQUALITY") or disabled(c, "CONSTRAINT"):
        return
    for e in range(m.neq):
        name = c.name("EQUALITY", e) or f"equality{e}"
        while name in taken:
            name += "_"
        taken.add(name)
        if not m.eq_active0[e]:
            c.left_out.add("an equality constraint that is switched off", name)
            continue
        kind = int(m.eq_type[e])
        try:
            if kind in (_CONNECT, _WELD):
                loop = _joined(c, e, kind, name)
            elif kind in (_JOINT, _TENDON):
                loop = _coupled(c, e, kind, name)
            else:
                loop = None
        except ModelError as error:
            c.warnings.add(f"an equality constraint is left out: {error}", name)
            continue
        if loop is None:
            c.warnings.add("an equality constraint without counterpart is left out", name)
        else:
            yield loop


def _joined(c: Compiled, e: int, kind: int, name: str) -> Loop | None:
    m, data = c.m, c.m.eq_data[e]
    ids = [int(m.eq_obj1id[e]), int(m.eq_obj2id[e])]
    turns = [np.eye(3), np.eye(3)]
    if int(m.eq_objtype[e]) == _SITE:
        points = [m.site_pos[i] for i in ids]
        turns = [_turn(m.site_quat[i]) for i in ids]
        bodies = [int(m.site_bodyid[i]) for i in ids]
    elif kind == _CONNECT:
        points, bodies = [data[0:3], data[3:6]], ids
    else:  # the relative pose stands before the second body's anchor
        points, bodies = [data[3:6], data[0:3]], ids
        turns[0] = _turn(data[6:10])
    if m.body_weldid[bodies[0]] == m.body_weldid[bodies[1]]:
        return None
    return Loop(
        kind="ball" if kind == _CONNECT else "weld",
        name=name,
        a=c.bodies[bodies[0]],
        b=c.bodies[bodies[1]],
        position_a=points[0],
        position_b=points[1],
        rotation_a=turns[0],
        rotation_b=turns[1],
    )


def _turn(quaternion: Array) -> Array:
    return from_quaternion(quaternion[[1, 2, 3, 0]])


def _coupled(c: Compiled, e: int, kind: int, name: str) -> Loop | None:
    """y1 - y1(0) = a0 + a1 (y2 - y2(0)) for coordinates y, or lengths of tendons of joints."""
    m, data = c.m, c.m.eq_data[e]
    if data[2:5].any():
        return None
    terms = _coordinate if kind == _JOINT else _tendon
    first = terms(c, int(m.eq_obj1id[e]))
    second = terms(c, int(m.eq_obj2id[e])) if m.eq_obj2id[e] >= 0 else ({}, 0.0)
    if first is None or second is None:
        return None
    factors, offset = dict(first[0]), first[1] + data[0]
    if m.eq_obj2id[e] >= 0:
        offset -= data[1] * second[1]
        for joint, factor in second[0].items():
            factors[joint] = factors.get(joint, 0.0) - data[1] * factor
    factors = {joint: factor for joint, factor in factors.items() if factor != 0.0}
    return (
        Loop(kind="coupler", name=name, joints=factors, offset=float(offset)) if factors else None
    )


def _coordinate(c: Compiled, j: int) -> tuple[dict[str, float], float] | None:
    m = c.m
    return (
        ({c.joints[j]: 1.0}, float(m.qpos0[m.jnt_qposadr[j]])) if m.jnt_type[j] >= _SLIDE else None
    )


def _tendon(c: Compiled, t: int) -> tuple[dict[str, float], float] | None:
    """Factors of a fixed tendon, and its length in the initial configuration.

    There are none for a spatial one.
    """
    factors = tendon_factors(c, t)
    return None if factors is None else (factors, float(c.m.tendon_length0[t]))


def tendon_factors(c: Compiled, t: int) -> dict[str, float] | None:
    """Factors of the joints in a tendon's length; None for one that goes through space."""
    m = c.m
    factors: dict[str, float] = {}
    for w in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
        if m.wrap_type[w] != _WRAP_JOINT or m.jnt_type[m.wrap_objid[w]] < _SLIDE:
            return None
        joint = c.joints[m.wrap_objid[w]]
        factors[joint] = factors.get(joint, 0.0) + float(m.wrap_prm[w])
    return factors
