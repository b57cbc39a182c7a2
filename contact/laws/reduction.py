"""Contacts while closures, and tangents that must not slip, are held: what cone laws work on.

Each contact has D rows: normal, tangent, tangent, and with torsional or rolling friction the spins
about them. Those are measured by a length, so that they are velocities of the size of the others
(and moments impulses).

Viscous friction -K T v+ beside the dry one is linear in the velocities after the step, and part of
what the contacts' rows see: in coordinates y of L (G M^-1 G^T = L L^T) the mass becomes H = 1 + T^T
K T, see `laws.viscous`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
import scipy

from spatialops._arrays import Array, BoolArray, IntArray
from spatialops.contact.constraint_rows import DRY, STOP
from spatialops.contact.laws.elimination import Elimination
from spatialops.contact.laws.law import LawSolution, spin_unit, unit_compliance
from spatialops.contact.laws.wedges import wedged
from spatialops.contact.problem import ContactProblem

COARSE = 1e-5  # what is left of a tangent that is nearly dependent
REST = 1e-10  # velocity, relative to the largest, that counts as none, as does
HIDDEN = 1e-15  # of the largest impulse as a velocity, which is its rounding

_NOBODY: IntArray = np.zeros(0, dtype=np.int64)


class Held(NamedTuple):
    """Impulses (m, 3) with some tangents held, of closures, pivots, who pushes, moments (m, 3)."""

    impulses: Array
    loop_impulses: Array
    iterations: int
    active: IntArray = _NOBODY
    moments: Array | None = None


class Attempt(Protocol):
    """A solution while tangents of contacts `held` do not move, if others leave `rank` of them."""

    def __call__(self, held: BoolArray, last: Held | None, /, *, rank: float) -> Held:
        """Impulses and who pushes, from the `last` ones."""


class Reduced:
    """The contacts' rows of a problem while the tangents of contacts `sticking` (m,) are held.

    Of those that others leave no more than `rank` of, nothing is held.

    Attributes
    ----------
    W, u : (m D, m D), (m D,) arrays
        Compliance and velocities; rows that are held are zero.
    kinds : list of (slice, (m,) array)
        Columns of a contact and coefficients of sliding, torsion, rolling (the latter where there
        are any); the first coefficient is zero where it is infinite.
    """

    def __init__(self, problem: ContactProblem, sticking: BoolArray, rank: float = 0.0) -> None:
        self.problem, self.sticking = problem, sticking
        n_b, m = problem.n_loop_rows, problem.n_contacts
        L, u = problem.response.L, problem.velocities
        self.rows, own = L[n_b:].reshape(m, 3, problem.model.nv), u[n_b:].reshape(m, 3)
        self.unit = spin_unit(problem)
        self.kinds = [(slice(1, 3), np.where(np.isinf(problem.friction), 0.0, problem.friction))]
        if problem.has_moments:
            spins = self.unit * (problem.spin_jacobian @ problem.velocity)
            self.rows = np.concatenate(
                [self.rows, self.unit * problem.spin_response.reshape(m, 3, problem.model.nv)],
                axis=1,
            )
            own = np.concatenate([own, spins.reshape(m, 3)], axis=1)
            self.kinds += [
                (slice(3, 4), problem.torsion / self.unit),
                (slice(4, 6), problem.rolling / self.unit),
            ]
        tangents = np.flatnonzero(np.repeat(sticking, 3) & np.tile([False, True, True], m)) + n_b
        chosen = np.concatenate([np.arange(n_b), tangents])
        self.held = Elimination(L[chosen], u[chosen], rank)
        rows, u = self.held.reduce(self.rows.reshape(-1, L.shape[1]), own.ravel())
        still = np.flatnonzero(
            np.repeat(sticking, self.dim) & np.tile(np.isin(np.arange(self.dim), (1, 2)), m)
        )
        rows[still], u[still] = 0.0, 0.0
        self._seen = rows
        self._slow = u
        self._dragged = np.zeros(rows.shape[1])
        self._factor: Array | None = None
        if problem.viscous.any():
            rows, u = self._with_drag(rows, u)
        self.W, self.u = rows @ rows.T, u
        # Rows of joints that do nothing: an entry on the diagonal is all.
        idle = np.zeros((m, self.dim), dtype=bool)
        idle[:, 1:3] = (problem.kinds == STOP)[:, None]
        idle[:, [0, 2]] |= (problem.kinds == DRY)[:, None]
        place = np.flatnonzero(idle)
        self.W[place, place] = unit_compliance(problem)

    @property
    def dim(self) -> int:
        """Rows D of a contact."""
        return int(self.rows.shape[1])

    def _with_drag(self, rows: Array, u: Array) -> tuple[Array, Array]:
        """Rows H^-1/2, and what the drag leaves of u: the drag is in the mass."""
        chosen, K = self._tangents()
        H = np.eye(rows.shape[1]) + rows[chosen].T @ (K[:, None] * rows[chosen])
        factor: Array = np.asarray(np.linalg.cholesky(H), dtype=np.float64)
        self._factor = factor
        self._dragged = -self._answer(rows[chosen].T @ (K * u[chosen]))
        return scipy.linalg.solve_triangular(factor, rows.T, lower=True).T, u + rows @ self._dragged

    def _tangents(self) -> tuple[IntArray, Array]:
        """Rows of tangents, and impulse over slip of each."""
        rows = self.dim * np.arange(self.problem.n_contacts)
        return np.column_stack([rows + 1, rows + 2]).ravel(), np.repeat(self.problem.viscous, 2)

    def _answer(self, x: Array) -> Array:
        """H^-1 x."""
        if self._factor is None:
            return x
        return np.asarray(scipy.linalg.cho_solve((self._factor, True), x))

    def _drag(self, r: Array) -> Array:
        """Impulses (m, 2) of the drag that go with those of the contacts' rows, (m, D)."""
        chosen, K = self._tangents()
        if self._factor is None:
            return np.zeros((self.problem.n_contacts, 2))
        y = self._dragged + self._answer(self._seen.T @ r.ravel())
        return np.asarray(-K * (self._slow[chosen] + self._seen[chosen] @ y)).reshape(-1, 2)

    def impulses(self, r: Array, iterations: int) -> Held:
        """All impulses that go with those of the contacts' rows, (m, D)."""
        n_b, r = self.problem.n_loop_rows, r.copy()
        r[:, 1:3] += self._drag(r)
        others = self.held.impulses(self.rows.reshape(-1, self.rows.shape[2]).T @ r.ravel())
        impulses = r[:, :3].copy()
        impulses[self.sticking, 1:] = others[n_b:].reshape(-1, 2)
        moments = self.unit * r[:, 3:] if self.dim > 3 else None
        return Held(impulses, others[:n_b], iterations, moments=moments)


