"""One status for all solvers, each with a message that says what to do."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """How a solve ended. Only SOLVED promises a residual within the tolerance."""

    SOLVED = 0
    RAY = 1
    PIVOT_LIMIT = 2
    INACCURATE = 3
    INVALID = 4
    STALLED = 5

    @property
    def message(self) -> str:
        """What happened and what to do about it."""
        return _MESSAGES[self]


_MESSAGES = {
    Status.SOLVED: "solved to the required residual",
    Status.RAY: "ended on a ray: the problem may have no solution, or its matrix is of a class that Lemke's method "
    "does not process; try solver='auto' or check the signs of A and b",
    Status.PIVOT_LIMIT: "the limit of pivots was reached; raise max_pivots or try solver='auto'",
    Status.INACCURATE: "a basis was found but its residual is too large: the problem is badly scaled or nearly "
    "singular; rescale it, or raise the tolerance if the residual is good enough",
    Status.STALLED: "no method reached the required residual: the problem may have no solution (contacts that cannot "
    "all stop approaching) or be too badly conditioned; look at the residual, and at what the contacts ask for",
    Status.INVALID: "the problem holds NaN or infinity; look at what assembled it",
}
