"""What a compiled command works in: parts of one buffer, as large as its contacts are many."""

from __future__ import annotations

from typing import NamedTuple

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined
from spatialops.algebra.memory import matrix

# Columns of a contact that is counted on.
FRAME = 0  # 9: normal, tangent, tangent of the first round, in which rows stand
NOW = 9  # 9: those of the round
MU = 18
OPEN = 19  # gap over the time in which it may close, m/s
DRIFT = 20  # 3: along the frame, m/s
COLUMNS = 23

# Integer columns.
ROW = 0  # in the loop's tables
NAME = 1  # 3: pair and features
LINKS = 4  # 2
STANDS = 6  # 1: of a link that stands
LIFTS = 7  # 1: of one that the motion does not mean to keep on the ground
INTS = 8


class Sizes(NamedTuple):
    """Of contacts, velocities, and those that are given."""

    m: int
    nv: int
    n: int


class Posture(NamedTuple):
    """What contacts and posture are, whatever the velocities, as in `InverseGeometry`."""

    mass: Array  # (nv, nv)
    G: Array  # (3 m, nv)
    factor: Array  # (u, u) C^-1 of M_uu = C C^T
    coupling: Array  # (u, n) C^-1 M_ua
    whole: Array  # (nv, nv) C^-1 of the whole mass matrix
    reach: Array  # (3 m, u) G_u C^-T
    W: Array  # (3 m, 3 m)
    place: Array  # (m, COLUMNS)
    names: IntArray  # (m, INTS)


class Tying(NamedTuple):
    """What contacts that stand do to demands, as in `consistent_demand`."""

    stands: IntArray  # (m,) 1: those that it is of
    change: Array  # (n, 3 m) of the given velocities, of what their rows want
    back: Array  # (u, 3 m) L^+
    rows: Array  # (3 m, n) J
    passive: Array  # (n, 3 m) of given velocities, were all free


class Round(NamedTuple):
    """One round."""

    v: Array  # (nv,) velocities without impulses
    u: Array  # (3 m,) of contacts
    p: Array  # (3 m,) impulses
    last: Array  # (3 m,) of the command before
    after: Array  # (nv,) velocities with impulses
    then: Array  # (3 m,) of contacts with impulses
    slip: Array  # (m,)


class Workspace(NamedTuple):
    """All of them."""

    posture: Posture
    tying: Tying
    round: Round
    scratch: Array  # what is left
    ints: IntArray


def room_of(sizes: Sizes) -> int:
    """Numbers that `workspace` names, scratch not counted."""
    m, nv, n = sizes
    k, u = 3 * m, nv - n
    posture = 2 * nv * nv + k * nv + u * u + u * n + k * u + k * k + m * COLUMNS
    tying = n * k + u * k + k * n + n * k
    return posture + tying + 2 * nv + 4 * k + m


def ints_of(m: int) -> int:
    """Integers that it names, scratch not counted."""
    return m * INTS + m


@inlined
def workspace(sizes: Sizes, floats: Array, ints: IntArray) -> Workspace:
    """Name the parts of buffers."""
    m, nv, n = sizes
    k = 3 * m
    u = nv - n
    at = 0
    mass = matrix(floats, at, nv, nv)
    at += nv * nv
    G = matrix(floats, at, k, nv)
    at += k * nv
    factor = matrix(floats, at, u, u)
    at += u * u
    coupling = matrix(floats, at, u, n)
    at += u * n
    whole = matrix(floats, at, nv, nv)
    at += nv * nv
    reach = matrix(floats, at, k, u)
    at += k * u
    W = matrix(floats, at, k, k)
    at += k * k
    place = matrix(floats, at, m, COLUMNS)
    at += m * COLUMNS
    change = matrix(floats, at, n, k)
    at += n * k
    back = matrix(floats, at, u, k)
    at += u * k
    rows = matrix(floats, at, k, n)
    at += k * n
    passive = matrix(floats, at, n, k)
    at += n * k
    vectors = matrix(floats, at, 2, nv)
    at += 2 * nv
    of_rows = matrix(floats, at, 4, k)
    at += 4 * k
    slip = floats[at : at + m]
    at += m
    names = ints[: m * INTS].reshape((m, INTS))
    stands = ints[m * INTS : m * INTS + m]
    return Workspace(
        Posture(mass, G, factor, coupling, whole, reach, W, place, names),
        Tying(stands, change, back, rows, passive),
        Round(vectors[0], of_rows[0], of_rows[1], of_rows[2], vectors[1], of_rows[3], slip),
        floats[at:],
        ints[m * INTS + m :],
    )
