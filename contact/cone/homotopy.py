"""A path to a solution of the exact problem from a trivial one, around its turning points.

In the variables of `second_order_cone`, points of the path solve, for a level l from 1 to 0,

    x o y = l gap 1,    y = A x + c + s(y_t) n + l p,
    s = sqrt(|y_t|^2 + d^2) - d,    d = l gap rounding,

where p makes x = impulse 1, y = speed 1 the solution at l = 1: contacts are lifted apart, then let
down on each other. At l = 0 this is the exact problem. It is not monotone: the level may have to
rise again on the way, and an interior point method that only lowers it fails there. With M =
T^2 + E A (see `interior`) the level falls along the path where det M > 0, and rises where det M <
0: so oriented, every piece of it that is no closed loop leads to l = 0, also where a step jumps
from one to another. Steps are measured by relative changes, |T dx|^2 / (l gap) + |T^-1 dy|^2 / (l
gap) + m (d log l)^2.

References: E. Allgower, K. Georg, Introduction to Numerical Continuation Methods (2003), chapters 2
and 6; V. Acary, F. Cadoux, Applications of an existence result for the Coulomb friction problem
(2013), for existence.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from spatialops._arrays import Array, IntArray
from spatialops.contact.cone.second_order_cone import (
    Lorentz,
    apply,
    divide,
    longest,
    product,
    scaling,
)
from spatialops.contact.sparse.blocks import Matrix, block_diagonal, is_sparse
from spatialops.contact.sparse.lu import sparse_factor

if TYPE_CHECKING:
    from spatialops.contact.cone.scaled_problem import ScaledProblem

_CENTERED = 1e-2  # error, relative to the level, of what counts as on the path
_FLOOR = 1e-11  # level below which rounding is left in y
_END = 1e-14  # level and
_FAR = 1e9  # impulses at which a path ends
_CORRECTIONS = 8  # Newton steps back to the path
_FIRST = 0.3  # lengths of steps: the first, the least, and
_LEAST = 1e-4
_MOST = 2.0
_SHORTER = 0.4  # factor of one whose corrections fail,
_GROWTH = 1.6  # of one after which few are needed, and
_DECAY = 0.8  # of one after which many are
_TO_BOUNDARY = 0.9  # part of the way to the boundary of a cone that a step takes
_ENOUGH = 0.3  # part of a correction that must be possible, and
_JUMP = 2.0  # change of log l in one that is no correction any more


@dataclass(frozen=True, kw_only=True)
class Homotopy:
    """Where a path begins, and how far it is followed.

    Parameters
    ----------
    impulse, speed : float
        Of all contacts at the beginning, W and b being of size one.
    rounding : float
        Of the tip of |u_t|, relative to the level.
    limit : int
        Factorizations.
    """

    impulse: float = 10.0
    speed: float = 0.1
    rounding: float = 1.0
    limit: int = 3000

    def follow(self, system: ScaledProblem) -> tuple[Array, int]:
        """Impulses at the end of the path, and the factorizations made."""
        lorentz = Lorentz.of(system, True)
        x, y = lorentz.start()
        path = _Path(lorentz, self, np.zeros_like(x))
        here = _Point(self.impulse * x, self.speed * y, 1.0)
        path = _Path(lorentz, self, path.left_over(here)[1])
        length, taken = _FIRST, 0
        with np.errstate(all="ignore"):  # what diverges is not taken
            while taken < self.limit and here.level > _END and np.abs(here.x).max() < _FAR:
                direction = path.linear(here)
                taken += 1
                if direction is None:
                    break
                found, length, more = path.advance(here, direction, length)
                taken += more
                if found is None:
                    break
                here = found
        return here.x.ravel() * lorentz.stretch, taken


class _Point(NamedTuple):
    x: Array
    y: Array
    level: float


class _Linear(NamedTuple):
    """The equations at a point: steps (x, y) along the path for each d log l, and back to it."""

    T: Array
    inverse: Array
    sign: float
    along: tuple[Array, Array]
    back: tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class _Path:
    lorentz: Lorentz
    options: Homotopy
    lifted: Array

    def left_over(self, at: _Point) -> tuple[Array, Array, Array]:
        """Slope f of s(y_t), the error p of y, and what p loses with each d log l."""
        d = at.level * self._gap * self.options.rounding
        size = np.sqrt((at.y[:, 1:] ** 2).sum(axis=1) + d * d)
        p = at.y - self.lorentz.times(at.x) - self.lorentz.c - at.level * self.lifted
        p[:, 0] -= size - d
        f, loss = np.zeros_like(p), at.level * self.lifted
        f[:, 1:] = at.y[:, 1:] / size[:, None]
        loss[:, 0] += d * d / size - d
        return f, p, loss

    @property
    def _gap(self) -> float:
        return self.options.impulse * self.options.speed

    def error(self, at: _Point) -> float:
        """How far a point is from the path, relative to its level."""
        target = np.zeros_like(at.x)
        target[:, 0] = gap = at.level * self._gap
        center = np.linalg.norm(product(at.x, at.y) - target, axis=1).max() / gap
        return float(max(center, np.abs(self.left_over(at)[1]).max() / max(at.level, _FLOOR)))

    def linear(self, at: _Point) -> _Linear | None:
        """The linear equations at a point; None where they are singular.

        The unknown is z = T dx of (1 + T^-1 E A T^-1) z = T^-1 right, whose size does not depend on
        the level.
        """
        f, p, loss = self.left_over(at)
        T, inverse = scaling(at.x, at.y)
        unit = np.zeros_like(at.x)
        unit[:, 0] = 1.0
        E = np.eye(at.x.shape[1]) + unit[:, :, None] * f[:, None, :]
        factored = _factor(self.lorentz.A, inverse @ E, inverse)
        if factored is None:
            return None
        solve, sign = factored
        point = apply(T, at.x)
        push = at.level * self._gap * apply(T, divide(point, unit))

        def solved(right: Array, of_y: Array) -> tuple[Array, Array]:
            dx = apply(inverse, solve(apply(inverse, right).ravel()).reshape(right.shape))
            return dx, apply(E, self.lorentz.times(dx) + of_y)

        return _Linear(
            T,
            inverse,
            sign,
            solved(push - apply(E, loss), loss),
            solved(push - at.y + apply(E, p), -p),
        )

    def advance(
        self, here: _Point, linear: _Linear, length: float
    ) -> tuple[_Point | None, float, int]:
        """The next point, or None; the length for the step after it; factorizations.

        Lengths are in units of sqrt(m) d log l.
        """
        taken = 0
        m = len(here.x)
        scale = 1.0 / np.sqrt(here.level * self._gap)

        def measured(dx: Array, dy: Array) -> Array:
            return scale * np.concatenate([apply(linear.T, dx), apply(linear.inverse, dy)])

        tangent = measured(*linear.along)
        rate = -linear.sign / np.sqrt((tangent**2).sum() / m + 1.0)  # of log l
        dx, dy = (rate * step for step in linear.along)
        tangent /= m

        def beside(step: tuple[Array, Array]) -> float:
            return float((tangent * measured(*step)).sum())

        while length >= _LEAST:
            step = min(length, _TO_BOUNDARY * min(longest(here.x, dx), longest(here.y, dy)))
            ahead = _Point(here.x + step * dx, here.y + step * dy, here.level * np.exp(step * rate))
            found, steps = self._correct(ahead, beside)
            taken += steps
            if found is not None:
                return found, _next_length(length, steps), taken
            length *= _SHORTER
        return None, length, taken

    def _correct(
        self, at: _Point, beside: Callable[[tuple[Array, Array]], float]
    ) -> tuple[_Point | None, int]:
        """Newton's method back to the path, across its tangent: `beside` is the part along that."""
        last = np.inf
        for count in range(1, _CORRECTIONS + 1):
            linear = self.linear(at)
            if linear is None:
                break
            grow = -beside(linear.back) / (beside(linear.along) + 1.0)
            dx, dy = (
                back + grow * along for back, along in zip(linear.back, linear.along, strict=True)
            )
            alpha = min(1.0, _TO_BOUNDARY * min(longest(at.x, dx), longest(at.y, dy)))
            if not (alpha >= _ENOUGH and abs(grow) <= _JUMP):
                break
            at = _Point(
                at.x + alpha * dx, at.y + alpha * dy, at.level * float(np.exp(alpha * grow))
            )
            error = self.error(at)
            if error < _CENTERED:
                return at, count
            if count > 2 and error > 2.0 * last:
                break
            last = error
        return None, count


