"""One status for all solvers, each with a message that says what to do."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """How a solve ended.

    Only SOLVED promises a residual within the tolerance; only NO_SOLUTION is a proof.
    """

    SOLVED = 0
    RAY = 1
    PIVOT_LIMIT = 2
    INACCURATE = 3
    INVALID = 4
    NO_SOLUTION = 5
    NOT_APPLICABLE = 6
    ITERATION_LIMIT = 7
    STALLED = 8
    WORK_LIMIT = 9

    @property
    def message(self) -> str:
        """What happened and what to do about it."""
        return _MESSAGES[self]


_MESSAGES = {
    Status.SOLVED: "solved to the required residual",
    Status.RAY: "ended on a ray: the problem may have no solution, or its matrix is of a class "
    "that this method does not process; try solver='auto' or check the signs of A and b",
    Status.PIVOT_LIMIT: "the limit of pivots was reached; raise max_pivots or try solver='auto'",
    Status.INACCURATE: "a point was found but its residual is too large: the problem is badly "
    "scaled or nearly singular; rescale it, or raise the tolerance if the residual is good enough",
    Status.INVALID: "the problem holds NaN or infinity; look at what assembled it",
    Status.NO_SOLUTION: "the problem has no solution (proved, up to rounding): a linear "
    "certificate of infeasibility or the enumeration of all complementary bases says so; look at "
    "the model, or at the signs of A and b",
    Status.NOT_APPLICABLE: "the problem is not of a class that this solver handles; try "
    "solver='auto' or 'lemke'",
    Status.ITERATION_LIMIT: "the limit of iterations was reached before the residual was small "
    "enough; raise it, start nearer to the solution, or try solver='auto'",
    Status.WORK_LIMIT: "the limit of work was reached before the residual was small enough; raise "
    "max_work, or take this point, the best so far, if its residual is good enough",
    Status.STALLED: "no step of any method improves the point any more and it is no solution: "
    "there may be none (contacts that cannot all stop approaching), or the problem is too badly "
    "conditioned; look at the residual and at what the contacts ask for, start elsewhere, or try "
    "solver='auto'",
}
