"""Contact without friction: 0 <= p_n _|_ u_n >= 0, by principal pivoting on the normals.

The dry friction of joints is none of contact, and stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from spatialops._arrays import Array, ArrayLike, scalar
from spatialops.contact.laws.law import (
    TOLERANCE,
    LawSolution,
    checked_problem,
    normal_errors,
    of_joints_too,
    unit_compliance,
    verified,
)
from spatialops.contact.laws.no_slip import hold_tangents, pushing
from spatialops.contact.problem import ContactProblem


@dataclass(frozen=True, kw_only=True)
class Frictionless:
    """No friction between bodies, whatever the coefficients are.

    Parameters
    ----------
    tolerance : float, optional
        Largest accepted residual. Default: 1e-9.
    """

    tolerance: float = TOLERANCE

    rigid: ClassVar[bool] = True

    def __post_init__(self) -> None:
        scalar(self.tolerance, "tolerance", low=0.0)

    def solve(self, problem: ContactProblem, warm_start: ArrayLike | None = None) -> LawSolution:
        """Normal impulses.

        Parameters
        ----------
        problem : ContactProblem
            Of one step, an impact, or an instant.
        warm_start : (m, 3) array_like, optional
            Impulses of an earlier problem; contacts that push in it are tried first.

        Returns
        -------
        LawSolution
            `solved` where the residual in the original data is at most `tolerance`.
        """
        start = checked_problem(problem, warm_start)
        none = np.zeros(problem.n_contacts, dtype=bool)
        found = hold_tangents(problem, none, pushing(start))
        s = unit_compliance(problem)

        def conditions(p: Array, u: Array) -> Array:
            errors = np.maximum(normal_errors(s, p, u), s * np.hypot(p[:, 1], p[:, 2]))
            return of_joints_too(problem, s, p, u, errors)

        return verified(
            problem,
            found.impulses,
            found.loop_impulses,
            conditions,
            found.iterations,
            tolerance=self.tolerance,
        )
