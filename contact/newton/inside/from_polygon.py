"""To the exact cone from an answer for a polygon.

The interior-point method knows corners, not circles. From an answer for a polygon Newton's method
finds that on the exact cone less often than from zero, but where it finds none from zero it mostly
does from there: of 27 problems of logs and ropes, 48 to 102 contacts, 18 are solved from zero and
23 with a polygon behind it. What is left goes to solvers outside, which take seconds.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.apart import VECTOR, late, types
from spatialops._compile.jit import inlined
from spatialops._compile.references import refer
from spatialops.algebra.vectors import copy_into
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.inside.interior_point import (
    CAREFUL,
    FASTEST,
    has_columns,
    interior_impulses,
)
from spatialops.contact.newton.proximal import proximal_steps
from spatialops.contact.newton.rows import (
    PROBLEM,
    SCRATCH,
    ContactRows,
    NewtonScratch,
    Problem,
    is_one_tree,
)
from spatialops.contact.newton.statuses import find_parts
from spatialops.contact.rows import SparseRows

# Of those 27 a term of 1e-3 finds 13 by the first way, this one 19, and 21 by both ways.
_TERM = 3e-2
_IN_ALL, _ABOUT_ONE = 300, 60


@inlined
def has_polygon(rows: ContactRows) -> bool:
    """Whether a polygon may stand for the law: for exact cones without moments."""
    return rows.law == at.CONE and rows.owners.size == 0 and has_columns(rows)


@late(PROBLEM, types.float64, types.float64, VECTOR, SCRATCH)
def from_polygon(
    problem: Problem, tolerance: float, least: float, p: Array, scratch: NewtonScratch
) -> tuple[int, float]:
    """Impulses from those for the polygon; iterations and residual.

    Where they are no answer p stays, whose residual is `least`, unless they are a better one.
    """
    rows = problem.rows
    best = scratch.vectors[at.KEPT]
    copy_into(best, p)
    polygon = refer(
        ContactRows(
            SparseRows(rows.L.entries, rows.L.places),
            rows.trees,
            rows.u,
            rows.friction,
            rows.prior,
            rows.dry,
            rows.corners,
            at.POLYGON,
            rows.owners,
            rows.statuses,
            rows.moves,
        )
    )
    total = 0
    for way in (FASTEST, CAREFUL):
        for i in range(p.size):
            p[i] = 0.0
        total += interior_impulses(polygon, problem.s, problem.scale, way, p, scratch)
        find_parts(rows, scratch)
        limits = (_IN_ALL, _ABOUT_ONE, is_one_tree(rows))
        count, residual = proximal_steps(problem, _TERM, 1.0, limits, False, tolerance, p, scratch)
        total += count
        if residual < least:
            least = residual
            copy_into(best, p)
        if least <= tolerance:
            break
    copy_into(p, best)
    return total, least
