"""Mixed linear complementarity problems, their solutions and their residual."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy

from spatialops._arrays import Array, ArrayLike, array, dimensions, vector, whole
from spatialops._compile.jit import kernel
from spatialops._files import load_arrays, save_arrays
from spatialops.contact.lcp.status import Status
from spatialops.contact.sparse.stored import stored_sparse
from spatialops.errors import ArgumentError, AssetError

if TYPE_CHECKING:
    from spatialops.contact.lcp.bounds import Recovery

Matrix: TypeAlias = Any  # an array or a csc_array: both multiply, neither has a common type

_SMALL = 64  # rows below which one compiled sweep is quicker than NumPy's four


@dataclass(frozen=True, eq=False)
class MixedLCP:
    """A mixed linear complementarity problem: find z with w = A z + b.

    w = 0 on the first `n_free` rows (z is free there); w >= 0, z >= 0, z w = 0 on the others.

    Parameters
    ----------
    A : (n, n) array_like or SciPy sparse matrix
        The matrix; a sparse one of any format is kept, as a `csc_array`.
    b : (n,) array_like
        The vector: w where z is zero.
    n_free : int, optional
        Number of leading equality rows, whose z are free. Default: 0.

    Raises
    ------
    ArgumentError
        For wrong shapes, NaN, infinity, or `n_free` outside 0..n.

    Examples
    --------
    >>> from spatialops.contact import MixedLCP, solve
    >>> solve(MixedLCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])).z.round(6).tolist()
    [1.333333, 2.333333]
    """

    A: Matrix
    b: Array
    n_free: int = 0

    if TYPE_CHECKING:  # array-like in, arrays out

        def __init__(self, A: Matrix, b: ArrayLike, n_free: int = 0) -> None: ...

    def __post_init__(self) -> None:
        b = array(self.b, (None,), "b", finite=True)
        A = self.A
        if (
            dimensions(A, "A") == 2
            and np.shape(A) != (b.size, b.size)
            and len(set(np.shape(A))) == 1
        ):
            n = np.shape(A)[0]
            raise ArgumentError(f"b: expected shape ({n},), as A is ({n}, {n}); got ({b.size},)")
        A = (
            sparse_array(A, b.size, "A")
            if scipy.sparse.issparse(A)
            else array(A, (b.size, b.size), "A", finite=True)
        )
        n_free = whole(self.n_free, "n_free", low=0, high=b.size)
        object.__setattr__(self, "A", A)
        object.__setattr__(self, "b", b)
        object.__setattr__(self, "n_free", n_free)

    @classmethod
    def of_checked(cls, A: Array, b: Array, n_free: int) -> MixedLCP:
        """A problem of arrays that need no check: a formulation's own.

        Parameters
        ----------
        A : (n, n) array
            Finite, in C order; it is not copied.
        b : (n,) array
            Finite.
        n_free : int
            Number of leading equality rows.

        Returns
        -------
        MixedLCP
            The problem.
        """
        made = object.__new__(cls)
        made.__dict__.update(A=A, b=b, n_free=n_free)
        return made

    @property
    def size(self) -> int:
        """Number of rows."""
        return int(self.b.size)

    @property
    def is_sparse(self) -> bool:
        """Whether A is a `csc_array`."""
        return not isinstance(self.A, np.ndarray)

    def dense(self) -> MixedLCP:
        """The same problem with A as an array.

        Returns
        -------
        MixedLCP
            This one, if its A is an array.
        """
        return (
            MixedLCP(np.ascontiguousarray(self.A.toarray()), self.b, self.n_free)
            if self.is_sparse
            else self
        )

    def residual(self, z: ArrayLike) -> float:
        """Natural residual of z relative to the problem's scale, which no unit of z changes.

        Parameters
        ----------
        z : (n,) array_like
            Any point; NaN has the residual NaN.

        Returns
        -------
        float
            max |min(s z, w)| / max |b| with s = max |A|, and |w| on free rows.
        """
        return self.evaluate(array(z, (self.size,), "z"))[1]

    def evaluate(self, z: Array) -> tuple[Array, float]:
        """Compute w and the natural residual of z, which may hold NaN: the residual says so.

        Parameters
        ----------
        z : (n,) array
            Any point.

        Returns
        -------
        w : (n,) array
            A z + b.
        residual : float
            As `residual` has it.

        Raises
        ------
        ArgumentError
            For a wrong shape.
        """
        z = vector(z, self.size, "z")
        if not self.is_sparse and self.size < _SMALL:
            w = np.empty(self.size)
            return w, float(residual_kernel(self.A, self.b, self.n_free, z, w))
        # NaN and infinity are no solution: the residual says so.
        with np.errstate(invalid="ignore", over="ignore"):
            w = self.A @ z + self.b
        entries = self.A.data if self.is_sparse else self.A
        largest = max(float(entries.max(initial=0.0)), -float(entries.min(initial=0.0)))
        return w, float(natural_map(largest, self.b, self.n_free, z, w))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the problem to one .npz file, whole or not at all.

        Parameters
        ----------
        path : path-like
            Where; missing folders are made.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        AssetError
            If it cannot be written.
        """
        A = self.A
        matrix = (
            {"A_data": A.data, "A_indices": A.indices, "A_indptr": A.indptr}
            if self.is_sparse
            else {"A": A}
        )
        return save_arrays(path, {**matrix, "b": self.b, "n_free": np.array(self.n_free)})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MixedLCP:
        """Read a problem that `save` wrote.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        MixedLCP
            The same to the last bit.

        Raises
        ------
        AssetError
            If the file is missing or not such a problem.
        """
        data: dict[str, Matrix] = dict(load_arrays(path, "MixedLCP"))
        try:
            A = data["A"] if "A" in data else _stored_matrix(data)
            return cls(A, data["b"], data["n_free"].item())
        except (KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
            raise AssetError(
                f"{path}: not a stored MixedLCP: {type(error).__name__}: {error}"
            ) from error

    @classmethod
    def from_bounds(
        cls, M: Matrix, q: ArrayLike, lower: ArrayLike, upper: ArrayLike
    ) -> tuple[MixedLCP, Recovery]:
        """Mixed complementarity with bounds lower <= z <= upper, and F = M z + q.

        F >= 0 where z = lower, F <= 0 where z = upper, F = 0 between.

        Parameters
        ----------
        M : (n, n) array_like or SciPy sparse matrix
            Matrix of F.
        q : (n,) array_like
            F where z is zero.
        lower, upper : (n,) array_like
            -inf and inf leave a side open; both open is a free row, both equal a fixed z (F is then
            anything).

        Returns
        -------
        problem : MixedLCP
            The same without bounds.
        recover : Recovery
            ``recover(solution)`` is z (n,) of the problem with bounds.

        Raises
        ------
        ArgumentError
            For wrong shapes, NaN, or lower > upper.

        Examples
        --------
        >>> from spatialops.contact import MixedLCP, solve
        >>> problem, recover = MixedLCP.from_bounds([[2.0]], [-8.0], [0.0], [3.0])
        >>> recover(solve(problem)).tolist()
        [3.0]
        """
        from spatialops.contact.lcp.bounds import from_bounds

        return from_bounds(M, q, lower, upper)


def sparse_array(values: Matrix, size: int, name: str) -> scipy.sparse.csc_array:
    """`values` as a canonical float64 `csc_array` of shape (size, size), or ArgumentError."""
    if values.shape != (size, size):
        raise ArgumentError(f"{name}: expected shape ({size}, {size}), got {values.shape}")
    if np.iscomplexobj(values):
        raise ArgumentError(f"{name}: expected real numbers, got complex ones")
    result = scipy.sparse.csc_array(values, dtype=np.float64)
    if not result.has_canonical_format:
        result = result.copy()
        result.sum_duplicates()
    if not np.isfinite(result.data).all():
        raise ArgumentError(f"{name}: holds NaN or infinity")
    return result


def _stored_matrix(data: Mapping[str, Matrix]) -> scipy.sparse.csc_array:
    size = data["b"].size
    parts = data["A_data"], data["A_indices"], data["A_indptr"]
    A: scipy.sparse.csc_array = stored_sparse(*parts, (size, size), columns=True)
    return A


@dataclass(frozen=True, eq=False)
class LCPSolution:
    """What a solver found.

    Parameters
    ----------
    z, w : (n,) array
        The point, and A z + b.
    status : Status
        How the solve ended.
    iterations : int
        Pivots, sweeps or Newton steps.
    residual : float
        `MixedLCP.residual` of z, computed by the door and not by the solver's own account.
    solver : str, optional
        Who found it.
    detail : str, optional
        Why it ended so, where there is more to say than the status does.
    """

    z: Array
    w: Array
    status: Status
    iterations: int
    residual: float
    solver: str = ""
    detail: str = ""

    @property
    def solved(self) -> bool:
        """Whether the residual is within the tolerance."""
        return self.status == Status.SOLVED

    @property
    def message(self) -> str:
        """The status in words, with the detail."""
        return f"{self.status.message} ({self.detail})" if self.detail else self.status.message


def point(
    problem: MixedLCP,
    z: Array,
    status: Status,
    iterations: int,
    solver: str,
    tolerance: float,
    detail: str = "",
) -> LCPSolution:
    """A solution whose w, residual and success are computed here.

    `status` counts only where the residual is too large.
    """
    _, residual = problem.evaluate(z)
    with np.errstate(invalid="ignore", over="ignore"):  # z may be NaN: the residual says so
        w = problem.A @ z + problem.b
    if residual <= tolerance:
        status, detail = Status.SOLVED, ""
    elif status == Status.SOLVED:
        status = Status.INACCURATE
    return LCPSolution(z, w, status, iterations, residual, solver, detail)


@kernel
def natural_map(largest: float, b: Array, n_free: int, z: Array, w: Array) -> float:
    """max |min(s z, w)| / scale (|w| on free rows) for s = `largest`: see `residual_kernel`."""
    worst = 0.0
    scale = 0.0
    most = 0.0
    a = largest if largest > 0.0 else 1.0
    for i in range(b.size):
        if z[i] != z[i] or w[i] != w[i]:
            return math.nan
        scale, most = max(scale, abs(b[i])), max(most, abs(z[i]))
        worst = max(worst, abs(w[i] if i < n_free else min(a * z[i], w[i])))
    if scale == 0.0:
        scale = a * most
    return worst / scale if scale > 0.0 else worst


@kernel
def residual_kernel(A: Array, b: Array, n_free: int, z: Array, w: Array) -> float:
    """max |min(s z, w)| / scale with w = A z + b (|w| on free rows); also writes w.

    s = max |A| turns z into the units of w, so that the figure does not depend on the unit of z;
    the scale is max |b|. Where b is zero, z = 0 solves, and the scale is max(s |z|).
    """
    n, a = b.size, 0.0
    for i in range(n):
        total = b[i]
        for j in range(n):
            a = max(a, abs(A[i, j]))
            total += A[i, j] * z[j]
        w[i] = total
    return natural_map(a, b, n_free, z, w)
