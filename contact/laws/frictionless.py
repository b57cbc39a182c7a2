"""Contact without friction: 0 <= p_n _|_ u_n >= 0, by principal pivoting on the normals.

The dry friction of joints is none of contact, and stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.laws.no_slip import hold_tangents
from spatialops.contact.laws.solution import (
    TOLERANCE,
    LawSolution,
    checked_problem,
    judged,
    normal_errors,
    of_joints_too,
    unit_compliance,
)
from spatialops.contact.problem import ContactProblem


@dataclass(frozen=True, kw_only=True)
class Frictionless:
    """No friction between bodies, whatever the coefficients are.

    Parameters
    ----------
    tolerance : float
        Largest accepted residual.
    """

    tolerance: float = TOLERANCE

    def solve(self, problem: ContactProblem, warm_start: Any = None) -> LawSolution:
        """Solve; contacts that push in `warm_start` (m, 3) are tried first."""
        start = checked_problem(problem, warm_start)
        active = () if start is None else np.flatnonzero(start[:, 0] > 0.0)
        found = hold_tangents(problem, np.zeros(problem.n_contacts, dtype=bool), active)
        s = unit_compliance(problem)

        def conditions(p: Array, u: Array) -> Array:
            errors = np.maximum(normal_errors(s, p, u), s * np.hypot(p[:, 1], p[:, 2]))
            return of_joints_too(problem, s, p, u, errors)

        return judged(
            problem, found.impulses, found.loop_impulses, conditions, found.iterations, tolerance=self.tolerance
        )
