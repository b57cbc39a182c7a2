"""What an element along a path adds where its arms turn: to pulls, damping and stiffness.

With arms c and their changes H, its rate changes by H* v, the inverse of the inertia that it feels
by 2 sum c_j H_j / D_j, and what it adds to the armature of joint k by that of |c_k| sum |c_j|.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops import _layout as layout
from spatialops._compile.jit import inlined, kernel
from spatialops.forces import _layout as el
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Made, Pulls, Room


class Pulling(NamedTuple):
    """What an element does within its range.

    Attributes
    ----------
    force, rate : float
        N, and m/s of its length.
    by_rate : float
        Of the force.
    stiffness, damping : float
        N/m and N s/m that are taken implicitly; stiffness by the share of s^2.
    added : float
        Change of the damping by the inverse of the inertia that it feels.
    share : float
    total : float
        Of its arms' sizes.
    """

    force: float
    rate: float
    by_rate: float
    stiffness: float
    damping: float
    added: float
    share: float
    total: float


@kernel
def add_turning_arms(made: Made, pulls: Pulls, room: Room, e: int, own: Pulling) -> None:
    """Add it of element e, whose arms and their changes are in the room."""
    first = pulls.ints[e, el.FIRST]
    last = first + pulls.ints[e, el.COUNT]
    arms, H = room.vectors[of.ARMS], room.squares[of.PATH_ARMS]
    s = made.s
    for m in range(made.tree.shape[0]):
        rate = inverse = total = 0.0
        for i in range(first, last):
            j = pulls.joints[i, el.LINK]
            rate += H[j, m] * made.v[j]
            inverse += 2.0 * arms[j] * H[j, m] * room.factors[j, layout.D_INVERSE]
            total += sign(arms[j]) * H[j, m]
        damps = own.added * inverse
        force = own.by_rate * rate - own.rate * damps
        for i in range(first, last):
            k = pulls.joints[i, el.LINK]
            size = abs(arms[k])
            larger = sign(arms[k]) * H[k, m] * own.total + size * total
            room.squares[of.PULL_BY_Q, k, m] += arms[k] * force + own.force * H[k, m]
            room.squares[of.FIT, k, m] += s * (own.damping * larger + size * own.total * damps)
            room.squares[of.STIFFER, k, m] += own.share * s * s * own.stiffness * larger


@inlined
def sign(x: float) -> float:
    return math.copysign(1.0, x) if x != 0.0 else 0.0
