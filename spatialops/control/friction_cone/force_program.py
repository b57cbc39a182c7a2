"""A quadratic cost of forces under friction cones and limits ([A] 29), and its answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from spatialops._arrays import Array, array
from spatialops.control.friction_cone.optimality import (
    CONDITIONS,
    Rows,
    are_finite,
    conditions,
    least_margin,
)
from spatialops.errors import ArgumentError

_FLOAT = np.dtype(np.float64)
_CONDITIONS = ("stationarity", "equality", "violation", "dual", "gap")  # in the kernel's order


@dataclass(frozen=True, eq=False)
class ForceProgram:
    """Minimise x.H x / 2 + g.x under E x = e, D x + d >= 0 and |t_i| <= mu_i n_i.

    The contact forces are (n_i, t_i) = K_i x + k_i.

    Parameters
    ----------
    H : (n, n) array
        Symmetric and positive semidefinite; positive definite on what the constraints leave free.
    g : (n,) array
        Linear part of the cost.
    E, e : (r, n) and (r,) arrays
        Equalities; rows may be redundant.
    D, d : (m, n) and (m,) arrays
        Linear inequalities.
    K, k : (3 c, n) and (3 c,) arrays
        Rows normal, tangent, tangent of each cone, N.
    mu : (c,) array
        Coefficients of friction, positive.
    names : tuple of str, optional
        Of the linear inequalities, then of the cones; default "limit 0", ..., "cone 0", ....
    scales : (m + c,) array, optional
        What counts as much of each inequality, in its unit; default 1.

    Raises
    ------
    ArgumentError
        For shapes that do not fit, NaN or infinity.
    """

    H: Array
    g: Array
    E: Array
    e: Array
    D: Array
    d: Array
    K: Array
    k: Array
    mu: Array
    names: tuple[str, ...] = ()
    scales: Array = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        n = len(self.g)
        r = len(self.e)
        m = len(self.d)
        c = len(self.mu)
        shapes = {
            "H": (n, n),
            "g": (n,),
            "E": (r, n),
            "e": (r,),
            "D": (m, n),
            "d": (m,),
            "K": (3 * c, n),
            "k": (3 * c,),
            "mu": (c,),
        }
        if len(self.scales) == 0:
            object.__setattr__(self, "scales", np.ones(m + c))
        for name, shape in {**shapes, "scales": (m + c,)}.items():
            given = getattr(self, name)
            fits = type(given) is np.ndarray and given.dtype == _FLOAT and given.flags.c_contiguous
            if not (fits and given.shape == shape):
                object.__setattr__(self, name, np.ascontiguousarray(array(given, shape, name)))
        if not are_finite(self.arrays):
            raise ArgumentError("a force program holds NaN or infinity")
        if c and not 0.0 < self.mu.min() <= self.mu.max() < np.inf:
            raise ArgumentError("mu: expected positive coefficients of friction")
        if not self.names:
            names = [f"limit {j}" for j in range(m)] + [f"cone {i}" for i in range(c)]
            object.__setattr__(self, "names", tuple(names))

    @classmethod
    def of_rows(cls, rows: Rows, names: tuple[str, ...]) -> ForceProgram:
        """A program from arrays that are known to fit, and to be finite.

        Parameters
        ----------
        rows : Rows
            Its arrays.
        names : tuple of str
            Of its inequalities, then of its cones.

        Returns
        -------
        ForceProgram
            Of these arrays themselves.
        """
        program = object.__new__(cls)
        program.__dict__.update(rows._asdict(), names=names)
        return program

    @cached_property
    def arrays(self) -> tuple[Array, ...]:
        """What the kernels take."""
        own = self.__dict__
        return tuple(own[name] for name in Rows._fields)

    def copied(self) -> ForceProgram:
        """The same in arrays of its own.

        Returns
        -------
        ForceProgram
            With the same names.
        """
        return ForceProgram.of_rows(Rows(*(values.copy() for values in self.arrays)), self.names)

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return len(self.g)

    def cost(self, x: Array) -> float:
        """The cost x.H x / 2 + g.x.

        Parameters
        ----------
        x : (n,) array
            The unknowns.

        Returns
        -------
        float
            In the unit of the cost, W for a controller's program.
        """
        return float(0.5 * x @ self.H @ x + self.g @ x)

    def forces(self, x: Array) -> Array:
        """Contact forces of the cones.

        Parameters
        ----------
        x : (n,) array
            The unknowns.

        Returns
        -------
        (c, 3) array
            Rows [normal, tangent, tangent], N.
        """
        result: Array = (self.K @ x + self.k).reshape(-1, 3)
        return result

    def margins(self, x: Array) -> Array:
        """How far inside each inequality is.

        Parameters
        ----------
        x : (n,) array
            The unknowns.

        Returns
        -------
        (m + c,) array
            D x + d, then mu n - |t|; negative where violated.
        """
        found = np.empty(len(self.scales))
        least_margin(self.arrays, x, found)
        return found

    def residuals(self, x: Array, equality: Array, linear: Array, cones: Array) -> dict[str, float]:
        """How well x and its multipliers satisfy the conditions of optimality.

        Unknowns below 1e-3 (N m, N) count as zero: so much of the cost's gradient, and the cost of
        so much, is the least scale.

        Parameters
        ----------
        x : (n,) array
            The unknowns.
        equality : (r,) array
            Multipliers of the equalities.
        linear : (m,) array
            Those of the linear inequalities, not negative.
        cones : (c, 3) array
            Those of the cones, in the dual cones: n >= mu |t|.

        Returns
        -------
        dict of str to float
            "stationarity", "equality", "violation", "dual" and "gap", each relative to its own
            scale.
        """
        found = self._conditions(x, equality, linear, cones).tolist()
        return dict(zip(_CONDITIONS, found, strict=True))

    def residual(self, x: Array, equality: Array, linear: Array, cones: Array) -> float:
        """The largest of `residuals`.

        Parameters
        ----------
        x, equality, linear, cones : arrays
            As of `residuals`.

        Returns
        -------
        float
            NaN where one of them is.
        """
        return float(self._conditions(x, equality, linear, cones).max())

    def _conditions(self, x: Array, equality: Array, linear: Array, cones: Array) -> Array:
        found, margins = np.empty(CONDITIONS), np.empty(len(self.scales))
        conditions(self.arrays, x, (equality, linear, cones), margins, found)
        return found


@dataclass(frozen=True, eq=False)
class ForceSolution:
    """What a solver of `ForceProgram` found.

    Parameters
    ----------
    x : (n,) array
        The best point known; strictly inside all inequalities where the status is "solved".
    status : {"solved", "infeasible", "inconsistent", "failed"}
        "infeasible": no point is strictly inside all inequalities; "inconsistent": the equalities
        contradict each other.
    equality, linear, cones : (r,), (m,), (c, 3) arrays
        Multipliers; of an infeasible program, those of its proof: the weights of constraints that
        conflict.
    residual : float, default infinity
        The largest of `ForceProgram.residuals`; infinite where there is no solution.
    violation : float
        Of an infeasible program: how much all inequalities must give, in their scales, before a
        point is inside.
    conflict : tuple of str
        Names of inequalities that cannot hold together under the equalities.
    iterations, start_iterations : int
        Steps of Newton's method; and those of them that looked for a feasible start.
    """

    x: Array
    status: str
    equality: Array
    linear: Array
    cones: Array
    residual: float = float("inf")
    violation: float = 0.0
    conflict: tuple[str, ...] = ()
    iterations: int = 0
    start_iterations: int = 0

    @property
    def solved(self) -> bool:
        """Whether it is a solution."""
        return self.status == "solved"


class ForceSolver(Protocol):
    """Solves force programs: `Barrier` or `Conic`."""

    def solve(self, program: ForceProgram, start: Array | None = None) -> ForceSolution:
        """Solve from near `start`."""


def unsolved(program: ForceProgram, status: str, x: Array | None = None) -> ForceSolution:
    """A solution that is none: zero multipliers, and the point x if there is one."""
    point = np.zeros(program.size) if x is None else x
    r = len(program.e)
    m = len(program.d)
    c = len(program.mu)
    return ForceSolution(point, status, np.zeros(r), np.zeros(m), np.zeros((c, 3)))
