"""The central answer outside of the loop, for every formulation of Coulomb's law with polyhedra.

The operational-space problem is solved by Newton's method on statuses (`contact.newton`), its
closures eliminated; the impulses are then put into the formulation's own unknowns and judged by its
own residual. So all formulations answer with one physical motion, also where it is not unique.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops._compile.jit import kernel
from spatialops.contact.formulations.formulation import Formulation
from spatialops.contact.formulations.polyhedron import used_rows
from spatialops.contact.friction import directions
from spatialops.contact.laws.elimination import Elimination
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP, point
from spatialops.contact.lcp.status import Status
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.central import ALL_ATTEMPTS, Aim
from spatialops.contact.newton.islands import new_buffers, room_of, solve_islands
from spatialops.contact.newton.residual import shares
from spatialops.contact.newton.rows import ContactRows
from spatialops.contact.problem import ContactProblem
from spatialops.contact.rows import dense_rows

_TOLERANCE = 1e-9


def central_solution(
    problem: ContactProblem, formulation: Formulation, lcp: MixedLCP, start: Array | None
) -> LCPSolution | None:
    """Central impulses in the unknowns of a formulation, judged by its residual.

    None where it has no room for the unknowns of contacts, or has others in their place.
    """
    n_f = int(getattr(formulation, "n_f", 4))
    forces, rates = used_rows(problem.kinds, n_f)
    count = int(forces.sum() + rates.sum())
    if lcp.size < count:
        return None
    unit = _unit(problem, formulation, lcp.size, count)
    if not unit > 0.0:
        return None
    impulses, after, iterations = _impulses(problem, n_f, start)
    beta = _polyhedral(impulses, n_f)
    sigma = (-after[:, 1:] @ directions(n_f).T).max(axis=1)
    z = np.zeros(lcp.size)
    z[lcp.size - count :] = np.concatenate([beta[forces] / unit, sigma[rates]])
    front = lcp.size - count
    if front:
        z[:front] = _others(lcp, z, front)
    return point(lcp, z, Status.INACCURATE, iterations, "central", _TOLERANCE)


def _impulses(problem: ContactProblem, n_f: int, start: Array | None) -> tuple[Array, Array, int]:
    """Central impulses (m, 3), the velocities (m, 3) after them, and Newton's steps."""
    n_b, m = problem.n_loop_rows, problem.n_contacts
    L, u = problem.response.L, problem.velocities
    rows, own = Elimination(L[:n_b], u[:n_b]).reduce(L[n_b:], u[n_b:])
    own = np.ascontiguousarray(own)
    p, iterations = impulses_of(problem, rows, own, directions(n_f), at.POLYGON, start)
    after = own + rows @ (rows.T @ p.ravel())
    return p, after.reshape(m, 3), iterations


def impulses_of(
    problem: ContactProblem,
    rows: Array,
    own: Array,
    corners: Array,
    law: int,
    start: Array | None,
    tolerance: float = _TOLERANCE,
) -> tuple[Array, int]:
    """Central impulses (m, 3) of contacts with rows of L and velocities; Newton's steps."""
    given = ContactRows(
        dense_rows(rows),
        np.array([0, problem.model.nv]),
        own,
        problem.friction.astype(np.float64),
        problem.prior_normal_impulse.astype(np.float64),
        problem.dry.astype(np.float64),
        corners,
        law,
    )
    p = np.zeros(len(own)) if start is None else start.astype(np.float64).ravel()
    buffers = new_buffers(room_of(given))
    aim = Aim(start is not None, tolerance, ALL_ATTEMPTS, False, False)
    iterations, _ = solve_islands(given, aim, p, buffers)
    return p.reshape(-1, 3), abs(iterations)


def _polyhedral(impulses: Array, n_f: int) -> Array:
    """F_n and beta (m, n_f + 1) of impulses along the frames."""
    result = np.zeros((len(impulses), n_f + 1))
    put_polyhedral(directions(n_f), np.ascontiguousarray(impulses), result)
    return result


@kernel
def put_polyhedral(corners: Array, impulses: Array, result: Array) -> None:
    """Add up what each impulse has along the normal and the directions."""
    for k in range(len(impulses)):
        result[k, 0] = impulses[k, 0]
        first, second, along_first, along_second = shares(corners, impulses[k, 1], impulses[k, 2])
        result[k, 1 + first] += along_first
        result[k, 1 + second] += along_second


def _unit(problem: ContactProblem, formulation: Formulation, size: int, count: int) -> float:
    """Impulse, N s, that one stands for in the unknowns of contacts: as `recover` reads it."""
    z = np.zeros(size)
    z[size - count] = 1.0
    found = formulation.recover(
        problem, LCPSolution(z, np.zeros(size), Status.SOLVED, 0, 0.0, "central")
    )
    return float(np.abs(found.impulses).max())


def _others(lcp: MixedLCP, z: Array, front: int) -> Array:
    """Unknowns before those of contacts, whose rows vanish: velocities, impulses of joints.

    Where they are no free rows they come in pairs along a direction and against it, of which the
    shortest solution has halves of both signs.
    """
    dense = lcp.dense()
    block, right = dense.A[:front, :front], -(dense.b[:front] + dense.A[:front] @ z)
    try:
        found = np.linalg.solve(block, right)
    except np.linalg.LinAlgError:
        found = np.full(front, np.nan)
    if not np.abs(block @ found - right).max() <= 1e-12 * max(np.abs(right).max(), 1e-300):
        found = np.linalg.lstsq(block, right, rcond=None)[0]
    return np.asarray(found) if lcp.n_free else 2.0 * np.maximum(found, 0.0)
