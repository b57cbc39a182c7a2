"""Force programs in their second-order cone form, by Clarabel: an independent check of the barrier method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from spatialops._arrays import Array
from spatialops.control.friction_cone_problem import ForceProgram, ForceSolution, unsolved
from spatialops.errors import MissingLibraryError


@dataclass(frozen=True, kw_only=True)
class Conic:
    """Clarabel, which comes with ``spatialops[qp]``.

    Parameters
    ----------
    tolerances : tuple of float
        Of feasibility and gap, absolute and relative, tried in turn until the residual is below `enough`: asked for too
        much the library may lose what it had. The best answer counts.
    enough : float
    max_steps : int

    Raises
    ------
    MissingLibraryError
        By `solve`, if the library is not installed.
    """

    tolerances: tuple[float, ...] = (1e-14, 1e-12, 1e-10)
    enough: float = 1e-11
    max_steps: int = 200

    def solve(self, program: ForceProgram, start: Array | None = None) -> ForceSolution:
        """Solve; `start` is not used."""
        best = unsolved(program, "failed")
        for tolerance in self.tolerances:
            found = self._once(program, tolerance)
            best = min(best, found, key=lambda solution: solution.residual)
            if found.status == "infeasible" or best.residual < self.enough:
                break
        return found if found.status == "infeasible" else best

    def _once(self, program: ForceProgram, tolerance: float) -> ForceSolution:
        try:
            import clarabel
        except ImportError as error:
            raise MissingLibraryError("the conic solver needs clarabel: pip install 'spatialops[qp]'") from error
        r, m, c = len(program.e), len(program.d), len(program.mu)
        diagonal = program.H.diagonal()
        scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))  # unit costs, as the barrier method has them
        weight = 1.0 / np.maximum(np.linalg.norm(program.E * scale, axis=1), 1e-300)
        sizes = np.concatenate([1.0 / program.scales[:m], np.repeat(1.0 / program.scales[m:], 3)])
        cone_rows, cone_offsets = program.K.copy(), program.k.copy()
        cone_rows[::3] *= program.mu[:, None]
        cone_offsets[::3] *= program.mu
        rows = np.vstack([program.E * weight[:, None], -sizes[:m, None] * program.D, -sizes[m:, None] * cone_rows])
        right = np.concatenate([program.e * weight, sizes[:m] * program.d, sizes[m:] * cone_offsets])
        cones = [clarabel.ZeroConeT(r)] * (r > 0) + [clarabel.NonnegativeConeT(m)] * (m > 0)
        cones += [clarabel.SecondOrderConeT(3)] * c
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_iter = False, self.max_steps
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        quadratic = scipy.sparse.csc_matrix(np.triu(program.H * np.outer(scale, scale)))
        answer = clarabel.DefaultSolver(
            quadratic, program.g * scale, scipy.sparse.csc_matrix(rows * scale), right, cones, settings
        ).solve()
        status = str(answer.status)
        if "PrimalInfeasible" in status:
            return unsolved(program, "infeasible")
        x, z = scale * np.asarray(answer.x), np.asarray(answer.z)
        if not (np.isfinite(x).all() and np.isfinite(z).all()):
            return unsolved(program, "failed")
        equality, linear = -weight * z[:r], sizes[:m] * z[r : r + m]
        forces = (sizes[m:] * z[r + m :]).reshape(-1, 3)
        forces[:, 0] *= program.mu
        residual = max(program.residuals(x, equality, linear, forces).values())
        judged = "solved" if residual < 1e-6 else "failed"
        return ForceSolution(x, judged, equality, linear, forces, residual, iterations=int(answer.iterations))
