"""Force programs by the log-barrier Newton method ([A] 30, appendix .5), with a phase that finds a feasible start.

Equalities are eliminated first: x = x0 + Z w, columns of Z orthonormal once every unknown is scaled to a unit cost.
What is left is small: the internal forces of a quadruped on four feet are six numbers.

The start is the least s with all inequalities given s times their scale; Newton's method on the barrier of that program
stops as soon as s is negative by enough. If its least s is not negative, its multipliers prove that no point is inside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from spatialops._arrays import Array
from spatialops.control import friction_cone_kernel as compiled
from spatialops.control.friction_cone_problem import ForceProgram, ForceSolution, unsolved

RESIDUAL = 1e-6
_EQUAL = 1e-9  # equalities that are missed by more than this share of their scale contradict each other


class _Reduced:
    """A program without its equalities: inequalities and cost in w."""

    def __init__(self, program: ForceProgram) -> None:
        self.program, n, m = program, program.size, len(program.d)
        diagonal = program.H.diagonal()
        scale = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        rank, self.x0, self.fits = 0, np.zeros(n), True
        if len(program.e):
            rank = self._eliminate(scale)
        else:
            self.Z, self.pinv = np.diag(1.0 / scale), np.zeros((n, 0))
        self.size = n - rank
        Hx = program.H @ self.x0
        self.H, self.g = self.Z.T @ (program.H @ self.Z), self.Z.T @ (program.g + Hx)
        self.fixed, self.pull = 0.5 * float(self.x0 @ Hx), scale * scale
        by = 1.0 / program.scales
        self.by_row, self.by_cone, self.mu = by[:m], by[m:].repeat(3), program.mu
        self.D, self.d = (program.D @ self.Z) * self.by_row[:, None], (program.D @ self.x0 + program.d) * self.by_row
        self.K, self.k = (program.K @ self.Z) * self.by_cone[:, None], (program.K @ self.x0 + program.k) * self.by_cone
        self.theta = m + 2 * len(self.mu)

    def _eliminate(self, scale: Array) -> int:
        """The rank of the equalities; x0, Z and their pseudo-inverse."""
        program, E = self.program, self.program.E / scale
        lengths = np.sqrt((E * E).sum(axis=1))
        weights = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
        left, values, right, _ = scipy.linalg.lapack.dgesdd(E * weights[:, None])
        rank = int((values > 1e-10 * max(values[0], 1e-300)).sum())
        self.pinv = ((right[:rank].T / values[:rank]) @ left[:, :rank].T * weights) / scale[:, None]
        self.x0 = self.pinv @ program.e
        self.Z = right[rank:].T / scale[:, None]
        rows = lengths * np.linalg.norm(self.x0 * scale) + np.abs(program.e) + 1e-12
        self.fits = bool((np.abs(program.E @ self.x0 - program.e) <= _EQUAL * rows).all())
        return rank

    def lift(self, w: Array) -> Array:
        """The unknowns of the program."""
        return self.x0 + self.Z @ w

    def drop(self, x: Array) -> Array:
        """The nearest w, in the metric of the cost."""
        result: Array = self.Z.T @ (self.pull * (x - self.x0))
        return result

    def slack(self, w: Array) -> float:
        """The smallest scaled margin."""
        f = (self.K @ w + self.k).reshape(-1, 3)
        cones = self.mu * f[:, 0] - np.hypot(f[:, 1], f[:, 2])
        return min([np.inf, *(self.D @ w + self.d).tolist(), *cones.tolist()])


@dataclass(frozen=True, kw_only=True)
class Barrier:
    """The log-barrier Newton method.

    Parameters
    ----------
    tolerances : tuple of float
        Gap between the cost and its least value at which to stop, relative to the cost. Where rounding leaves the
        multipliers of the first too inaccurate to prove the solution, the next is tried.
    inside : float
        Scaled margin at which a start counts as good; a smaller one is taken where there is no better.
    least_margin : float
        Scaled margin below which a program counts as infeasible.
    least_cost : float
        Added to the cost's scale, for programs whose least cost is zero.
    max_steps : int
        Newton steps of each phase.

    References
    ----------
    [A] 30 and appendix .5; S. Boyd, L. Vandenberghe, Convex Optimization (2004), 11.3-11.4; Y. Nesterov, A.
    Nemirovskii,
    Interior-Point Polynomial Algorithms in Convex Programming (1994), for the cone's barrier and its parameter 2.
    """

    tolerances: tuple[float, ...] = (1e-12, 1e-10)
    inside: float = 0.02
    least_margin: float = 1e-7
    least_cost: float = 1e-6
    max_steps: int = 200

    def solve(self, program: ForceProgram, start: Array | None = None) -> ForceSolution:
        """Solve; `start` is a point near which to begin, if it is inside once the equalities hold."""
        return self.solve_and_center(program, start)[0]

    def solve_and_center(self, program: ForceProgram, start: Array | None = None) -> tuple[ForceSolution, Array | None]:
        """The solution, and a well-centred point: a good start for a program that differs little."""
        reduced = _Reduced(program)
        if not reduced.fits:
            return unsolved(program, "inconsistent", reduced.x0), None
        if reduced.size == 0 or reduced.theta == 0:
            return self._without_search(reduced), None
        w = None if start is None else reduced.drop(start)
        steps = 0
        if w is None or not reduced.slack(w) > self.inside:
            w = np.zeros(reduced.size)
            if not reduced.slack(w) > self.inside:
                status, y, steps, weights = self._start(reduced)
                if not reduced.slack(y[:-1]) > self.least_margin:
                    if status != compiled.SOLVED:  # not at its least: nothing is proved
                        return unsolved(program, "failed", reduced.lift(y[:-1])), None
                    return _refuted(reduced, y, steps, weights), None
                w = y[:-1].copy()
        for tolerance in self.tolerances:
            solution, center = self._optimise(reduced, w.copy(), steps, tolerance)
            if solution.solved:
                break
        return solution, center

    def _without_search(self, reduced: _Reduced) -> ForceSolution:
        program = reduced.program
        w: Array = np.zeros(reduced.size)
        if reduced.size:
            w = np.asarray(-np.linalg.lstsq(reduced.H, reduced.g, rcond=1e-14)[0], dtype=np.float64)
        if reduced.theta and not reduced.slack(w) > 0.0:
            margins = program.margins(reduced.lift(w))
            conflict = tuple(name for name, margin in zip(program.names, margins, strict=True) if margin <= 0.0)
            blank = unsolved(program, "infeasible", reduced.lift(w))
            return ForceSolution(
                blank.x,
                blank.status,
                blank.equality,
                blank.linear,
                blank.cones,
                violation=-reduced.slack(w),
                conflict=conflict[:1],
            )
        return _judged(reduced, w, np.zeros(len(program.d)), np.zeros((len(program.mu), 3)), 0, 0)

    def _start(self, reduced: _Reduced) -> tuple[int, Array, int, tuple[Array, Array]]:
        """Least s with every inequality given s: the kernel's status, (w, s), Newton steps, and the multipliers."""
        n, m, c = reduced.size, len(reduced.d), len(reduced.mu)
        D, K = np.ones((m, n + 1)), np.zeros((3 * c, n + 1))
        D[:, :n], K[:, :n], K[::3, n] = reduced.D, reduced.K, 1.0 / reduced.mu
        size = max(np.abs(reduced.D).max(initial=0.0), np.abs(reduced.K).max(initial=0.0))
        H, g = np.zeros((n + 1, n + 1)), np.zeros(n + 1)
        # A cost that bounds what the inequalities leave free, too small to decide anything.
        H[np.arange(n), np.arange(n)] = 1e-10 * size * size
        H[n, n], g[n] = 1e-12, 1.0
        y = np.zeros(n + 1)
        y[n] = 1.0 - 1.5 * min(reduced.slack(y[:n]), 0.0)
        last = 0.1 * self.least_margin / reduced.theta
        status, options, _, weights = _follow(
            H,
            g,
            D,
            reduced.d,
            K,
            reduced.k,
            reduced.mu,
            y,
            y[n] / reduced.theta,
            last,
            -self.inside,
            self.max_steps,
            1.0,
        )
        return status, y, int(options[3]), weights

    def _optimise(self, reduced: _Reduced, w: Array, steps: int, tolerance: float) -> tuple[ForceSolution, Array]:
        diagonal = reduced.H.diagonal()
        pull = (reduced.g**2 / np.where(diagonal > 0.0, diagonal, np.inf)).sum()
        size = reduced.fixed + 0.5 * float(pull) + self.least_cost
        begin = (size + 0.5 * float(w @ reduced.H @ w)) / reduced.theta
        status, options, center, (linear, cones) = _follow(
            reduced.H,
            reduced.g,
            reduced.D,
            reduced.d,
            reduced.K,
            reduced.k,
            reduced.mu,
            w,
            begin,
            tolerance / reduced.theta,
            -np.inf,
            self.max_steps,
            reduced.fixed + self.least_cost,
        )
        total = steps + int(options[3])
        linear, cones = linear * reduced.by_row, cones * reduced.by_cone.reshape(-1, 3)
        solution = _judged(reduced, w, linear, cones, total, steps)
        if status != compiled.SOLVED:
            return replace(solution, status="failed"), reduced.lift(center)
        return solution, reduced.lift(center)


