"""Impacts solved outside the compiled loop: Newton's restitution, propagation, other laws.

Two meanings of the coefficient e, chosen per pair:

- Poisson: what compression has given along the normal, p_c, is given back as theta = e p_c ([J]
  56-57);
- Newton: u_n+ >= -e u_n- for contacts that approach, complementary to the impulse: one problem, e
  u_n- in `gap_bias`.

Both may occur in one impact: Newton's contacts take part in Poisson's decompression with the same
lower bound. With friction either can add kinetic energy (Kane and Levinson 1985). Rule: the
coefficients of this impact are then halved, all alike, until none is added, at most eight times;
after that they are zero, which never adds any.

Impacts at several contacts are simultaneous (all in one problem), or propagated: the two bodies
that approach fastest collide as if they were alone (with all their contacts, and with other pairs
exactly as fast), then the next, until none approaches faster than the threshold. What approaches
more slowly, and whatever is left after 100 + 50 m collisions, is stopped in one last problem of all
contacts without restitution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, BoolArray
from spatialops.contact.decompression import decompression
from spatialops.contact.laws.elimination import Elimination
from spatialops.contact.problem import ContactProblem
from spatialops.dynamics.energy import energy

_GAIN = 1e-12  # of the kinetic energy: what an impact may add by rounding
_TIE, _HALVINGS = 1e-9, 8
_REST = 1e-13  # of the fastest velocity before: what is slower is rounding of what was stopped


class Answer(NamedTuple):
    """What a law or a formulation makes of a problem."""

    impulses: Array
    moments: Array | None
    velocity: Array
    residual: float
    iterations: int


class Impact(NamedTuple):
    """Impulses (m, 3) and moments (m, 3) of a whole impact, and how they were found.

    `share` is that of the restitution that was given back, `compressed` the impulses (m, 3) of
    compression alone, where all collide at once.
    """

    impulses: Array
    moments: Array | None
    residual: float
    iterations: int
    share: float
    compressed: Array | None = None


@dataclass(frozen=True)
class Collider:
    """How impacts are resolved.

    Parameters
    ----------
    solve : callable
        solve(problem) -> Answer; raises where it fails.
    propagated : bool
    threshold : float
        Approach speed (m/s) below which a collision is not propagated any more.
    """

    solve: Callable[[ContactProblem], Answer]
    propagated: bool
    threshold: float

    def resolve(
        self, problem: ContactProblem, e: Array, newton: BoolArray, share: float = 1.0
    ) -> Impact:
        """Impulses of the impact that meets at the velocities of `problem`, coefficients e (m,)."""
        if self.propagated:
            return self._propagate(problem, share * e, newton)._replace(share=share)
        return self._together(problem, e, newton, share)

    def _together(
        self, problem: ContactProblem, e: Array, newton: BoolArray, share: float
    ) -> Impact:
        """All contacts at once, with less restitution where that would add energy."""
        kinetic = float(energy(problem.model, problem.q, problem.velocity).kinetic)
        for halving in range(_HALVINGS + 1):
            found = self._both_phases(problem, share * e, newton)._replace(share=share)
            if share == 0.0 or not _work(problem, found) > _GAIN * kinetic:
                break
            share = 0.5 * share if halving < _HALVINGS - 1 else 0.0
        return found

    def _both_phases(self, problem: ContactProblem, e: Array, newton: BoolArray) -> Impact:
        """Compression, which is all of an impact for Newton's contacts, and decompression."""
        approach = problem.velocities[problem.n_loop_rows :: 3]
        problem = replace(
            problem,
            gap_bias=np.where(newton, e * np.minimum(approach, 0.0), 0.0),
            phase="compression",
        )
        first = self.solve(problem)
        found = first.moments, first.residual, first.iterations
        whole = Impact(first.impulses.copy(), *found, 1.0, first.impulses)
        given = np.where(newton, 0.0, e)
        second, theta = decompression(problem, first.velocity, first.impulses[:, 0], given)
        if not theta.any():
            return whole
        whole.impulses[:, 0] += theta
        return _sum(whole, self.solve(second))

    def _propagate(self, problem: ContactProblem, e: Array, newton: BoolArray) -> Impact:
        """Pair of bodies after pair of bodies, the fastest first."""
        m, n_b = problem.n_contacts, problem.n_loop_rows
        total = Impact(
            np.zeros((m, 3)), np.zeros((m, 3)) if problem.has_moments else None, 0.0, 0, 1.0
        )
        now = problem
        for _ in range(100 + 50 * m):
            approach = now.velocities[n_b::3]
            fastest = approach.min()
            if not fastest < -self.threshold:
                break
            tied = approach <= fastest * (1.0 - _TIE)
            pairs = {tuple(pair) for pair in problem.links[tied]}
            chosen = np.array([tuple(pair) in pairs for pair in problem.links])
            part = now.part(chosen)
            impact = self._together(part, e[chosen], newton[chosen], 1.0)
            total = _add(total, impact, chosen)
            now = replace(problem, velocity=after_impact(part, impact))
        rest = _REST * np.abs(problem.velocities).max(initial=0.0)
        if now.velocities[n_b::3].min(initial=0.0) < -rest:
            total = _add(total, self._both_phases(now, np.zeros(m), newton), np.ones(m, dtype=bool))
        return total


def after_impact(problem: ContactProblem, impact: Impact) -> Array:
    """Velocity (nv,) after an impact, with closures held at the rates that they have."""
    L, n_b = problem.response.L, problem.n_loop_rows
    x = L[n_b:].T @ impact.impulses.ravel()
    if impact.moments is not None:
        x = x + problem.spin_response.T @ impact.moments.ravel()
    loops = Elimination(L[:n_b], problem.velocities[:n_b]).impulses(x)
    return problem.after(np.concatenate([loops, impact.impulses.ravel()]), impact.moments)


def _work(problem: ContactProblem, impact: Impact) -> float:
    """Kinetic energy that contacts add, J: impulse times the mean velocity before and after."""
    after, G = after_impact(problem, impact), problem.jacobian[problem.n_loop_rows :]
    mean = 0.5 * (problem.velocity + after)
    work = float(impact.impulses.ravel() @ (G @ mean))
    return (
        work
        if impact.moments is None
        else work + float(impact.moments.ravel() @ (problem.spin_jacobian @ mean))
    )


def _sum(whole: Impact, more: Answer) -> Impact:
    moments = (
        None if whole.moments is None or more.moments is None else whole.moments + more.moments
    )
    residual, iterations = max(whole.residual, more.residual), whole.iterations + more.iterations
    impulses = whole.impulses + more.impulses
    return Impact(impulses, moments, residual, iterations, whole.share, whole.compressed)


def _add(total: Impact, impact: Impact, chosen: BoolArray) -> Impact:
    """`total` with the impulses of `impact` at some of its contacts."""
    impulses, moments = total.impulses.copy(), total.moments
    impulses[chosen] += impact.impulses
    if moments is not None and impact.moments is not None:
        moments = moments.copy()
        moments[chosen] += impact.moments
    residual, iterations = (
        max(total.residual, impact.residual),
        total.iterations + impact.iterations,
    )
    return Impact(impulses, moments, residual, iterations, min(total.share, impact.share))
