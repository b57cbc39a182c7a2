"""Force programs in their second-order cone form, by clarabel: a check of the barrier method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialops._arrays import NOTHING, Array
from spatialops.contact.qp import ConeProgram, by_cones
from spatialops.control.friction_cone.force_program import (
    ForceProgram,
    ForceSolution,
    unsolved,
)
from spatialops.control.friction_cone.verification import LIMIT


@dataclass(frozen=True, kw_only=True)
class Conic:
    """The solver clarabel, which comes with ``spatialops[qp]``.

    Parameters
    ----------
    tolerances : tuple of float
        Of feasibility and gap, absolute and relative, tried in turn until the residual is below
        `enough`: asked for too much the library may lose what it had. The best answer counts.
    enough : float
        Residual that needs no other tolerance.
    max_steps : int
        Of each try.

    Raises
    ------
    MissingLibraryError
        By `solve`, if the library is not installed.
    """

    tolerances: tuple[float, ...] = (1e-14, 1e-12, 1e-10)
    enough: float = 1e-11
    max_steps: int = 200

    def solve(self, program: ForceProgram, start: Array | None = None) -> ForceSolution:
        """Solve a program.

        Parameters
        ----------
        program : ForceProgram
            What is to be solved.
        start : (n,) array, optional
            Not used.

        Returns
        -------
        ForceSolution
            The best answer, with its residual in the program as it was given.
        """
        best = unsolved(program, "failed")
        for tolerance in self.tolerances:
            found = self._once(program, tolerance)
            best = min(best, found, key=lambda solution: solution.residual)
            if found.status == "infeasible" or best.residual < self.enough:
                break
        return found if found.status == "infeasible" else best

    def _once(self, program: ForceProgram, tolerance: float) -> ForceSolution:
        r = len(program.e)
        m = len(program.d)
        c = len(program.mu)
        diagonal = program.H.diagonal()
        scale = 1.0 / np.sqrt(
            np.where(diagonal > 0.0, diagonal, 1.0)
        )  # unit costs, as the barrier method has them
        weight = 1.0 / np.maximum(np.linalg.norm(program.E * scale, axis=1), NOTHING)
        sizes = np.concatenate([1.0 / program.scales[:m], np.repeat(1.0 / program.scales[m:], 3)])
        cone_rows, cone_offsets = program.K.copy(), program.k.copy()
        cone_rows[::3] *= program.mu[:, None]
        cone_offsets[::3] *= program.mu
        rows = np.vstack(
            [
                program.E * weight[:, None],
                -sizes[:m, None] * program.D,
                -sizes[m:, None] * cone_rows,
            ]
        )
        right = np.concatenate(
            [program.e * weight, sizes[:m] * program.d, sizes[m:] * cone_offsets]
        )
        found = by_cones(
            ConeProgram(
                program.H * np.outer(scale, scale), program.g * scale, rows * scale, right, r, m, c
            ),
            "the conic solver",
            tolerance=tolerance,
            max_steps=self.max_steps,
        )
        if found.status != "point":
            return unsolved(program, "infeasible" if found.status == "infeasible" else "failed")
        x, z = scale * found.x, found.multipliers
        equality, linear = -weight * z[:r], sizes[:m] * z[r : r + m]
        forces = (sizes[m:] * z[r + m :]).reshape(-1, 3)
        forces[:, 0] *= program.mu
        residual = program.residual(x, equality, linear, forces)
        status = "solved" if residual < LIMIT else "failed"
        return ForceSolution(
            x, status, equality, linear, forces, residual, iterations=found.iterations
        )
