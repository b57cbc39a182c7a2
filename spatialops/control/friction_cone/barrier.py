"""Force programs by the log-barrier Newton method ([A] 30, appendix .5), with a feasible start.

Equalities are eliminated first (`ReducedProgram`). The start is the least s with all inequalities
given s times their scale; Newton's method on the barrier of that program stops as soon as s is
negative by enough. If its least s is not negative, its multipliers prove that no point is inside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.control.friction_cone import barrier_kernel as compiled
from spatialops.control.friction_cone.barrier_function import Program, work_space
from spatialops.control.friction_cone.force_program import ForceProgram, ForceSolution, unsolved
from spatialops.control.friction_cone.reduced_program import ReducedProgram

RESIDUAL = 1e-6
_REFINE = 0.01  # of RESIDUAL, above which multipliers are refined
_REFINED_RANK = 1e-12  # singular values, relative, that count as zero there
_RANK = 1e-14  # the same of a cost without constraints
_SHARP = 0.1  # of the least margin: the gap at which a start is the best there is
_INVOLVED = 1e-3  # of the largest share: what a conflict is about


@dataclass(frozen=True, kw_only=True)
class Barrier:
    """The log-barrier Newton method.

    Parameters
    ----------
    tolerances : tuple of float, default (1e-12, 1e-10)
        Gap between the cost and its least value at which to stop, relative to the cost. Where
        rounding leaves the multipliers of the first too inaccurate to prove the solution, the next
        is tried.
    inside : float, default 0.02
        Scaled margin at which a start counts as good; a smaller one is taken where there is no
        better.
    least_margin : float, default 1e-7
        Scaled margin below which a program counts as infeasible.
    least_cost : float, default 1e-6
        W. Added to the cost's scale, for programs whose least cost is zero.
    max_steps : int, default 200
        Newton steps allowed in each phase.

    References
    ----------
    [A] 30 and appendix .5; S. Boyd, L. Vandenberghe, Convex Optimization (2004),
    11.3-11.4; Y. Nesterov, A. Nemirovskii, Interior-Point Polynomial Algorithms in Convex
    Programming (1994), for the cone's barrier and its parameter 2.

    Examples
    --------
    The least force with 3 N along x in a friction cone of mu = 0.5 about z presses with 6 N:

    >>> import numpy as np
    >>> from spatialops.control import Barrier, ForceProgram
    >>> none = np.zeros((0, 3)), np.zeros(0)
    >>> pull = np.array([[1.0, 0.0, 0.0]]), np.array([3.0])
    >>> cone = np.eye(3)[[2, 0, 1]], np.zeros(3), np.array([0.5])
    >>> found = Barrier().solve(ForceProgram(np.eye(3), np.zeros(3), *pull, *none, *cone))
    >>> found.status, np.round(found.x, 6).tolist()
    ('solved', [3.0, 0.0, 6.0])
    """

    tolerances: tuple[float, ...] = (1e-12, 1e-10)
    inside: float = 0.02
    least_margin: float = 1e-7
    least_cost: float = 1e-6
    max_steps: int = 200

    def solve(self, program: ForceProgram, start: Array | None = None) -> ForceSolution:
        """Solve a program.

        Parameters
        ----------
        program : ForceProgram
            What is to be solved.
        start : (n,) array, optional
            A point near which to begin, if it is inside once the equalities hold.

        Returns
        -------
        ForceSolution
            With its status, its multipliers and its residual in the program as it was given.
        """
        return self.solve_and_center(program, start)[0]

    def solve_and_center(
        self, program: ForceProgram, start: Array | None = None
    ) -> tuple[ForceSolution, Array | None]:
        """Solve a program, and find a good start for the next one.

        Parameters
        ----------
        program : ForceProgram
            What is to be solved.
        start : (n,) array, optional
            A point near which to begin, if it is inside once the equalities hold.

        Returns
        -------
        solution : ForceSolution
            As of `solve`.
        center : (n,) array or None
            The first point on the central path: a good start for a program that differs little.
            None where no path was followed.
        """
        reduced = ReducedProgram(program)
        if not reduced.fits:
            return unsolved(program, "inconsistent", reduced.x0), None
        if reduced.size == 0 or reduced.theta == 0:
            return self._without_search(reduced), None
        w = None if start is None else reduced.drop(start)
        steps = 0
        if w is None or not reduced.slack(w) > self.inside:
            w = np.zeros(reduced.size)
            if not reduced.slack(w) > self.inside:
                path = self._start(reduced)
                w, steps = path.x[:-1].copy(), path.steps
                if not reduced.slack(w) > self.least_margin:
                    if path.status != compiled.SOLVED:  # not at its least: nothing is proved
                        return unsolved(program, "failed", reduced.lift(w)), None
                    return _refuted(reduced, w, path), None
        for tolerance in self.tolerances:
            solution, center = self._optimise(reduced, w.copy(), steps, tolerance)
            if solution.solved:
                break
        return solution, center

    def _without_search(self, reduced: ReducedProgram) -> ForceSolution:
        program = reduced.program
        w: Array = np.zeros(reduced.size)
        if reduced.size:
            w = np.asarray(-np.linalg.lstsq(reduced.H, reduced.g, rcond=_RANK)[0], dtype=np.float64)
        if reduced.theta and not reduced.slack(w) > 0.0:
            margins = program.margins(reduced.lift(w))
            conflict = tuple(
                name for name, margin in zip(program.names, margins, strict=True) if margin <= 0.0
            )
            blank = unsolved(program, "infeasible", reduced.lift(w))
            return replace(blank, violation=-reduced.slack(w), conflict=conflict[:1])
        none = np.zeros(len(program.d)), np.zeros((len(program.mu), 3))
        return _verified(reduced, w, *none, (0, 0))

    def _start(self, reduced: ReducedProgram) -> _Path:
        """Least s with every inequality given s: the path to (w, s)."""
        n = reduced.size
        y = np.zeros(n + 1)
        y[n] = 1.0 - 1.5 * min(reduced.slack(y[:n]), 0.0)
        last = _SHARP * self.least_margin / reduced.theta
        options = [y[n] / reduced.theta, last, -self.inside, self.max_steps, 1.0]
        return _follow(reduced.feasibility(), y, options)

    def _optimise(
        self, reduced: ReducedProgram, w: Array, steps: int, tolerance: float
    ) -> tuple[ForceSolution, Array]:
        diagonal = reduced.H.diagonal()
        pull = (reduced.g**2 / np.where(diagonal > 0.0, diagonal, np.inf)).sum()
        size = reduced.fixed + 0.5 * float(pull) + self.least_cost
        begin = (size + 0.5 * float(w @ reduced.H @ w)) / reduced.theta
        constant = reduced.fixed + self.least_cost
        options = [begin, tolerance / reduced.theta, -np.inf, self.max_steps, constant]
        path = _follow(reduced.tables, w, options)
        linear = path.linear * reduced.by_row
        cones = path.cones * reduced.by_cone.reshape(-1, 3)
        solution = _verified(reduced, path.x, linear, cones, (steps + path.steps, steps))
        if path.status != compiled.SOLVED:
            solution = replace(solution, status="failed")
        return solution, reduced.lift(path.center)


class _Path(NamedTuple):
    """Where following the central path ended: the kernel's status, x, first centre, multipliers."""

    status: int
    x: Array
    center: Array
    linear: Array
    cones: Array
    steps: int


