"""What problems leave open: impulses that move nothing, redundant closures, Painleve's paradox."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import (
    Array,
    ArrayLike,
    BoolArray,
    IntArray,
    dimensions,
    instance,
    scalar,
    several,
)
from spatialops.contact.constraint_rows import CONTACT, DRY
from spatialops.contact.laws.elimination import Elimination
from spatialops.contact.problem import ContactProblem
from spatialops.errors import ArgumentError, PainleveWarning

_FIXED = 1e-6  # part of a unit impulse in the null space below which its row is determined
_RANK = 1e-12  # least remainder of a row, relative to its length, that is not rounding
_SLIDES = 1e-9  # speed, relative to the fastest row's, from which on a contact slides


@dataclass(frozen=True, eq=False)
class Indeterminacy:
    """What the rows leave undetermined: impulses that change no velocity.

    Parameters
    ----------
    rank : int
        Of the compliance of all rows: closures and contacts.
    loop_rank : int
        Of the closures alone.
    null_space : (n_b + 3 m, k) array
        Orthonormal combinations of impulses that move nothing, k = n_b + 3 m - rank. Where only
        some contacts may push, combinations of those.
    determined : (m, 3) bool array
        Components of the contacts' impulses, along their frames, that follow from the velocities:
        no combination of the null space has a part in them.
    determined_loops : (n_b,) bool array
        The same of the closures' rows.
    redundant_loops : tuple of str
        Closure rows that the others before them imply.
    painleve : (m,) int array
        Contacts whose normal speed falls when they are pushed while they slide with the friction
        they have, alone: n.W (n - mu d) <= 0 with d along the slip, or along the worst direction
        where they do not slide. Rigid bodies may then have several motions or none (P. Painleve,
        1895), but for impulses.
    sliding : (m,) bool array
        Contacts that slide.
    """

    rank: int
    loop_rank: int
    null_space: Array
    determined: BoolArray
    determined_loops: BoolArray
    redundant_loops: tuple[str, ...]
    painleve: IntArray
    sliding: BoolArray

    @property
    def unique(self) -> bool:
        """Whether impulses follow from velocities."""
        return self.null_space.shape[1] == 0

    def __str__(self) -> str:
        rows, free = self.null_space.shape
        if self.unique:
            text = f"impulses are determined: {rows} rows of full rank"
        else:
            text = f"impulses are indeterminate: {rows} rows of rank {self.rank}"
            text += f", {free} combinations are free; {int(self.determined.sum())} of "
            text += f"{self.determined.size} components of contacts are determined"
        if self.redundant_loops:
            text += f"; redundant: {', '.join(self.redundant_loops)}"
        if self.painleve.size:
            text += f"; Painleve configuration at contacts {', '.join(map(str, self.painleve))}"
        return text


def indeterminacy(
    problem: ContactProblem,
    tolerance: float = 1e-9,
    *,
    pushing: ArrayLike | None = None,
    loop_names: Sequence[str] | None = None,
    warn: bool = True,
) -> Indeterminacy:
    """Rank and null space of the compliance of a problem's rows, and what follows from them.

    Parameters
    ----------
    problem : ContactProblem
        Its rows, not its answer.
    tolerance : float, optional
        Singular values of L, relative to the largest, that count as zero. Default: 1e-9.
    pushing : (m,) bool array_like, optional
        Contacts that may push: of a solution, those with u_n = 0. Others have no impulse in any
        solution with the same velocities. Default: all.
    loop_names : sequence of str, optional
        Names of the closures' rows; default "row 0", ... A `Simulator` leaves redundant rows out of
        its problems and names them in `redundant_rows`.
    warn : bool, optional
        Whether to issue a `PainleveWarning` where a sliding contact is in a Painleve configuration.
        Default: True.

    Returns
    -------
    Indeterminacy
        Rank, null space, and what is determined.

    Raises
    ------
    ArgumentError
        For `pushing` or `loop_names` of a wrong length.

    Examples
    --------
    >>> import spatialops as so
    >>> plate = so.Inertia.box((0.2, 0.2, 0.1), mass=1.0)
    >>> model = so.TreeBuilder().add_body("plate", joint="free", inertia=plate).build()
    >>> corners = [(x, y, -0.05) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    >>> up = [[(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]] * 4
    >>> links = [(model.body_links[0], -1)] * 4
    >>> still = (model, model.neutral(), [0.0] * 6)
    >>> problem = so.contact.ContactProblem(*still, links, corners, up, [0.5] * 4)
    >>> found = so.contact.indeterminacy(problem)
    >>> found.rank, found.null_space.shape, found.unique
    (6, (12, 6), False)
    """
    L = instance(problem, ContactProblem, "problem").response.L
    n_b = problem.n_loop_rows
    m = problem.n_contacts
    names = (
        [f"row {k}" for k in range(n_b)]
        if loop_names is None
        else [str(name) for name in several(loop_names, "loop_names", "names")]
    )
    if len(names) != n_b:
        raise ArgumentError(
            f"loop_names: expected {n_b}, one for each row of the closures, got {len(names)}"
        )
    dimensions([] if pushing is None else pushing, "pushing")
    may = np.ones(m, dtype=bool) if pushing is None else np.array(pushing)
    if may.shape != (m,) or may.dtype.kind != "b":
        raise ArgumentError(
            f"pushing: expected {m} flags, one for each contact, got {may.dtype} {may.shape}"
        )
    some = np.concatenate([np.ones(n_b, dtype=bool), (may[:, None] & _acting(problem)).ravel()])
    tolerance = scalar(tolerance, "tolerance", low=0.0)
    rank, null_space = _null_space(L, some, tolerance)
    parts = np.sqrt(np.einsum("ij,ij->i", null_space, null_space)) <= _FIXED
    kept, redundant = _independent(L[:n_b], tolerance)
    paradox, sliding = _painleve(problem)
    if warn and (chosen := np.flatnonzero(paradox & sliding)).size:
        warnings.warn(
            f"Painleve configuration: contacts {', '.join(map(str, chosen))} slide where pushing "
            "makes them approach",
            PainleveWarning,
            stacklevel=2,
        )
    return Indeterminacy(
        rank,
        kept,
        null_space,
        parts[n_b:].reshape(m, 3),
        parts[:n_b],
        tuple(names[k] for k in redundant),
        np.flatnonzero(paradox),
        sliding,
    )


def _acting(problem: ContactProblem) -> BoolArray:
    """Components (m, 3) that can have an impulse: tangents with friction; of joints, their row."""
    normal, tangent = problem.kinds != DRY, problem.friction > 0.0
    return np.column_stack([normal, tangent | (problem.kinds == DRY), tangent])


def _null_space(L: Array, some: BoolArray, tolerance: float) -> tuple[int, Array]:
    """Rank of the rows `some` of L, and orthonormal combinations of them that are zero."""
    if not some.any():
        return 0, np.zeros((len(some), 0))
    left, values, _ = np.linalg.svd(L[some])
    rank = int((values > tolerance * values.max(initial=0.0)).sum())
    null_space = np.zeros((len(some), left.shape[1] - rank))
    null_space[some] = left[:, rank:]
    return rank, null_space


def _independent(rows: Array, tolerance: float) -> tuple[int, list[int]]:
    """Rank of rows, and those that are combinations of rows before them."""
    basis, redundant = np.zeros((0, rows.shape[1])), []
    for k, row in enumerate(rows):
        left = row - basis.T @ (basis @ row)
        left -= basis.T @ (basis @ left)
        if np.linalg.norm(left) <= max(tolerance, _RANK) * np.linalg.norm(row):
            redundant.append(k)
        else:
            basis = np.vstack([basis, left / np.linalg.norm(left)])
    return len(basis), redundant


def _painleve(problem: ContactProblem) -> tuple[BoolArray, BoolArray]:
    """Contacts of a Painleve configuration, and those that slide; closures answer."""
    n_b, m = problem.n_loop_rows, problem.n_contacts
    L, u = problem.response.L, problem.jacobian @ problem.velocity
    rows, _ = Elimination(L[:n_b], u[:n_b]).reduce(L[n_b:], u[n_b:])
    blocks, v = rows.reshape(m, 3, -1), u[n_b:].reshape(m, 3)
    W_n = np.einsum("ij,ikj->ik", blocks[:, 0], blocks)
    speed = np.hypot(v[:, 1], v[:, 2])
    sliding = speed > _SLIDES * np.abs(u).max(initial=0.0)
    along = np.einsum("ij,ij->i", W_n[:, 1:], v[:, 1:]) / np.where(sliding, speed, 1.0)
    coupling = np.where(sliding, along, np.hypot(W_n[:, 1], W_n[:, 2]))
    has_friction = (problem.kinds == CONTACT) & (problem.friction > 0.0) & (W_n[:, 0] > 0.0)
    finite = np.where(np.isinf(problem.friction), 0.0, problem.friction)
    falls = W_n[:, 0] - finite * coupling <= 0.0
    return has_friction & np.isfinite(problem.friction) & falls, sliding & has_friction