def _follow(H: Array, g: Array, D: Array, d: Array, K: Array, k: Array, mu: Array, w: Array, begin: float, last: float,
            stop: float, steps: int, constant: float) -> tuple[int, Array, Array, tuple[Array, Array]]:  # fmt: skip
    """Run the kernel from w, in place: its status, options, the first centre, and multipliers."""
    n, m, c = w.size, d.size, mu.size
    options = np.array([begin, last, stop, steps, constant])
    B, rows, center = np.empty((n, n)), np.empty((compiled.VECTORS, n)), w.copy()
    l, f, values, dl, df = np.empty(m), np.empty(3 * c), np.empty(c), np.empty(m), np.empty(3 * c)
    bends, errors = np.empty((c, 2)), np.empty((c, 3))
    status = compiled.barrier(
        np.ascontiguousarray(H), g, D, d, K, k, mu, w, options, B, rows, l, f, values, dl, df, bends, errors, center
    )
    eta = options[0]
    gradients = f.reshape(-1, 3) * (-2.0 * eta / values)[:, None]
    gradients[:, 0] *= -mu * mu
    return status, options, center, (eta / l, gradients)


def _judged(reduced: _Reduced, w: Array, linear: Array, cones: Array, steps: int, start: int) -> ForceSolution:
    """The point with its multipliers, judged in the program as it was given."""
    program, x = reduced.program, reduced.lift(w)
    gradient = program.H @ x + program.g

    def equality_of(linear: Array, cones: Array) -> Array:
        result: Array = reduced.pinv.T @ (gradient - program.D.T @ linear - program.K.T @ cones.ravel())
        return result

    def residual_of(weights: tuple[Array, Array]) -> float:
        return max(program.residuals(x, equality_of(*weights), *weights).values())

    residual = residual_of((linear, cones))
    if residual > 0.01 * RESIDUAL:
        rest = gradient - program.D.T @ linear - program.K.T @ cones.ravel()
        linear, cones = min((linear, cones), _refined(reduced, rest, linear, cones), key=residual_of)
        residual = residual_of((linear, cones))
    equality = equality_of(linear, cones)
    status = "solved" if residual < RESIDUAL else "failed"
    return ForceSolution(x, status, equality, linear, cones, residual, 0.0, (), steps, start)


