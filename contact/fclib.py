"""Friction problems in the HDF5 layout of FCLIB, the collection that solvers are compared on.

`/fclib_local` holds u = W r + V l + q with the equations 0 = V^T r + R l + s, if V and R are there;
`/fclib_global` holds M v = H r + G l + f with u = H^T v + w, and 0 = G^T v + b, if G is there. Both
become a `ConeProblem`: multipliers l and velocities v are eliminated. Matrices are triplets,
compressed columns or compressed rows (nz >= 0, -1, -2). Rows of a contact are its normal and its
tangents, as here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import scipy

from spatialops._arrays import Array, ArrayLike, IntArray, array
from spatialops._files import opened, written_beside
from spatialops.contact.cone.problem import ConeProblem
from spatialops.contact.laws.cone import without_closures
from spatialops.contact.problem import ContactProblem
from spatialops.contact.sparse.blocks import Matrix
from spatialops.contact.sparse.stored import stored_sparse
from spatialops.errors import ArgumentError, AssetError, MissingLibraryError

SUFFIXES = (".hdf5", ".h5")
_MOST = 50_000_000  # numbers in one array of a file: 400 MB
_DENSE = 8_000  # rows up to which an elimination, which leaves W dense, is done
_DAMAGE = (
    OSError,
    ValueError,
    TypeError,
    KeyError,
    RuntimeError,
    OverflowError,
    MemoryError,
    IndexError,
)
Group: TypeAlias = Any  # h5py has no types
LibraryObject: TypeAlias = Any
Taken = TypeVar("Taken")

_TRIPLET = 0
_COLUMNS = -1
_ROWS = -2


def save_fclib(
    path: str | os.PathLike[str],
    problem: ConeProblem | ContactProblem,
    solution: ArrayLike | None = None,
    *,
    title: str = "",
) -> Path:
    """Write a friction problem as `/fclib_local`, whole or not at all.

    Parameters
    ----------
    path : path-like
        Where, by custom with the suffix .hdf5; missing folders are made.
    problem : ConeProblem or ContactProblem
        In the plane or in space. Closures of a contact problem are eliminated.
    solution : (n,) array_like, optional
        Impulses r, written as `/solution` with their velocities.
    title : str, optional
        Stored as `info/title`.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    ArgumentError
        For torsional or rolling friction, or impulses that press already: FCLIB knows neither.
    AssetError
        If the file cannot be written.
    MissingLibraryError
        Without the extra ``spatialops[fclib]``.
    """
    h5py, cone = _h5py(), _cone_problem(problem)
    r = None if solution is None else array(solution, (cone.size,), "solution", finite=True)
    with written_beside(path) as part, h5py.File(part, "w") as file:
        _put_local(file.create_group("fclib_local"), cone, title)
        if r is not None:
            file["solution/r"], file["solution/u"] = r, cone.velocities(r)
    return Path(path)


def load_fclib(path: str | os.PathLike[str]) -> ConeProblem:
    """Read the friction problem of an FCLIB file, local or global.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    ConeProblem
        With equations and velocities eliminated, if it has any.

    Raises
    ------
    AssetError
        If the file is missing, damaged, too large, or of another layout.
    MissingLibraryError
        Without the extra ``spatialops[fclib]``.
    """
    return _read(path, _problem_of)


def load_fclib_solution(path: str | os.PathLike[str]) -> Array | None:
    """Read the solution stored beside a problem.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    (n,) array or None
        Impulses r; None where there are none.

    Raises
    ------
    AssetError, MissingLibraryError
        As `load_fclib`.
    """
    return _read(path, lambda file: _vector(file, "solution/r") if _at(file, "solution") else None)


def _read(path: str | os.PathLike[str], take: Callable[[Group], Taken]) -> Taken:
    h5py = _h5py()
    try:
        with opened(path):  # a regular file
            pass
        with h5py.File(path, "r") as file:
            return take(file)
    except (*_DAMAGE, ArgumentError) as error:
        raise AssetError(
            f"{path}: not a readable FCLIB problem: {' '.join(str(error).split())}"
        ) from error


def _h5py() -> LibraryObject:
    try:
        import h5py
    except ModuleNotFoundError as error:
        raise MissingLibraryError(
            "FCLIB files are read and written by h5py: install spatialops[fclib]"
        ) from error
    return h5py


def _cone_problem(problem: ConeProblem | ContactProblem) -> ConeProblem:
    if isinstance(problem, ContactProblem):
        if problem.prior_normal_impulse.any():
            raise ArgumentError("problem: has a prior_normal_impulse, which FCLIB cannot say")
        _, W, u = without_closures(problem)
        problem = ConeProblem(W, u, problem.friction)
    if not isinstance(problem, ConeProblem):
        raise ArgumentError(
            f"problem: expected a ConeProblem or ContactProblem, got {type(problem).__name__}"
        )
    if problem.torsion is not None or problem.rolling is not None:
        raise ArgumentError("problem: has torsional or rolling friction, which FCLIB cannot say")
    return problem


def _put_local(group: Group, problem: ConeProblem, title: str) -> None:
    W = scipy.sparse.csr_array(problem.W)
    group["spacedim"] = np.array([problem.dim], dtype=np.int32)
    sizes = {"nzmax": W.nnz, "m": W.shape[0], "n": W.shape[1], "nz": _ROWS}
    for name, value in sizes.items():
        group[f"W/{name}"] = np.array([value], dtype=np.int32)
    group["W/p"], group["W/i"] = W.indptr.astype(np.int32), W.indices.astype(np.int32)
    group["W/x"] = W.data
    group["vectors/q"], group["vectors/mu"] = problem.b, problem.mu
    if title:
        group["info/title"] = np.bytes_(title.encode())


def _problem_of(file: Group) -> ConeProblem:
    if group := _at(file, "fclib_local"):
        W, q = _matrix(group, "W"), _vector(group, "vectors/q")
        if _at(group, "V"):
            W, q = _without_equations(
                W, q, _matrix(group, "V"), _matrix(group, "R"), _vector(group, "vectors/s")
            )
    elif group := _at(file, "fclib_global"):
        W, q = _without_velocities(group)
    else:
        raise ValueError("it has neither /fclib_local nor /fclib_global")
    mu, dim = _vector(group, "vectors/mu"), _whole(group, "spacedim")
    if mu.size * dim != q.size:
        raise ValueError(f"{q.size} rows do not fit {mu.size} contacts of {dim} rows")
    return ConeProblem(W, q, mu, dim)


def _without_equations(W: Matrix, q: Array, V: Matrix, R: Matrix, s: Array) -> tuple[Array, Array]:
    """W - V R^-1 V^T and q - V R^-1 s, as l = -R^-1 (V^T r + s)."""
    _check_dense(q.size)
    answers = _solved(R, np.column_stack([V.T.toarray(), s]))
    return W.toarray() - V @ answers[:, :-1], q - V @ answers[:, -1]


def _without_velocities(group: Group) -> tuple[Array, Array]:
    """W = H^T K^-1 H and q = w + H^T K^-1 f; with equations K = (M, -G; G^T, 0), f over -b."""
    M = _matrix(group, "M")
    H = _matrix(group, "H")
    f = _vector(group, "vectors/f")
    w, K = _vector(group, "vectors/w"), M
    _check_dense(max(w.size, 0))
    if _at(group, "G"):
        G, b = _matrix(group, "G"), _vector(group, "vectors/b")
        K = scipy.sparse.block_array([[M, -G], [G.T, None]], format="csc")
        f = np.concatenate([f, -b])
        H = scipy.sparse.vstack([H, scipy.sparse.csr_array((b.size, H.shape[1]))], format="csr")
    if K.shape[0] != f.size or H.shape != (f.size, w.size):
        raise ValueError(f"M {M.shape}, H {H.shape}, f and w do not fit each other")
    answers = _solved(K, np.column_stack([H.toarray(), f]))
    return np.asarray(H.T @ answers[:, :-1]), np.asarray(w + H.T @ answers[:, -1])


def _solved(K: Matrix, right: Array) -> Array:
    """K^-1 of the columns of `right`."""
    answers = np.asarray(scipy.sparse.linalg.splu(scipy.sparse.csc_array(K)).solve(right))
    if not np.isfinite(answers).all():
        raise ValueError("the matrix of the variables that are eliminated is singular")
    return answers


def _check_dense(rows: int) -> None:
    if rows > _DENSE:
        raise ValueError(
            f"{rows} rows with variables to eliminate would fill a matrix; at most {_DENSE} are "
            "taken"
        )


def _matrix(group: Group, name: str) -> Matrix:
    """A sparse matrix, checked before and after it is made."""
    m, n, nz = (_whole(group, f"{name}/{key}") for key in ("m", "n", "nz"))
    if not (0 <= m <= _MOST and 0 <= n <= _MOST):
        raise ValueError(f"{name}: {m} by {n} is no size of a matrix that can be read")
    p, i = _whole_numbers(group, f"{name}/p"), _whole_numbers(group, f"{name}/i")
    x = _vector(group, f"{name}/x")
    if nz >= _TRIPLET:
        if min(p.size, i.size, x.size) < nz:
            raise ValueError(f"{name}: fewer than nz = {nz} entries")
        rows, columns = i[:nz], p[:nz]
        inside = rows.size == 0 or (
            min(rows.min(), columns.min()) >= 0 and rows.max() < m and columns.max() < n
        )
        if not inside:
            raise ValueError(f"{name}: an index lies outside of {m} by {n}")
        return scipy.sparse.csr_array((x[:nz], (rows, columns)), shape=(m, n))
    if nz not in (_COLUMNS, _ROWS):
        raise ValueError(f"{name}: nz = {nz} is no kind of matrix")
    made = stored_sparse(x, i, p, (m, n), columns=nz == _COLUMNS)
    return scipy.sparse.csr_array(made)


def _whole(group: Group, name: str) -> int:
    values = _whole_numbers(group, name)
    if values.size != 1:
        raise ValueError(f"{name}: expected one number, got {values.size}")
    return int(values[0])


def _vector(group: Group, name: str) -> Array:
    """A flat array of numbers."""
    values = _numbers(group, name, "iuf")
    if not np.isfinite(values).all():
        raise ValueError(f"{name}: holds NaN or infinity")
    return values.astype(np.float64)


def _whole_numbers(group: Group, name: str) -> IntArray:
    """A flat array of whole numbers."""
    return _numbers(group, name, "iu").astype(np.int64)


def _at(group: Group, path: str) -> Group | None:
    """What stands at a path of this file, None if nothing; links elsewhere are not followed."""
    found = group
    for name in path.split("/"):
        if not hasattr(found, "get") or (link := found.get(name, getlink=True)) is None:
            return None
        if type(link).__name__ not in ("HardLink", "SoftLink"):
            raise ValueError(f"{path}: lies in another file")
        found = found.get(name)
    return found


def _numbers(group: Group, name: str, kinds: str) -> Matrix:
    """A flat array of any of these kinds; its size is looked at before it is read."""
    data = _at(group, name)
    if data is None or not hasattr(data, "shape"):
        raise ValueError(f"{name}: is missing")
    if data.size is None or data.size > _MOST or data.dtype.kind not in kinds:
        raise ValueError(
            f"{name}: {data.size} values of type {data.dtype} are not what belongs here"
        )
    if data.file.filename != group.file.filename or data.is_virtual or data.external:
        raise ValueError(f"{name}: lies in another file")
    return np.asarray(data[()]).reshape(-1)
