"""Which contacts stay closed and which stick: complementarity of accelerations ([D] 18-22).

    0 <= f_n _|_ a_n >= 0;   sliding: f_t = -mu f_n u_t / |u_t|;
    at rest: |f_t| <= mu f_n, against a_t where it starts

With closures eliminated this is a problem of the exact cone, b the accelerations without contact
forces: a contact that slides already has no cone of its own, its friction goes into the column of
its normal force. That matrix N M^-1 (N - mu T)^T need not be positive: where it is no P-matrix
there may be no solution or several (P. Painleve, 1895).
"""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import NamedTuple

import numpy as np

from spatialops._arrays import NOTHING, Array, BoolArray, IntArray
from spatialops.contact.cone.problem import ConeProblem
from spatialops.contact.constraint_rows import DRY
from spatialops.contact.laws.elimination import Elimination
from spatialops.contact.lcp.problem import MixedLCP
from spatialops.contact.solve import solve
from spatialops.errors import PainleveError, PainleveWarning, SolverFailed
from spatialops.simulation.event_driven.constrained_motion import Mechanics, Rows
from spatialops.simulation.event_driven.contact_modes import STOPPED, Mode, Modes, slip_direction
from spatialops.simulation.event_driven.contacts import Contacts
from spatialops.simulation.stepping.contact_names import pairs_text

TIED = 1e-8  # part of the accelerations without contacts below which one counts as none
_MOST = 8  # sliding contacts whose principal minors are all looked at
_STRICTER = 0.1  # part of TIED that counts where no modes are given
_MINOR = -1e-9  # principal minor, relative, up to which its sign may be rounding


class Verdict(NamedTuple):
    """Modes of those that stay closed, and the residual of the problem."""

    modes: Modes
    residual: float


def decide(
    mechanics: Mechanics,
    time: float,
    q: Array,
    v: Array,
    contacts: Contacts,
    modes: Modes | None = None,
) -> Verdict:
    """What closed contacts do next.

    Where they have `modes` already it is asked whether these still hold: contacts that have begun
    to slide do so, and accelerations count from `TIED` on. Without, from a tenth of that: what has
    just been told apart stays apart.

    Raises
    ------
    PainleveError
        If sliding contacts leave the problem without a solution.
    SolverFailed
        If no solution was found.
    """
    if not len(contacts.keys):
        return Verdict({}, 0.0)
    a = mechanics.free(time, q, v)
    loop_rates = mechanics.loop_rates()
    rows = mechanics.rows(q, v, a, loop_rates, contacts)
    n_b = mechanics.n_b
    b = rows.rates
    drag = mechanics.drag(contacts)
    if drag.any():
        p = np.zeros(len(b))
        p[n_b:].reshape(-1, 3)[:, 1:] = -drag
        b = b + rows.L @ (rows.L.T @ p)
    p, dry = np.zeros(len(b)), mechanics.detector.stops.friction(contacts.pairs)
    p[n_b:].reshape(-1, 3)[:, 1:] = -dry[:, None] * _directions(contacts, modes or {})
    b = b + rows.L @ (rows.L.T @ p)  # of joints that slide
    held = np.isinf(contacts.friction)
    while True:  # those without slip that leave are let go, one by one
        found, apart = _with_friction(
            mechanics, time, rows._replace(rates=b), contacts, modes, held
        )
        leave = held & (apart > TIED * float(np.abs(b).max(initial=0.0)))
        if not leave.any():
            return found
        held[int(np.argmax(np.where(leave, apart, -1.0)))] = False


