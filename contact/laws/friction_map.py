"""Contacts of which each has its own friction, round or polyhedral, as the zeros of one map, by semismooth Newton.

With loads p_n + theta, limits R = mu (p_n + theta) + dry and S(R) the disc or the inscribed polygon of radius R,

    F_n = p_n - max(p_n - u_n, 0),      F_k = p_k - P_S(R) (p_k - u_k),      u = W p + b

(P. Alart, A. Curnier, A mixed formulation for frictional contact problems, 1991). On a polygon, whose corners are the
n_f directions, a zero is what the complementarity problem of the polyhedron ([J] 6-13) says: friction is the point of
S(R) that is farthest against the slip. The polygon's first corner lies along the first tangent.

W may be singular: proximal points move the solution along its null directions, as in `contact.cone.proximal`.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.contact.laws.nearest import on_discs, on_polygons
from spatialops.contact.laws.reduction import Reduced
from spatialops.contact.rows import DRY, STOP

_STEPS, _HALVINGS, _WINDOW, _OUTER = 40, 12, 4, 60
_TARGET, _ENOUGH = 1e-14, 1e-12


class FrictionMap:
    """The map of `Reduced` rows, each contact scaled by one number so that its compliance has mean one."""

    def __init__(self, reduced: Reduced, sides: IntArray) -> None:
        problem, dim = reduced.problem, reduced.dim
        m = problem.n_contacts
        own = np.diag(reduced.W).reshape(m, dim).mean(axis=1)
        self.size = 1.0 / np.sqrt(np.where(own > 0.0, own, 1.0))
        scale = np.repeat(self.size, dim)
        self.W = scale[:, None] * reduced.W * scale
        self.speed = max(float(np.abs(scale * reduced.u).max(initial=0.0)), 1e-300)
        self.b = scale * reduced.u / self.speed
        unit = self.size * self.speed
        self.theta, self.dry = problem.offset / unit, problem.dry / unit
        self.scale, self.dim, self.kinds = np.repeat(unit, dim), dim, reduced.kinds
        self.sides = np.where((problem.kinds == STOP) | (problem.kinds == DRY), 0, sides)

    def inward(self, p: Array) -> Array:
        """Impulses (m, D) in the map's own measure, (m D,)."""
        return np.asarray(p.ravel() / self.scale)

    def outward(self, x: Array) -> Array:
        """The reverse."""
        return np.asarray((x * self.scale).reshape(-1, self.dim))

    def value(self, x: Array) -> Array:
        """F (m D,)."""
        return self._look(x, self.W @ x + self.b)[0]

    def _look(self, x: Array, u: Array) -> tuple[Array, Array, Array]:
        """F (m D,), derivatives (m, D, D) of the projections by their points, and (m, D) by the normal impulse."""
        m, p = len(self.size), x.reshape(-1, self.dim)
        ahead = p - u.reshape(-1, self.dim)
        F, A, B = np.zeros_like(p), np.zeros((m, self.dim, self.dim)), np.zeros_like(p)
        F[:, 0], A[:, 0, 0] = p[:, 0] - np.maximum(ahead[:, 0], 0.0), ahead[:, 0] > 0.0
        load, presses = np.maximum(p[:, 0], 0.0) + self.theta, p[:, 0] > 0.0
        for k, (columns, mu) in enumerate(self.kinds):
            limit = mu * load + (self.dry if k == 0 else 0.0)
            near, slope, growth = on_discs(ahead[:, columns], limit)
            for count in np.unique(self.sides[self.sides > 0]) if k == 0 else ():
                some = self.sides == count
                near[some], slope[some], growth[some] = on_polygons(ahead[some, columns], limit[some], int(count))
            F[:, columns] = p[:, columns] - near
            A[:, columns, columns] = slope
            B[:, columns] = (mu * presses)[:, None] * growth
        return F.ravel(), A, B

    def improve(self, x: Array) -> tuple[Array, float, int]:
        """Newton's method, and proximal points where that is not enough: the better of both, max |F|, steps."""
        found, least, steps = self.newton(x)
        if least <= _ENOUGH:
            return found, least, steps
        other, merit, more = self.proximal(x)
        return (other, merit, steps + more) if merit < least else (found, least, steps + more)

    def newton(self, x: Array, eps: float = 0.0, center: Array | None = None) -> tuple[Array, float, int]:
        """The best x on the way from `x` with u = (W + eps) x + b - eps center; max |F| there; steps."""
        eye = np.eye(x.size)
        W, b = self.W + eps * eye, self.b if center is None else self.b - eps * center
        F, A, B = self._look(x, W @ x + b)
        merit, taken, recent = float(np.abs(F).max(initial=0.0)), 0, [float(F @ F)]
        best, least = x, merit
        while least > _TARGET and taken < _STEPS:
            shift = float(np.clip(1e-2 * merit, 1e-13, 0.1))
            try:
                step = np.linalg.solve(self._slope(W + shift * eye, A, B), -F)
            except np.linalg.LinAlgError:
                break
            taken += 1
            du, u, alpha = W @ step, W @ x + b, 1.0
            for _ in range(_HALVINGS):
                F, A, B = self._look(x + alpha * step, u + alpha * du)
                if F @ F <= (1.0 - 1e-4 * alpha) * max(recent):
                    break
                alpha *= 0.5
            else:
                break
            x = x + alpha * step
            merit, recent = float(np.abs(F).max()), [*recent[1 - _WINDOW :], float(F @ F)]
            if merit < least:
                best, least = x, merit
        return best, least, taken

    def _slope(self, W: Array, A: Array, B: Array) -> Array:
        """dF/dx = 1 - A (1 - W) - B, of which B is of the normal columns."""
        m, D = len(self.size), self.dim
        J = np.eye(m * D) + (A @ W.reshape(m, D, m * D)).reshape(m * D, m * D)
        blocks = J.reshape(m, D, m, D)
        at = np.arange(m)
        blocks[at, :, at, :] -= A
        blocks[at, :, at, 0] -= B
        return J

    def proximal(self, x: Array) -> tuple[Array, float, int]:
        """Newton on regularised problems around the last answer, with less regularisation where it does well."""
        eps, taken = 0.1, 0
        best, least = x, float(np.abs(self.value(x)).max(initial=0.0))
        for _ in range(_OUTER):
            found, inner, steps = self.newton(x, eps, x)
            taken += steps
            if inner > max(1e-3 * least, 1e-12):
                eps = min(5.0 * eps, 10.0)
                if eps >= 10.0:
                    break
                continue
            x, eps = found, max(0.1 * eps, 1e-10)
            merit = float(np.abs(self.value(x)).max(initial=0.0))
            if merit < least:
                best, least = x, merit
            if least <= _TARGET:
                break
        return best, least, taken
