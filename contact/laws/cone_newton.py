"""Contacts with friction of their own, round or polyhedral, as zeros of one map, by Newton.

With loads p_n + theta, limits R = mu (p_n + theta) + dry and S(R) the disc or the inscribed polygon
of radius R,

    F_n = p_n - max(p_n - u_n, 0),      F_k = p_k - P_S(R) (p_k - u_k),      u = W p + b

(P. Alart, A. Curnier, A mixed formulation for frictional contact problems, 1991). On a polygon,
whose corners are the n_f directions, a zero is what the complementarity problem of the polyhedron
([J] 6-13) says: friction is the point of S(R) that is farthest against the slip. The polygon's
first corner lies along the first tangent.

W may be singular: proximal points move the solution along its null directions, as in
`contact.cone.proximal`.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import NOTHING, Array, IntArray
from spatialops.contact.constraint_rows import DRY, STOP
from spatialops.contact.laws.disc_projection import on_discs, on_polygons
from spatialops.contact.laws.reduction import Reduced
from spatialops.contact.semismooth import semismooth_newton

_STEPS = 40
_OUTER = 60  # proximal points
# max |F|, contacts being of size one: where Newton's method ends, and from where on nothing else is
# tried.
_TARGET = 1e-14
_ENOUGH = 1e-12
# Proximal points: the first weight, the range of it, and what must be left of |F| for less of it.
_FIRST = 0.1
_LEAST = 1e-10
_MOST = 10.0
_INNER = 1e-3
_GROWTH = 5.0  # of a weight with which Newton's method fails
_DECAY = 0.1  # of one with which it does not


class FrictionMap:
    """The map of `Reduced` rows, each contact scaled so that its compliance has mean one."""

    def __init__(self, reduced: Reduced, sides: IntArray) -> None:
        problem, dim = reduced.problem, reduced.dim
        m = problem.n_contacts
        own = np.diag(reduced.W).reshape(m, dim).mean(axis=1)
        self.size = 1.0 / np.sqrt(np.where(own > 0.0, own, 1.0))
        scale = np.repeat(self.size, dim)
        self.W = scale[:, None] * reduced.W * scale
        self.speed = max(float(np.abs(scale * reduced.u).max(initial=0.0)), NOTHING)
        self.b = scale * reduced.u / self.speed
        unit = self.size * self.speed
        self.theta, self.dry = problem.prior_normal_impulse / unit, problem.dry / unit
        self.scale = np.repeat(unit, dim)
        self.dim = dim
        self.kinds = reduced.kinds
        self.sides = np.where((problem.kinds == STOP) | (problem.kinds == DRY), 0, sides)

    def inward(self, p: Array) -> Array:
        """Impulses (m, D) in the map's own measure, (m D,)."""
        return np.asarray(p.ravel() / self.scale)

    def outward(self, x: Array) -> Array:
        """The reverse."""
        return np.asarray((x * self.scale).reshape(-1, self.dim))

    def value(self, x: Array) -> Array:
        """F (m D,)."""
        return self.evaluate(x, self.W @ x + self.b)[0]

    def evaluate(self, x: Array, u: Array) -> tuple[Array, Array, Array]:
        """F (m D,), slopes of the projections by points (m, D, D) and by normal impulses (m, D)."""
        m, p = len(self.size), x.reshape(-1, self.dim)
        ahead = p - u.reshape(-1, self.dim)
        F = np.zeros_like(p)
        A = np.zeros((m, self.dim, self.dim))
        B = np.zeros_like(p)
        F[:, 0], A[:, 0, 0] = p[:, 0] - np.maximum(ahead[:, 0], 0.0), ahead[:, 0] > 0.0
        load, presses = np.maximum(p[:, 0], 0.0) + self.theta, p[:, 0] > 0.0
        for k, (columns, mu) in enumerate(self.kinds):
            limit = mu * load + (self.dry if k == 0 else 0.0)
            near, slope, growth = on_discs(ahead[:, columns], limit)
            for count in np.unique(self.sides[self.sides > 0]) if k == 0 else ():
                some = self.sides == count
                near[some], slope[some], growth[some] = on_polygons(
                    ahead[some, columns], limit[some], int(count)
                )
            F[:, columns] = p[:, columns] - near
            A[:, columns, columns] = slope
            B[:, columns] = (mu * presses)[:, None] * growth
        return F.ravel(), A, B

    def improve(self, x: Array) -> tuple[Array, float, int]:
        """The better of Newton's method and, where that is not enough, proximal points.

        Returns x, max |F| there and the steps.
        """
        found, least, steps = self.newton(x)
        if least <= _ENOUGH:
            return found, least, steps
        other, merit, more = self.proximal(x)
        return (other, merit, steps + more) if merit < least else (found, least, steps + more)

    def newton(
        self, x: Array, eps: float = 0.0, center: Array | None = None
    ) -> tuple[Array, float, int]:
        """The best x on the way from `x` with u = (W + eps) x + b - eps center, max |F|, steps."""
        regular = _Regularised(self, eps, x if center is None else center)
        best, _, taken = semismooth_newton(regular, x, _STEPS, _TARGET)
        F = regular.value(best, regular.speeds(best))
        return best, float(np.abs(F).max(initial=0.0)), taken

    def slope(self, W: Array, A: Array, B: Array) -> Array:
        """dF/dx = 1 - A (1 - W) - B, of which B is of the normal columns."""
        m, D = len(self.size), self.dim
        J = np.eye(m * D) + (A @ W.reshape(m, D, m * D)).reshape(m * D, m * D)
        blocks = J.reshape(m, D, m, D)
        at = np.arange(m)
        blocks[at, :, at, :] -= A
        blocks[at, :, at, 0] -= B
        return J

    def proximal(self, x: Array) -> tuple[Array, float, int]:
        """Newton on regularised problems around the last answer, less so where it does well."""
        eps, taken = _FIRST, 0
        best, least = x, float(np.abs(self.value(x)).max(initial=0.0))
        for _ in range(_OUTER):
            found, inner, steps = self.newton(x, eps, x)
            taken += steps
            if inner > max(_INNER * least, _ENOUGH):
                eps = min(_GROWTH * eps, _MOST)
                if eps >= _MOST:
                    break
                continue
            x, eps = found, max(_DECAY * eps, _LEAST)
            merit = float(np.abs(self.value(x)).max(initial=0.0))
            if merit < least:
                best, least = x, merit
            if least <= _TARGET:
                break
        return best, least, taken


class _Regularised:
    """A friction map with u = (W + eps) x + b - eps center."""

    def __init__(self, of: FrictionMap, eps: float, center: Array) -> None:
        self.of = of
        self.W = of.W + eps * np.eye(center.size)
        self.b = of.b - eps * center

    def speeds(self, x: Array) -> Array:
        """(W + eps) x + b - eps center."""
        return np.asarray(self.W @ x + self.b)

    def change(self, step: Array) -> Array:
        """(W + eps) step."""
        return np.asarray(self.W @ step)

    def value(self, x: Array, u: Array) -> Array:
        """F."""
        return self.of.evaluate(x, u)[0]

    def direction(self, x: Array, u: Array, F: Array, shift: float) -> Array | None:
        """-J^-1 F; None where J is singular."""
        _, A, B = self.of.evaluate(x, u)
        J = self.of.slope(self.W + shift * np.eye(x.size), A, B)
        try:
            return np.asarray(np.linalg.solve(J, -F))
        except np.linalg.LinAlgError:
            return None