def _with_friction(
    mechanics: Mechanics,
    time: float,
    rows: Rows,
    contacts: Contacts,
    modes: Modes | None,
    held: BoolArray,
) -> tuple[Verdict, Array]:
    """Modes, and accelerations (m,) apart, while closures and tangents of `held` (m,) stay."""
    n_b, m = mechanics.n_b, len(contacts.keys)
    tangents = n_b + 3 * np.flatnonzero(held)
    kept = np.concatenate(
        [np.arange(n_b), np.column_stack([tangents + 1, tangents + 2]).ravel()]
    ).astype(np.int64)
    L, b = Elimination(rows.L[kept], rows.rates[kept]).reduce(rows.L[n_b:], rows.rates[n_b:])
    endless = np.isinf(contacts.friction)
    mu = np.where(endless, 0.0, contacts.friction)
    directions = _directions(contacts, modes or {})
    slides = directions.any(axis=1) & (mu > 0.0)
    columns, normals = L.copy(), 3 * np.arange(m)
    for i in np.flatnonzero(slides):
        columns[3 * i] -= mu[i] * directions[i] @ L[3 * i + 1 : 3 * i + 3]
    dry = mechanics.detector.stops.friction(contacts.pairs) * ~directions.any(axis=1)
    W, free = L @ columns.T, slides | ((mu == 0.0) & (dry == 0.0))
    paradox = _no_p_matrix(
        W[np.ix_(normals, normals)], (L * L).sum(1)[normals], np.flatnonzero(slides)
    )
    problem = _problem(W, b, np.where(dry > 0.0, 1.0, mu), free, dry)
    found = solve(problem)
    names = pairs_text(mechanics.detector.names(key[0]) for key in contacts.keys)
    if paradox and not found.solved:
        raise PainleveError(
            f"Painleve configuration at t = {time:.9g} s: with the friction of sliding contacts "
            f"({names}) there are no forces that keep bodies apart; TimeStepping goes on with an "
            "impulse there"
        )
    if not found.solved:
        raise SolverFailed(
            f"accelerations of {m} contacts ({names}) at t = {time:.9g} s: "
            f"residual {found.residual:.2e}; {found.status.message}",
            problem,
            found,
        )
    if paradox:
        warnings.warn(
            PainleveWarning(
                f"Painleve configuration at t = {time:.9g} s: the friction of sliding contacts "
                f"({names}) admits more than one motion, or none soon; one of them is taken"
            ),
            stacklevel=2,
        )
    forces = np.zeros(3 * m)
    forces[normals if isinstance(problem, MixedLCP) else slice(None)] = found.z
    forces[normals[dry > 0.0]] = 0.0  # which were the limits
    w = (W @ forces + b).reshape(m, 3)
    limit = float(np.abs(b).max()) * (_STRICTER * TIED if modes is None else TIED)
    joints = contacts.kinds == DRY
    directions[~slides & ~joints] = 0.0
    modes = _modes(contacts, forces.reshape(m, 3), w, limit, np.where(joints, 1.0, mu), directions)
    for i in np.flatnonzero(endless):
        if contacts.keys[i] in modes:
            modes[contacts.keys[i]] = Mode(True, np.zeros(3))
    return Verdict(modes, found.residual), w[:, 0]


def _problem(W: Array, b: Array, mu: Array, free: BoolArray, dry: Array) -> MixedLCP | ConeProblem:
    """The exact cone's problem without friction rows of those in `free`; an LCP if that is all.

    Dry friction of joints is a contact loaded with its limit `dry` (m,): as `laws.cone.load_dry`.
    """
    normals = 3 * np.arange(len(mu))
    if free.all():
        return MixedLCP(W[np.ix_(normals, normals)], b[normals])
    tangents = np.concatenate([normals[free] + 1, normals[free] + 2])
    W, b = W.copy(), b.copy()
    W[tangents] = 0.0
    W[:, tangents] = 0.0
    b[tangents] = 0.0
    stiff = max(float(np.diag(W).max(initial=0.0)), NOTHING)
    W[tangents, tangents] = stiff
    loaded = normals[dry > 0.0]
    W[loaded, loaded] = stiff
    b[loaded] = -stiff * dry[dry > 0.0]
    W[loaded + 2, loaded + 2] = stiff
    return ConeProblem(W, b, np.where(free, 0.0, mu))


def _directions(contacts: Contacts, modes: Modes) -> Array:
    """Unit directions (m, 2) of those that slide along the tangents, zeros for others."""
    slip = contacts.velocities[:, 1:]
    speed = np.hypot(slip[:, 0], slip[:, 1])[:, None]
    directions = np.where(speed > STOPPED, slip / np.where(speed > 0.0, speed, 1.0), 0.0)
    for i, key in enumerate(contacts.keys):
        if key in modes and not modes[key].sticks and modes[key].direction.any():
            directions[i] = slip_direction(contacts, i, modes[key].direction)
    return directions


def _modes(
    contacts: Contacts, forces: Array, a: Array, limit: float, mu: Array, directions: Array
) -> Modes:
    """Modes from the solution: closed if not accelerated apart, sticking if not sideways."""
    modes = Modes()
    for i, key in enumerate(contacts.keys):
        if a[i, 0] > limit:
            continue
        tangents = contacts.frames[i, 1:]
        if directions[i].any():
            modes[key] = Mode(False, directions[i] @ tangents)
        elif mu[i] == 0.0:
            modes[key] = Mode(False, np.zeros(3))
        elif np.hypot(*a[i, 1:]) <= limit:
            modes[key] = Mode(True, np.zeros(3))
        else:
            start = -forces[i, 1:] if np.hypot(*forces[i, 1:]) > 0.0 else a[i, 1:]
            modes[key] = Mode(False, start / np.hypot(*start) @ tangents)
    return modes


def _no_p_matrix(A: Array, size: Array, slides: IntArray) -> bool:
    """Whether a principal minor of the sliding contacts' matrix A is negative.

    Relative to the frictionless one, whose diagonal is `size` (m,).
    """
    if not len(slides):
        return False
    root = np.sqrt(np.where(size > 0.0, size, 1.0))
    scaled = A / root[:, None] / root
    if len(slides) > _MOST:
        return bool((np.diag(scaled)[slides] < _MINOR).any())
    return any(
        np.linalg.det(scaled[np.ix_(chosen, chosen)]) < _MINOR
        for count in range(1, len(slides) + 1)
        for chosen in combinations(slides, count)
    )
