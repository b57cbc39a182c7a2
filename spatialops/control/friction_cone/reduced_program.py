"""A force program without its equalities: x = x0 + Z w.

Columns of Z are orthonormal once every unknown is scaled to a unit cost. What is left is small: the
internal forces of a quadruped on four feet are six numbers.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.pivoted_qr import row_basis
from spatialops.control.friction_cone.barrier_function import Program, least_slack
from spatialops.control.friction_cone.force_program import ForceProgram

# Equalities that are missed by more than this share of their scale contradict each other.
_EQUAL = 1e-9
_RANK = 1e-10  # what others leave of an equality, relative to the largest, that counts as zero
_LEAST_ROW = 1e-12  # scale of an equality of zeros
# Of the search for a start: costs too small to decide anything, of unknowns and of s.
_BOUND = 1e-10
_BOUND_S = 1e-12


class ReducedProgram:
    """Inequalities, each over its scale, and the cost, in w.

    Parameters
    ----------
    program : ForceProgram
        The program with its equalities.

    Attributes
    ----------
    fits : bool
        Whether the equalities can be met at all.
    size : int
        Number of unknowns w.
    theta : int
        Parameter of the barrier: 1 of each linear inequality, 2 of each cone.
    """

    def __init__(self, program: ForceProgram) -> None:
        self.program = program
        n = program.size
        m = len(program.d)
        diagonal = program.H.diagonal()
        scale = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        rank = 0
        self.x0 = np.zeros(n)
        self.fits = True
        if len(program.e):
            rank = self._eliminate(scale)
        else:
            self.Z, self.pinv = np.diag(1.0 / scale), np.zeros((n, 0))
        self.size = n - rank
        Hx = program.H @ self.x0
        self.H, self.g = self.Z.T @ (program.H @ self.Z), self.Z.T @ (program.g + Hx)
        self.fixed, self.pull = 0.5 * float(self.x0 @ Hx), scale * scale
        by = 1.0 / program.scales
        self.by_row = by[:m]
        self.by_cone = by[m:].repeat(3)
        self.mu = program.mu
        self.D = (program.D @ self.Z) * self.by_row[:, None]
        self.d = (program.D @ self.x0 + program.d) * self.by_row
        self.K = (program.K @ self.Z) * self.by_cone[:, None]
        self.k = (program.K @ self.x0 + program.k) * self.by_cone
        self.theta = m + 2 * len(self.mu)

    def _eliminate(self, scale: Array) -> int:
        """The rank of the equalities; x0, Z and their pseudo-inverse."""
        program, E = self.program, self.program.E / scale
        lengths = np.sqrt((E * E).sum(axis=1))
        weights = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
        found = row_basis(E * weights[:, None], 0.0, share=_RANK)
        inverse, _ = found.inverse_and_idle()
        self.pinv = inverse * weights / scale[:, None]
        self.x0 = self.pinv @ program.e
        self.Z = found.null / scale[:, None]
        rows = lengths * np.linalg.norm(self.x0 * scale) + np.abs(program.e) + _LEAST_ROW
        self.fits = bool((np.abs(program.E @ self.x0 - program.e) <= _EQUAL * rows).all())
        return found.rank

    @cached_property
    def tables(self) -> Program:
        """The arrays that the kernels take."""
        H = np.ascontiguousarray(self.H)
        return Program(H, self.g, self.D, self.d, self.K, self.k, self.mu)

    def lift(self, w: Array) -> Array:
        """The unknowns of the program."""
        return self.x0 + self.Z @ w

    def drop(self, x: Array) -> Array:
        """The nearest w, in the metric of the cost."""
        result: Array = self.Z.T @ (self.pull * (x - self.x0))
        return result

    def slack(self, w: Array) -> float:
        """The smallest scaled margin."""
        return float(least_slack(tuple(self.tables), w))

    def feasibility(self) -> Program:
        """Least s with every inequality given s, in (w, s).

        A cost that bounds what the inequalities leave free is too small to decide anything.
        """
        n = self.size
        m = len(self.d)
        D = np.ones((m, n + 1))
        D[:, :n] = self.D
        K = np.zeros((len(self.k), n + 1))
        K[:, :n] = self.K
        K[::3, n] = 1.0 / self.mu
        size = max(np.abs(self.D).max(initial=0.0), np.abs(self.K).max(initial=0.0))
        H, g = np.zeros((n + 1, n + 1)), np.zeros(n + 1)
        H[np.arange(n), np.arange(n)] = _BOUND * size * size
        H[n, n], g[n] = _BOUND_S, 1.0
        return Program(H, g, D, self.d, K, self.k, self.mu)