def settle(
    problem: ContactProblem,
    infinite_friction: BoolArray,
    attempt: Attempt,
    verify: Callable[[Held], LawSolution],
) -> LawSolution:
    """`attempt` with the tangents held of those of `infinite_friction` that press.

    Found from those that approach or have pressed, else from none: what presses and slides is held,
    then. Nearly dependent tangents of contacts that leave can lock a motion between them. Last as
    at first, but for nearly dependent tangents: what these would lock, by impulses so large that
    rounding shows, normals may stop, or nothing moves.

    Of several answers it is the one that holds fewest: see `wedges`. Where all are held at first, a
    ball that falls along a wall rolls down it.
    """
    best = None
    u = problem.velocities
    approaches = u[problem.n_loop_rows :: 3] < -REST * np.abs(u).max(initial=0.0)
    first = infinite_friction & (approaches | (problem.prior_normal_impulse > 0.0))
    for held, rank in ((first, 0.0), (np.zeros_like(first), 0.0), (first, COARSE)):
        ranked = partial(attempt, rank=rank)
        answer = verify(_settled(problem, infinite_friction, held, ranked))
        if best is None or answer.residual < best.residual:
            best = answer
        if best.solved or not infinite_friction.any():
            break
    assert best is not None
    return _fewest(problem, infinite_friction, ranked, verify, best) if best.solved else best


def _fewest(
    problem: ContactProblem,
    infinite_friction: BoolArray,
    attempt: Callable[[BoolArray, Held | None], Held],
    verify: Callable[[Held], LawSolution],
    best: LawSolution,
) -> LawSolution:
    """Let wedged contacts go where there is an answer without, each tried once."""
    depth = np.inf
    while True:
        p = best.impulses
        depths = np.where(infinite_friction & (p[:, 0] > 0.0), wedged(problem, p), 0.0)
        depths[depths >= depth] = 0.0
        if not depths.any():
            return best
        most = int(np.argmax(depths))
        depth = depths[most]
        held = infinite_friction & (p[:, 1:] != 0.0).any(axis=1)
        held[most] = False
        other = verify(attempt(held, None))
        if other.solved:
            best = replace(other, iterations=best.iterations + other.iterations)


def _settled(
    problem: ContactProblem,
    infinite_friction: BoolArray,
    held: BoolArray,
    attempt: Callable[[BoolArray, Held | None], Held],
) -> Held:
    """Hold contacts that press and slide, let those go that leave: at most 3 m changes.

    One that presses and slides after it was let go is held for good: it closes its gap within the
    step, and no choice need exist that counts it on one side. Motion that large impulses hide by
    rounding counts as none.
    """
    released, kept = np.zeros_like(infinite_friction), np.zeros_like(infinite_friction)
    scale, s = np.abs(problem.velocities).max(initial=0.0), unit_compliance(problem)
    answer = attempt(held, None)
    total = answer.iterations
    while infinite_friction.any():
        after = problem.after(
            np.concatenate([answer.loop_impulses, answer.impulses.ravel()]), answer.moments
        )
        u = (problem.jacobian @ after)[problem.n_loop_rows :].reshape(-1, 3) + problem.bias
        limit = max(REST * scale, HIDDEN * s * np.abs(answer.impulses).max())
        presses = s * (answer.impulses[:, 0] + problem.prior_normal_impulse) > limit
        back = ~held & infinite_friction & presses & (np.hypot(u[:, 1], u[:, 2]) > limit)
        leave = held & ~kept & ~presses & (u[:, 0] > limit)
        if not (back | leave).any():
            break
        kept |= back & released
        released |= leave
        held = (held | back) & ~leave
        answer = attempt(held, answer)
        total += answer.iterations + 1
    return answer._replace(iterations=total)