def _refined(reduced: _Reduced, rest: Array, linear: Array, cones: Array) -> tuple[Array, Array]:
    """Multipliers that balance the cost: the least change relative to their sizes, so that small ones stay small."""
    program = reduced.program
    sizes = np.concatenate([linear, np.repeat(np.linalg.norm(cones, axis=1), 3)])
    rows = np.vstack([program.D, program.K]) @ reduced.Z * sizes[:, None]
    change = sizes * np.linalg.lstsq(rows.T, reduced.Z.T @ rest, rcond=1e-12)[0]
    m = len(linear)
    return np.maximum(linear + change[:m], 0.0), cones + change[m:].reshape(-1, 3)


def _refuted(reduced: _Reduced, y: Array, steps: int, weights: tuple[Array, Array]) -> ForceSolution:
    """No point is inside: what the multipliers of the least s say."""
    program, (linear, cones) = reduced.program, weights
    shares = np.concatenate([linear, cones[:, 0] / reduced.mu if len(cones) else np.zeros(0)])
    involved = shares > 1e-3 * shares.max(initial=0.0)
    conflict = tuple(name for name, counts in zip(program.names, involved, strict=True) if counts)
    blank = unsolved(program, "infeasible", reduced.lift(y[:-1]))
    return ForceSolution(
        blank.x,
        "infeasible",
        blank.equality,
        linear * reduced.by_row,
        cones * reduced.by_cone.reshape(-1, 3),
        violation=max(float(-reduced.slack(y[:-1])), 0.0),
        conflict=conflict,
        iterations=steps,
        start_iterations=steps,
    )


def smallest_conflict(program: ForceProgram, names: tuple[str, ...], solver: Any = None) -> tuple[str, ...]:
    """Inequalities of a conflict none of which can be left out: each is dropped in turn, and stays out if it can.

    With them and the equalities alone there is no point inside; without any one of them there is.
    """
    solver, kept = solver or Barrier(), list(names)
    for name in names:
        trial = tuple(other for other in kept if other != name)
        if trial and solver.solve(_only(program, trial)).status == "infeasible":
            kept = list(trial)
    return tuple(kept)


def _only(program: ForceProgram, names: tuple[str, ...]) -> ForceProgram:
    m = len(program.d)
    rows = [j for j in range(m) if program.names[j] in names]
    cones = [i for i in range(len(program.mu)) if program.names[m + i] in names]
    each = [3 * i + a for i in cones for a in range(3)]
    return ForceProgram(
        program.H, program.g, program.E, program.e, program.D[rows], program.d[rows], program.K[each], program.k[each],
        program.mu[cones], tuple(program.names[j] for j in (*rows, *(m + i for i in cones))),
        program.scales[[*rows, *(m + i for i in cones)]],
    )  # fmt: skip
