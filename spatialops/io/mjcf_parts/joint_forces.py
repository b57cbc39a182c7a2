"""Ranges of what all actuators may do to a joint, where one of them alone can obey them."""

from __future__ import annotations

import numpy as np

from spatialops.io.mjcf_parts.compiled import Compiled
from spatialops.io.mjcf_parts.loops import tendon_factors

_IN_PARENT, _TENDON = 1, 3  # mjtTrn; a joint is below
_WRAP_JOINT = 1  # mjtWrap
_WRAP_SITE = 3
_WRAP_GEOMS = (4, 5)


def bounded_alone(c: Compiled) -> dict[int, int]:
    """Actuators that move a joint with a range of force, and nothing else, alone: their joints.

    Ranges of joints that several actuators move, or a tendon with other joints, are told.
    """
    m = c.m
    found: dict[int, int] = {}
    for j in np.flatnonzero(m.jnt_actfrclimited).tolist():
        acting = [a for a in range(len(m.actuator_trntype)) if _moves(c, a, j)]
        if len(acting) == 1 and _only_one(c, acting[0]):
            found[acting[0]] = j
        elif acting:
            c.warnings.add(
                "not simulated: the range of force of a joint that several actuators move, or a "
                "tendon of several joints",
                c.joints[j],
            )
    return found


def _only_one(c: Compiled, a: int) -> bool:
    """Whether an actuator moves one joint."""
    if int(c.m.actuator_trntype[a]) <= _IN_PARENT:
        return True
    factors = tendon_factors(c, int(c.m.actuator_trnid[a][0]))
    return factors is not None and len(factors) == 1


def _moves(c: Compiled, a: int, j: int) -> bool:
    """Whether an actuator that is simulated may move a joint."""
    m = c.m
    kind, i = int(m.actuator_trntype[a]), int(m.actuator_trnid[a][0])
    if kind <= _IN_PARENT:
        return i == j
    if kind != _TENDON:
        return False
    ends = set[bool]()  # whether what a path goes along is carried by the joint
    for w in range(m.tendon_adr[i], m.tendon_adr[i] + m.tendon_num[i]):
        wrap, thing = int(m.wrap_type[w]), int(m.wrap_objid[w])
        if wrap == _WRAP_JOINT and thing == j:
            return True
        if wrap == _WRAP_SITE or wrap in _WRAP_GEOMS:
            body = (m.site_bodyid if wrap == _WRAP_SITE else m.geom_bodyid)[thing]
            ends.add(_carries(c, int(m.jnt_bodyid[j]), int(body)))
    return len(ends) == 2


def _carries(c: Compiled, body: int, other: int) -> bool:
    """Whether a body is another one, or among those that it hangs on."""
    while other > body:
        other = int(c.m.body_parentid[other])
    return other == body
