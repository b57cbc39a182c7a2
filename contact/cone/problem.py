"""Frictional contact with the exact Coulomb cone: the problem as stated, and its solution."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from spatialops._arrays import Array, ArrayLike, IntArray, array, dimensions
from spatialops._files import load_arrays, save_arrays
from spatialops.contact.cone.residual import Residuals, residuals
from spatialops.contact.lcp.status import Status
from spatialops.contact.sparse.blocks import Matrix, is_sparse
from spatialops.contact.sparse.stored import stored_sparse
from spatialops.errors import ArgumentError, AssetError

_ABSENT: Any = None  # the default of a field that is a number once it is checked


@dataclass(frozen=True, eq=False)
class ConeProblem:
    """Frictional contact with the exact cone: find impulses r with velocities u = W r + b.

    Each contact has `dim` rows: its normal, then its directions of friction. With K = {|r_t| <= mu
    r_n}, K* its dual,

        r in K,   u + mu |u_t| n in K*,   r . (u + mu |u_t| n) = 0

    (De Saxce): r_n and u_n are >= 0 and one of them zero; |r_t| <= mu r_n, at its limit and against
    the slip where there is any.

    Parameters
    ----------
    W : (n, n) array_like or scipy sparse
        Compliance along the frames, 1/kg; n = m dim. Used as given: a slight asymmetry is part of
        the problem.
    b : (n,) or (m, dim) array_like
        Velocities without the contacts' impulses, m/s.
    mu : float or (m,) array_like
        Coefficients of sliding friction, >= 0.
    dim : {2, 3, 4, 5, 6}, optional
        Rows of a contact: (normal, tangent), (normal, tangent, tangent), and after those one row of
        torsion, two of rolling, or both in this order. Default: 3 and what the next two arguments
        add.
    torsion, rolling : float or (m,) array_like, optional
        Coefficients of torsional friction (row: spin about the normal) and of rolling friction
        (rows: spins about the tangents), m: moments are at most these times r_n.
    elliptic : bool, optional
        False, the default: sliding, torsion and rolling have a limit each, |r_t| <= mu r_n and
        |r_r| <= rolling r_n. True: one limit for all, |(r_t / mu, r_s / torsion, r_r / rolling)| <=
        r_n; coefficients must be positive then.

    Raises
    ------
    ArgumentError
        For wrong shapes, NaN, infinity, negative coefficients, or rows that do not fit the
        coefficients.

    References
    ----------
    G. De Saxce, Z.-Q. Feng, The bipotential method, Math. Comput. Modelling 28 (1998).
    V. Acary, M. Brémond, O. Huber, On solving contact problems with Coulomb friction: formulations
    and numerical comparisons (2018).

    Examples
    --------
    A block of 2 kg that falls at 1 m/s and slides at 3 m/s: it stops falling, friction takes
    0.5 m/s off the slip.

    >>> import numpy as np
    >>> from spatialops.contact import ConeProblem, solve
    >>> solution = solve(ConeProblem(np.eye(3) / 2.0, [-1.0, 3.0, 0.0], 0.5))
    >>> (solution.r.round(9) + 0.0).tolist(), (solution.u.round(9) + 0.0).tolist()
    ([2.0, -1.0, 0.0], [0.0, 2.5, 0.0])
    """

    W: Matrix
    b: Array
    mu: Array
    dim: int = _ABSENT
    torsion: Array | None = None
    rolling: Array | None = None
    elliptic: bool = False

    if TYPE_CHECKING:  # array-like in, arrays out

        def __init__(
            self,
            W: Matrix,
            b: ArrayLike,
            mu: ArrayLike,
            dim: int | None = None,
            torsion: ArrayLike | None = None,
            rolling: ArrayLike | None = None,
            elliptic: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        dim = _rows(self.dim, self.torsion, self.rolling)
        b = _right_side(self.b, dim)
        m = b.size // dim
        checked: dict[str, object] = {"W": _matrix(self.W, b.size), "b": b, "dim": dim}
        for name in ("mu", "torsion", "rolling"):
            if getattr(self, name) is not None:
                checked[name] = _coefficients(getattr(self, name), m, name)
        if not isinstance(self.elliptic, (bool, np.bool_)):
            raise ArgumentError(f"elliptic: expected True or False, got {self.elliptic!r}")
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.elliptic and not (self.coefficients > 0.0).all():
            raise ArgumentError(
                "elliptic: an elliptic cone needs coefficients > 0 at every contact"
            )

    @property
    def size(self) -> int:
        """Number of rows n."""
        return int(self.b.size)

    @property
    def n_contacts(self) -> int:
        """Number of contacts m."""
        return self.size // self.dim

    @property
    def starts(self) -> IntArray:
        """(k + 1,) rows of a contact at which its k kinds of friction begin, and their number."""
        ends = [1, min(self.dim, 3)]
        if self.torsion is not None:
            ends.append(ends[-1] + 1)
        if self.rolling is not None:
            ends.append(ends[-1] + 2)
        return np.array(ends)

    @property
    def coefficients(self) -> Array:
        """(m, k) coefficients of sliding, and of torsion and rolling where there are any."""
        kinds = [kind for kind in (self.mu, self.torsion, self.rolling) if kind is not None]
        return np.ascontiguousarray(np.stack(kinds, axis=1))

    def velocities(self, r: ArrayLike) -> Array:
        """Velocities after impulses, both along the frames.

        Parameters
        ----------
        r : (n,) array_like
            Impulses, N s.

        Returns
        -------
        (n,) array
            u = W r + b, m/s.

        Examples
        --------
        >>> import numpy as np
        >>> from spatialops.contact import ConeProblem
        >>> problem = ConeProblem(np.eye(3) / 2.0, [-1.0, 3.0, 0.0], 0.5)
        >>> problem.velocities([2.0, -1.0, 0.0]).tolist()
        [0.0, 2.5, 0.0]
        """
        return np.asarray(self.W @ array(r, (self.size,), "r") + self.b)

    def residuals(self, r: ArrayLike, *, exact: bool = True) -> Residuals:
        """How far impulses are from solving the problem.

        Parameters
        ----------
        r : (n,) array_like
            Impulses, N s; NaN has the residual NaN.
        exact : bool, optional
            False: in the convex relaxation. Default: in the law as stated.

        Returns
        -------
        Residuals
            Relative to |b|, and free of units.
        """
        r = array(r, (self.size,), "r")
        with np.errstate(all="ignore"):  # impulses that are no numbers have no residual: it says so
            return residuals(self, r, np.asarray(self.W @ r + self.b), exact=exact)

    def residual(self, r: ArrayLike) -> float:
        """Natural residual of impulses relative to max |b|.

        Parameters
        ----------
        r : (n,) array_like
            Impulses, N s.

        Returns
        -------
        float
            `residuals(r).relative`.
        """
        return self.residuals(r).relative

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
        W = scipy.sparse.csr_array(self.W)
        data = {
            "W_data": W.data,
            "W_indices": W.indices,
            "W_indptr": W.indptr,
            "sparse": np.array(is_sparse(self.W)),
        }
        for name in ("b", "mu", "dim", "torsion", "rolling", "elliptic"):
            value = getattr(self, name)
            data[name] = np.asarray(np.empty(0) if value is None else value)
        return save_arrays(path, data)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ConeProblem:
        """Read a problem that `save` wrote.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        ConeProblem
            The same to the last bit.

        Raises
        ------
        AssetError
            If the file is missing or not such a problem.
        """
        names = (
            "W_data",
            "W_indices",
            "W_indptr",
            "sparse",
            "b",
            "mu",
            "dim",
            "torsion",
            "rolling",
            "elliptic",
        )
        try:
            data: dict[str, Matrix] = load_arrays(path, "ConeProblem", names)
            n = data["b"].size
            parts = data["W_data"], data["W_indices"], data["W_indptr"]
            W: Matrix = stored_sparse(*parts, (n, n), columns=False)
            more = {
                name: data[name] if data[name].size else None for name in ("torsion", "rolling")
            }
            if n == 0:  # no contact, so no coefficient tells which rows it would have
                return cls(W, data["b"], data["mu"])
            elliptic = data["elliptic"].item()
            return cls(
                W if data["sparse"].item() else W.toarray(),
                data["b"],
                data["mu"],
                data["dim"].item(),
                **more,
                elliptic=elliptic,
            )
        except (ValueError, IndexError, TypeError) as error:
            raise (
                error
                if isinstance(error, AssetError)
                else AssetError(f"{path}: not a stored ConeProblem: {error}")
            ) from error


@dataclass(frozen=True, eq=False)
class ConeSolution:
    """What a solver of cone problems found; named as `LCPSolution`, so that code can treat both.

    Parameters
    ----------
    z, w : (n,) array
        Impulses r, N s, and velocities u, m/s.
    status : Status
        How the solve ended.
    iterations : int
        Newton steps and Gauss-Seidel sweeps together.
    residual : float
        Natural residual relative to max |b|, in the original data.
    solver : str, optional
        Who found it.
    scale_free : float, optional
        The same on the scaled problem: free of the units of single contacts, and of the size of mu.
    proof : (m,) array, optional
        Of NO_SOLUTION: weights y >= 0 of the contacts, kg, with W_n^T y = 0 and y.b_n < 0, so that
        the normal velocities cannot all be >= 0 whatever the contacts do.
    """

    z: Array
    w: Array
    status: Status
    iterations: int
    residual: float
    solver: str = ""
    scale_free: float = float("nan")
    proof: Array | None = None

    @property
    def r(self) -> Array:
        """Impulses (n,) along the frames, N s."""
        return self.z

    @property
    def u(self) -> Array:
        """Velocities (n,) along the frames, m/s."""
        return self.w

    @property
    def solved(self) -> bool:
        """Whether the residuals are within the tolerance."""
        return self.status == Status.SOLVED


def _rows(dim: Any, torsion: object, rolling: object) -> int:
    extra = (torsion is not None) + 2 * (rolling is not None)
    if dim is None:
        return 3 + extra
    allowed = {3 + extra} if extra else {2, 3}
    if isinstance(dim, (bool, np.bool_)) or dimensions(dim, "dim") != 0 or dim not in list(allowed):
        raise ArgumentError(
            f"dim: expected {' or '.join(map(str, sorted(allowed)))} rows a contact, got {dim!r}; "
            "torsion adds one row to the three of a contact in space, rolling two"
        )
    return int(dim)


def _right_side(values: ArrayLike, dim: int) -> Array:
    try:
        stacked = np.ndim(values) == 2
    except ValueError:
        stacked = False
    b = array(values, (None, dim) if stacked else (None,), "b", finite=True).reshape(-1)
    if b.size % dim:
        raise ArgumentError(f"b: expected {dim} rows for each contact, got {b.size}")
    return b.copy()


def _matrix(values: Matrix, n: int) -> Matrix:
    if not is_sparse(values):
        return array(values, (n, n), "W", finite=True)
    if values.shape != (n, n) or np.iscomplexobj(values):
        raise ArgumentError(
            f"W: expected real numbers of shape ({n}, {n}), got shape {values.shape}"
        )
    W = scipy.sparse.csr_array(values, dtype=np.float64, copy=True)
    W.sum_duplicates()
    if not np.isfinite(W.data).all():
        raise ArgumentError("W: holds NaN or infinity")
    return W


def _coefficients(values: ArrayLike, m: int, name: str) -> Array:
    one = np.isscalar(values) or dimensions(values, name) == 0
    values = array(values, () if one else (None,), name)
    if values.ndim and values.size != m:
        raise ArgumentError(
            f"{name}: expected one number or {m}, one for each contact, got {values.size}"
        )
    if not (np.isfinite(values).all() and (values >= 0.0).all()):
        raise ArgumentError(f"{name}: expected finite numbers >= 0")
    return np.array(np.broadcast_to(values, (m,)))
