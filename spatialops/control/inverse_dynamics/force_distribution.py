"""Of contact forces that do the same: those nearest the last ones, or least for the motors.

Rigid contacts leave forces undetermined: with L L^T the compliance, all p + n with L^T n = 0 give
the same motion, and every one of them is as good a prediction, if its motors push accordingly ([Z]
2.4, 6.2.4). Within what the law allows of each contact (pressing and sticking: the cone; sliding:
the ray opposite the slip; open: nothing) the choice is

    min |W x - w|^2   over   p + B x,  L^T B x = 0,  C (p + B x) >= 0:

a distance problem with few rows, which `pivot` solves in its dual. The cone is taken as the
polyhedron inscribed in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Literal, NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.contact.constraint_rows import DRY
from spatialops.contact.friction import directions
from spatialops.contact.laws.law import unit_compliance
from spatialops.contact.laws.pivoting import pivot_alone
from spatialops.control.inverse_dynamics.inverse_problem import InverseProblem

ConeKind = Literal["no-slip", "coulomb", "dissipation"]

# Singular values, relative to the largest, below which impulses count as moving nothing.
NULL = 1e-9
STUCK = 1e-9  # slip, relative to the largest velocity, below which a contact sticks
ROUNDING = 1e-12  # velocities that large impulses hide, relative to what they would do one by one
REST = 1e-12  # m/s; the largest velocity where nothing moves
NO_ROW = 1e-9  # length of a row, relative to the longest entry, below which it bounds nothing
RIDGE = 1e-6  # weight of the impulses themselves where motors do not tell them apart
# A choice is checked against 1e-9 of the largest impulse, and if it fails the law's own is as good.
CHOSEN = 1e-10  # violation, relative, that counts as none
PIVOTS = 1  # for each row and direction
# Relative: other impulses that move so little more, or leave cones so little, do the same.
SAME = 1e-9
_AXES = np.eye(3)


class Room(NamedTuple):
    """Impulses p + basis x that a law allows where rows (p + basis x) >= 0."""

    basis: Array
    rows: Array


@dataclass
class Bounding:
    """Rows of a `Room` that bounded the last choice: with which the next one begins.

    Attributes
    ----------
    count : int
        Of all rows.
    active : (k,) int array
        Those that did.
    """

    count: int = 0
    active: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def allowed(
    problem: InverseProblem,
    impulses: Array,
    *,
    law: ConeKind,
    n_f: int = 8,
    kept: float = 1.0,
) -> Room:
    """Directions in which impulses may change, and the rows that stay >= 0.

    Parameters
    ----------
    problem : InverseProblem
        The contacts.
    impulses : (m, 3) array
        Along the contacts' frames, N s.
    law : {"no-slip", "coulomb", "dissipation"}
        What binds a contact: pressing alone; the cone, with sliding ones on the ray of their force;
        the same, with those that part on their ray too.
    n_f : int, default 8
        Sides of the polyhedron inscribed in a cone.
    kept : float, default 1
        Share of friction that is counted on; forces that are beyond it may stay there.

    Returns
    -------
    Room
        Basis and rows.
    """
    m = problem.n_contacts
    u = (problem.jacobian @ problem.after(impulses.ravel())).reshape(m, 3) + problem.bias
    still = STUCK * max(float(np.abs(problem.velocities).max(initial=0.0)), REST)
    still += ROUNDING * unit_compliance(problem) * float(np.abs(impulses).max(initial=0.0))
    basis = np.zeros((3 * m, 3 * m))
    rows = np.zeros((m * (n_f + 1), 3 * m))
    used = 0
    count = 0
    for i, (mu, p, v) in enumerate(zip(problem.friction, impulses, u, strict=True)):
        if problem.kinds[i] == DRY:
            continue  # of a joint: its slip says what it is, or it holds as the law has it
        at = slice(3 * i, 3 * i + 3)
        opens = v[0] > still
        slides = np.hypot(v[1], v[2]) > still or (opens and law == "dissipation")
        if opens and law != "dissipation":
            continue
        if slides and (p[0] <= 0.0 or law == "no-slip"):
            continue  # about to slide with no force to tell where: it stays without
        axes = (p / np.sqrt(p @ p))[:, None] if slides else _AXES[:, : 3 if mu > 0.0 else 1]
        basis[at, used : used + axes.shape[1]] = axes
        used += axes.shape[1]
        rows[count, 3 * i] = 1.0
        count += 1
        if not (slides or mu == 0.0 or law == "no-slip"):
            rows[count : count + n_f, at] = _cone_rows(kept * float(mu), n_f)
            count += n_f
    return Room(basis[:, :used], rows[:count])


def _cone_rows(mu: float, n_f: int) -> Array:
    """Rows of the inscribed polyhedron: mu cos(pi / n_f) p_n >= p along each middle direction."""
    between = middles(n_f)
    share = mu * np.cos(np.pi / n_f) ** 2
    rows = np.empty((n_f, 3))
    rows[:, 0] = share
    rows[:, 1:] = -between
    return rows / np.hypot(share, np.hypot(*between[0]))


@cache
def middles(n_f: int) -> Array:
    """Directions (n_f, 2) between those of friction, as long as the middles of the sides."""
    facets = directions(n_f)
    return 0.5 * (facets + np.roll(facets, -1, axis=0))


def nearest(
    problem: InverseProblem,
    impulses: Array,
    target: Array,
    room: Room,
    *,
    last: Bounding | None = None,
) -> Array:
    """The impulses closest to a target of those that do the same.

    Parameters
    ----------
    problem : InverseProblem
        The contacts.
    impulses : (m, 3) array
        Along the contacts' frames, N s.
    target : (m, 3) array
        What is to be near, N s.
    room : Room
        What the law allows, see `allowed`.
    last : Bounding, optional
        Of a similar choice, with which to begin; becomes this one's. No answer depends on it.

    Returns
    -------
    (m, 3) array
        Impulses, N s.
    """
    null = _null_space(problem, room)
    p = impulses.ravel()
    best = null.T @ (target.ravel() - p)
    return _closest(p, null, room, best, last or Bounding()).reshape(-1, 3)


def least_torque(
    problem: InverseProblem,
    impulses: Array,
    torques: Array,
    dt: float,
    room: Room,
    *,
    last: Bounding | None = None,
) -> Array:
    """Those with which the motors' forces have the least norm ([Z] 105-110).

    Parameters
    ----------
    problem : InverseProblem
        The contacts.
    impulses : (m, 3) array
        Along the contacts' frames, N s.
    torques : (n,) array
        Motor forces that belong to `impulses`, N m or N.
    dt : float
        Length of the step, s.
    room : Room
        What the law allows, see `allowed`.
    last : Bounding, optional
        Of a similar choice, with which to begin; becomes this one's. No answer depends on it.

    Returns
    -------
    (m, 3) array
        Impulses, N s.
    """
    null = _null_space(problem, room)
    if not null.shape[1]:
        return impulses
    p, T = impulses.ravel(), problem.torque_rows() / dt
    scale = np.abs(T).max(initial=0.0) or 1.0
    W = np.vstack([T @ null / scale, RIDGE * np.eye(null.shape[1])])
    goal = -np.concatenate([torques / scale, RIDGE * (null.T @ p)])
    _, R = np.linalg.qr(W)
    back = null @ np.linalg.inv(R)  # |W x - goal| = |R x - R x0|: the same problem in y = R x
    best = R @ np.linalg.lstsq(W, goal, rcond=None)[0]
    return _closest(p, back, room, best, last or Bounding()).reshape(-1, 3)


def _null_space(problem: InverseProblem, room: Room) -> Array:
    """Orthonormal combinations (3 m, k) of what the law allows that move nothing."""
    rows = problem.reach.T @ room.basis
    if not room.basis.shape[1]:
        return room.basis
    _, values, right = np.linalg.svd(rows)
    rank = int((values > NULL * values.max(initial=0.0)).sum())
    null: Array = room.basis @ right[rank:].T
    return null


def _closest(p: Array, null: Array, room: Room, best: Array, last: Bounding) -> Array:
    """Impulses p + null y, y nearest to `best`, with rows (p + null y) >= 0, or no more below."""
    if not null.shape[1]:
        return p
    rows, slack = room.rows @ null, room.rows @ p
    floor = np.minimum(slack, 0.0)
    rest = slack + rows @ best - floor
    scale = max(float(np.abs(p).max(initial=0.0)), float(np.abs(null @ best).max(initial=0.0)))
    lengths = np.maximum(
        np.sqrt(np.einsum("ij,ij->i", rows, rows)), NO_ROW * np.abs(rows).max(initial=0.0)
    )
    keep = lengths > 0.0
    given = rows[keep]
    begin = last.active if last.count == len(given) else last.active[:0]
    found = pivot_alone(
        given, rest[keep], begin, lengths=lengths[keep], scale=scale, met=CHOSEN, most=PIVOTS
    )
    last.count, last.active = len(given), found.active
    if found.fell_back:  # those at hand are as good an answer, and a command cannot wait
        return p
    result: Array = p + null @ (best + given.T @ found.p)
    return result