def _next_length(length: float, corrections: int) -> float:
    """Longer steps after few corrections, shorter ones after many."""
    return (
        min(_GROWTH * length, _MOST)
        if corrections <= 2
        else _DECAY * length
        if corrections >= 4
        else length
    )


def _factor(A: Matrix, left: Array, right: Array) -> tuple[Callable[[Array], Array], float] | None:
    """Solver of (1 + left A right) x = b and the sign of its determinant; None if singular."""
    M = block_diagonal(left) @ A @ block_diagonal(right)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if is_sparse(A):
                lu = sparse_factor(M + scipy.sparse.eye_array(M.shape[0]))
                swaps = _swaps(lu.perm_r) + _swaps(lu.perm_c)
                return lu.solve, _sign(lu.U.diagonal(), swaps)
            factors, pivots = scipy.linalg.lu_factor(M + np.eye(len(M)), check_finite=False)
        except (RuntimeError, ValueError, np.linalg.LinAlgError):
            return None
    sign = _sign(np.diag(factors), int(np.count_nonzero(pivots != np.arange(len(M)))))
    return lambda b: np.asarray(
        scipy.linalg.lu_solve((factors, pivots), b, check_finite=False)
    ), sign


def _sign(diagonal: Array, swaps: int) -> float:
    """Of the determinant of a matrix with this diagonal in its triangular factor."""
    return -1.0 if (swaps + int(np.count_nonzero(diagonal < 0.0))) % 2 else 1.0


def _swaps(order: IntArray) -> int:
    """Swaps that a permutation consists of: its length less its cycles."""
    n = order.size
    links = scipy.sparse.csr_array((np.ones(n), (np.arange(n), order)), shape=(n, n))
    return n - int(scipy.sparse.csgraph.connected_components(links, directed=False)[0])