def _follow(program: Program, w: Array, options: list[float]) -> _Path:
    """Run the kernel from w, in place, with the options that it names."""
    at, changes, newton = work_space(w, program.d.size, program.mu.size)
    given = np.array(options)
    center = w.copy()
    status = compiled.barrier(
        tuple(program), tuple(at), tuple(changes), tuple(newton), given, center
    )
    eta, mu = given[compiled.ETA], program.mu
    gradients = at.f.reshape(-1, 3) * (-2.0 * eta / at.c)[:, None]
    gradients[:, 0] *= -mu * mu
    return _Path(status, w, center, eta / at.l, gradients, int(given[compiled.STEPS]))


def _verified(
    reduced: ReducedProgram, w: Array, linear: Array, cones: Array, steps: tuple[int, int]
) -> ForceSolution:
    """The point with its multipliers, verified in the program as it was given."""
    program, x = reduced.program, reduced.lift(w)
    gradient = program.H @ x + program.g

    def judged(linear: Array, cones: Array) -> tuple[float, Array, Array, Array]:
        pull = program.D.T @ linear + program.K.T @ cones.ravel()
        equality: Array = reduced.pinv.T @ (gradient - pull)
        return program.residual(x, equality, linear, cones), equality, linear, cones

    found = judged(linear, cones)
    if found[0] > _REFINE * RESIDUAL:
        rest = gradient - program.D.T @ linear - program.K.T @ cones.ravel()
        refined = judged(*_refined(reduced, rest, linear, cones))
        found = refined if refined[0] < found[0] else found
    residual, equality, linear, cones = found
    status = "solved" if residual < RESIDUAL else "failed"
    return ForceSolution(x, status, equality, linear, cones, residual, 0.0, (), *steps)


def _refined(
    reduced: ReducedProgram, rest: Array, linear: Array, cones: Array
) -> tuple[Array, Array]:
    """Multipliers that balance the cost: least change by their sizes, so that small stay small."""
    program = reduced.program
    sizes = np.concatenate([linear, np.repeat(np.linalg.norm(cones, axis=1), 3)])
    rows = np.vstack([program.D, program.K]) @ reduced.Z * sizes[:, None]
    change = sizes * np.linalg.lstsq(rows.T, reduced.Z.T @ rest, rcond=_REFINED_RANK)[0]
    m = len(linear)
    return np.maximum(linear + change[:m], 0.0), cones + change[m:].reshape(-1, 3)


def _refuted(reduced: ReducedProgram, w: Array, path: _Path) -> ForceSolution:
    """No point is inside: what the multipliers of the least s say."""
    program, cones = reduced.program, path.cones
    shares = np.concatenate([path.linear, cones[:, 0] / reduced.mu if len(cones) else np.zeros(0)])
    involved = shares > _INVOLVED * shares.max(initial=0.0)
    conflict = tuple(name for name, counts in zip(program.names, involved, strict=True) if counts)
    return replace(
        unsolved(program, "infeasible", reduced.lift(w)),
        linear=path.linear * reduced.by_row,
        cones=cones * reduced.by_cone.reshape(-1, 3),
        violation=max(float(-reduced.slack(w)), 0.0),
        conflict=conflict,
        iterations=path.steps,
        start_iterations=path.steps,
    )
