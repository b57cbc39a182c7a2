"""Mixed linear complementarity problems, their solutions and their residual."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spatialops._arrays import Array, array, whole
from spatialops._files import load_arrays, save_arrays
from spatialops._jit import kernel
from spatialops.contact.lcp.status import Status
from spatialops.errors import AssetError


@dataclass(frozen=True, eq=False)
class MixedLCP:
    """Find z with w = A z + b: w = 0 on the first `n_free` rows (z free there), w >= 0, z >= 0, z w = 0 on the others.

    Parameters
    ----------
    A : (n, n) array_like
    b : (n,) array_like
    n_free : int
        Number of leading equality rows.

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

    A: Any
    b: Any
    n_free: int = 0

    def __post_init__(self) -> None:
        b = array(self.b, (None,), "b", finite=True)
        A = array(self.A.toarray() if hasattr(self.A, "toarray") else self.A, (b.size, b.size), "A", finite=True)
        n_free = whole(self.n_free, "n_free", low=0, high=b.size)
        object.__setattr__(self, "A", A)
        object.__setattr__(self, "b", b)
        object.__setattr__(self, "n_free", n_free)

    @property
    def size(self) -> int:
        """Number of rows."""
        return int(self.b.size)

    def residual(self, z: Any) -> float:
        """Natural residual of `z` relative to the problem's scale: see `residual_kernel`."""
        z = array(z, (self.size,), "z")
        return float(residual_kernel(self.A, self.b, self.n_free, z, np.empty(self.size)))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the problem to one .npz file, whole or not at all; AssetError if it cannot be written."""
        return save_arrays(path, {"A": self.A, "b": self.b, "n_free": np.array(self.n_free)})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MixedLCP:
        """Read a problem that `save` wrote.

        Raises
        ------
        AssetError
            If the file is missing or not such a problem.
        """
        try:
            data = load_arrays(path, "MixedLCP", ("A", "b", "n_free"))
            return cls(data["A"], data["b"], data["n_free"].item())
        except ValueError as error:
            raise AssetError(f"{path}: not a stored MixedLCP: {error}") from error


@dataclass(frozen=True, eq=False)
class LCPSolution:
    """What a solver found.

    Attributes
    ----------
    z, w : (n,) arrays
    status : Status
    iterations : int
        Pivots or sweeps.
    residual : float
        `MixedLCP.residual` of z, computed by the door and not by the solver's own account.
    solver : str
        Who found it.
    """

    z: Array
    w: Array
    status: Status
    iterations: int
    residual: float
    solver: str = ""

    @property
    def solved(self) -> bool:
        """Whether the residual is within the tolerance."""
        return self.status == Status.SOLVED


@kernel
def residual_kernel(A: Array, b: Array, n_free: int, z: Array, w: Array) -> float:
    """max |min(s z, w)| / scale with w = A z + b (|w| on free rows); also writes w.

    s = max |A| turns z into the units of w, so that the figure does not depend on the unit of z; the scale is max |b|.
    Where b is zero, z = 0 solves, and the scale is max(s |z|).
    """
    n, a, scale, largest = b.size, 0.0, 0.0, 0.0
    for i in range(n):
        scale, largest = max(scale, abs(b[i])), max(largest, abs(z[i]))
        total = b[i]
        for j in range(n):
            a = max(a, abs(A[i, j]))
            total += A[i, j] * z[j]
        w[i] = total
    if a == 0.0:
        a = 1.0
    if scale == 0.0:
        scale = a * largest
    worst = 0.0
    for i in range(n):
        if z[i] != z[i] or w[i] != w[i]:
            return math.nan
        worst = max(worst, abs(w[i] if i < n_free else min(a * z[i], w[i])))
    return worst / scale if scale > 0.0 else worst
