"""A cone problem as solvers see it: contacts scaled one by one, b of size one, W in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy

from spatialops._arrays import Array, ArrayLike, IntArray
from spatialops.contact.cone.projection import project_all
from spatialops.contact.cone.residual import block_scales, round_cone
from spatialops.contact.cone.scratch import Blocks
from spatialops.contact.sparse.blocks import Matrix, block_diagonal, is_sparse

if TYPE_CHECKING:
    from spatialops.contact.cone.problem import ConeProblem

_DENSE_ROWS = 240  # up to this size, or where more than a quarter of W is filled, factors are dense


@dataclass(frozen=True, eq=False)
class ScaledProblem:
    """u = W r + b with blocks W_cc of unit mean diagonal and max |b| = 1.

    One positive scalar a contact keeps its cone: r = factor * (impulses here), u = (velocities
    here) * unit / factor.

    Attributes
    ----------
    W : (n, n) array or scipy csr_array
    b, factor : (n,) arrays
    unit : float
    mu : (m, k) array
    starts : (k + 1,) int array
    """

    W: Matrix
    b: Array
    mu: Array
    starts: IntArray
    factor: Array
    unit: float

    @classmethod
    def of(cls, problem: ConeProblem) -> ScaledProblem:
        """Scale a problem."""
        stretch, mu, starts = round_cone(problem)
        diagonal = np.abs(problem.W.diagonal()) * stretch * stretch
        factor = stretch / np.sqrt(block_scales(diagonal, problem.dim)).repeat(problem.dim)
        b = factor * problem.b
        unit = float(np.abs(b).max(initial=0.0)) or 1.0
        if is_sparse(problem.W):
            S = block_diagonal(factor[:, None, None])
            W: Matrix = scipy.sparse.csr_array(S @ problem.W @ S)
        else:
            W = np.ascontiguousarray(factor[:, None] * problem.W * factor)
        filled = (W.nnz if is_sparse(W) else np.count_nonzero(W)) > 0.25 * b.size**2
        if is_sparse(W) and (filled or b.size <= _DENSE_ROWS):
            W = W.toarray()
        elif not is_sparse(W) and not filled and b.size > _DENSE_ROWS:
            W = scipy.sparse.csr_array(W)
        return cls(W, b / unit, mu, starts, factor, unit)

    @property
    def dense(self) -> bool:
        """Whether W is an array."""
        return not is_sparse(self.W)

    @property
    def dim(self) -> int:
        """Rows of a contact."""
        return int(self.starts[-1])

    @cached_property
    def blocks(self) -> Blocks:
        """W by blocks (dim, dim) in rows of blocks."""
        dim, m = self.dim, self.mu.shape[0]
        if self.dense:
            blocks = self.W.reshape(m, dim, m, dim).transpose(0, 2, 1, 3).reshape(m * m, dim, dim)
            rows, columns = np.arange(m + 1) * m, np.tile(np.arange(m), m)
            return Blocks(rows, columns, np.ascontiguousarray(blocks))
        entries = scipy.sparse.bsr_array(self.W, blocksize=(dim, dim))
        entries.sort_indices()
        places = scipy.sparse.csr_array(
            (np.ones(entries.indices.size), entries.indices, entries.indptr), shape=(m, m)
        )
        pattern = scipy.sparse.csr_array(
            places + scipy.sparse.eye_array(m)
        )  # of blocks: all of W, and the whole diagonal
        pattern.sort_indices()
        rows, columns = pattern.indptr.astype(np.int64), pattern.indices.astype(np.int64)
        blocks = np.zeros((columns.size, dim, dim))
        for c in range(m):
            row, mine = slice(rows[c], rows[c + 1]), slice(entries.indptr[c], entries.indptr[c + 1])
            blocks[row][np.searchsorted(columns[row], entries.indices[mine])] = entries.data[mine]
        return Blocks(rows, columns, blocks)

    def inward(self, r: ArrayLike) -> Array:
        """Impulses of the problem in the variables of this system."""
        return np.ascontiguousarray(np.ravel(r) / (self.factor * self.unit))

    def outward(self, r: Array) -> Array:
        """Impulses of this system in those of the problem, each within its cone."""
        within = np.array(r)
        project_all(within, self.mu, self.starts, np.empty(r.size))
        return np.asarray(self.factor * self.unit * within)
