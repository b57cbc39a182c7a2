"""The problem of a step or an impact by each formulation, as a dense matrix, without Python.

Of [J] 27, 36, 41 and 53, from what the stepping loop has prepared: poses and velocities in `work`,
the contacts and their velocities without impulses.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel, merged
from spatialops.algebra.vectors import put3, vec3
from spatialops.collision import _layout as col
from spatialops.compare.free_bodies import (
    FreeBodies,
    put_compliance_matrix,
    put_descriptor_matrix,
    state_rows,
)
from spatialops.contact.formulations.operational_space import assemble_kernel
from spatialops.contact.lcp.lemke import covering_vectors
from spatialops.contact.rows import SparseRows, multiply_rows
from spatialops.dynamics.composite_body import composite_body_kernel
from spatialops.dynamics.loops.rows import closure_jacobian
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.model import Model


class Room(NamedTuple):
    """What problems of up to m contacts are stated in; flat ones are cut to each problem's size."""

    tree: IntArray  # tables of the mass matrix, those of `Branches`
    constants: Array
    stripes: Array
    ordered: Array
    mass: Array  # (nv, nv)
    unit: float  # of the mechanism, kg
    terms: IntArray  # (3 m, TERM_INTS), and
    values: Array  # (3 m, TERM_COLUMNS) of the contacts' rows
    G: Array  # flat (3 m, nv)
    GM: Array  # flat (3 m, nv): (M^-1 G*)*
    W: Array  # flat (3 m, 3 m)
    speeds: Array  # (m (n_f + 1),)
    impulses: Array  # of hinges and contacts
    A: Array  # flat, as all that follows
    b: Array
    z: Array
    w: Array
    D: Array
    ints: IntArray
    vectors: Array
    active: IntArray
    covers: Array


def new_room(model: Model, m: int, n_f: int) -> Room:
    """Memory for all formulations."""
    nv, hinges = model.nv, 6 * model.n_bodies - model.nv
    n = 6 * model.n_bodies + hinges + m * (n_f + 2)
    tables = model.branches
    return Room(
        tree=tables.tree,
        constants=tables.constants,
        stripes=tables.workspace(),
        ordered=tables.room(),
        mass=np.empty((nv, nv)),
        unit=float(model.mass),
        terms=np.empty((3 * m, layout.TERM_INTS), dtype=np.int64),
        values=np.zeros((3 * m, layout.TERM_COLUMNS)),
        G=np.empty(3 * m * nv),
        GM=np.empty(3 * m * nv),
        W=np.empty(9 * m * m),
        speeds=np.empty(m * (n_f + 1)),
        impulses=np.empty(hinges + 3 * m),
        A=np.empty(n * n),
        b=np.empty(n),
        z=np.empty(n),
        w=np.empty(n),
        D=np.empty(n * (n + 2)),
        ints=np.empty(6 * (n + 1), dtype=np.int64),
        vectors=np.empty(3 * n),
        active=np.empty(n, dtype=np.int64),
        covers=covering_vectors(n),
    )


@kernel
def put_contact_terms(
    ints: IntArray, floats: Array, m: int, terms: IntArray, values: Array
) -> None:
    """Rows of m contacts of bodies as terms: normal, tangent, tangent."""
    for i in range(m):
        for j in range(3):
            row = 3 * i + j
            terms[row, layout.TERM_ROW] = row
            terms[row, layout.TERM_A] = ints[i, col.CONTACT_A]
            terms[row, layout.TERM_B] = ints[i, col.CONTACT_B]
            put3(values, row, layout.TERM_POINT, vec3(floats, i, col.POINT))
            put3(values, row, layout.TERM_LINEAR, vec3(floats, i, col.NORMAL + 3 * j))


@kernel
def put_cones(A: Array, friction: Array, n_f: int, first: int) -> None:
    """E and [mu, -E*] of [J] 12-15 into zeros, for unknowns from `first` on."""
    m, width = friction.size, n_f + 1
    for i in range(m):
        normal, sigma = first + width * i, first + width * m + i
        A[sigma, normal] = friction[i]
        for f in range(1, width):
            A[normal + f, sigma] = 1.0
            A[sigma, normal + f] = -1.0


@kernel
def factor(M: Array) -> bool:
    """M = L L* in place, in its lower triangle; whether it is positive definite."""
    for j in range(M.shape[0]):
        for i in range(j, M.shape[0]):
            rest = M[i, j]
            for k in range(j):
                rest -= M[i, k] * M[j, k]
            if i > j:
                M[i, j] = rest / M[j, j]
            elif rest > 0.0:
                M[j, j] = math.sqrt(rest)
            else:
                return False
    return True


@kernel
def solve_rows(L: Array, rows: Array) -> None:
    """Rows times (L L*)^-1, in place."""
    n = L.shape[0]
    for r in range(rows.shape[0]):
        for i in range(n):
            for k in range(i):
                rows[r, i] -= L[i, k] * rows[r, k]
            rows[r, i] /= L[i, i]
        for i in range(n - 1, -1, -1):
            for k in range(i + 1, n):
                rows[r, i] -= L[k, i] * rows[r, k]
            rows[r, i] /= L[i, i]


@kernel
def put_reduced(M: Array, G: Array, GM: Array, W: Array) -> bool:
    """[J] 39 without closures: W = G Y G* with Y = M^-1, M factored in place."""
    if not factor(M):
        return False
    for i in range(G.shape[0]):
        for k in range(G.shape[1]):
            GM[i, k] = G[i, k]
    solve_rows(M, GM)
    for i in range(G.shape[0]):
        for j in range(i + 1):
            total = 0.0
            for k in range(G.shape[1]):
                total += G[i, k] * GM[j, k]
            W[i, j] = total
            W[j, i] = total
    return True


@kernel
def put_minimal(
    M: Array, G: Array, v: Array, facets: Array, unit: float, A: Array, b: Array
) -> None:
    """[J] 36 into zeros, without closures and cones: M over `unit`, and -M v, D* G."""
    N, nf = v.size, facets.shape[0]
    for i in range(N):
        b[i] = 0.0
        for k in range(N):
            A[i, k] = M[i, k] / unit
            b[i] -= A[i, k] * v[k]
    for i in range(G.shape[0] // 3):
        for a in range(nf + 1):
            row = N + (nf + 1) * i + a
            for k in range(N):
                along = G[3 * i, k]
                if a > 0:
                    along = facets[a - 1, 0] * G[3 * i + 1, k] + facets[a - 1, 1] * G[3 * i + 2, k]
                A[row, k] = along
                A[k, row] = -along


@kernel
def put_minimal_speeds(A: Array, v: Array, speeds: Array, b: Array) -> None:
    """Speeds of the contacts' rows that are not those of v."""
    for i in range(speeds.size):
        b[v.size + i] = speeds[i]
        for k in range(v.size):
            b[v.size + i] -= A[v.size + i, k] * v[k]


@kernel
def put_zeros(A: Array) -> None:
    """All entries."""
    entries = A.reshape(A.size)
    for i in range(entries.size):
        entries[i] = 0.0


@merged
def state_by_os(t: Tables, room: Room, m: int) -> tuple[int, int, int, float]:
    """[J] 53, W = L L* of the loop's rows: its rows, those free, velocities, and the scale."""
    n = m * (t.facets.shape[0] + 2)
    W = room.W[: 9 * m * m].reshape(3 * m, 3 * m)
    multiply_rows(SparseRows(t.entries, t.places), m, W)
    A = room.A[: n * n].reshape(n, n)
    given = t.u[: 3 * m], t.friction[:m], t.prior[:m]
    return n, 0, 0, assemble_kernel(W, *given, t.facets, A, room.b[:n])


@merged
def state_by_rmc(t: Tables, room: Room, m: int, q: Array) -> tuple[int, int, int, float]:
    """[J] 41, Y = M^-1 by a dense factor: the pendulum has no closures."""
    n, N = m * (t.facets.shape[0] + 2), room.mass.shape[0]
    W = room.W[: 9 * m * m].reshape(3 * m, 3 * m)
    G, GM = room.G[: 3 * m * N].reshape(3 * m, N), room.GM[: 3 * m * N].reshape(3 * m, N)
    composite_body_kernel(room.tree, room.constants, q, room.stripes, room.ordered, room.mass)
    closure_jacobian(t.tree, t.links, t.work, room.terms[: 3 * m], room.values[: 3 * m], G)
    regular = put_reduced(room.mass, G, GM, W)
    A = room.A[: n * n].reshape(n, n)
    given = t.u[: 3 * m], t.friction[:m], t.prior[:m]
    scale = assemble_kernel(W, *given, t.facets, A, room.b[:n])
    return n, 0, 0, scale if regular else math.nan


@merged
def state_by_mc(t: Tables, room: Room, m: int, q: Array, v: Array) -> tuple[int, int, int, float]:
    """[J] 36."""
    N, nf = v.size, t.facets.shape[0]
    n = N + m * (nf + 2)
    A, b = room.A[: n * n].reshape(n, n), room.b[:n]
    G = room.G[: 3 * m * N].reshape(3 * m, N)
    put_zeros(A)
    composite_body_kernel(room.tree, room.constants, q, room.stripes, room.ordered, room.mass)
    closure_jacobian(t.tree, t.links, t.work, room.terms[: 3 * m], room.values[: 3 * m], G)
    put_minimal(room.mass, G, v, t.facets, room.unit, A, b)
    put_minimal_speeds(A, v, room.speeds[: m * (nf + 1)], b)
    put_cones(A, t.friction[:m], nf, N)
    for i in range(m):
        b[n - m + i] = t.friction[i] * t.prior[i] / room.unit
    return n, N, N, 1.0 / room.unit


@merged
def state_by_nmc(t: Tables, room: Room, free: FreeBodies, m: int) -> tuple[int, int, int, float]:
    """[J] 27."""
    nf, n_v = t.facets.shape[0], free.blocks.shape[0]
    terms, values = room.terms[: 3 * m], room.values[: 3 * m]
    rows = state_rows(t.tree, t.links, t.work, terms, values, t.facets, free)
    n, first = n_v + rows + m, n_v + rows - m * (nf + 1)
    A, b = room.A[: n * n].reshape(n, n), room.b[:n]
    put_zeros(A)
    put_descriptor_matrix(free, rows, room.unit, A, b)
    put_cones(A, t.friction[:m], nf, first)
    for i in range(rows):
        along = room.speeds[i + n_v - first] if i + n_v >= first else 0.0
        b[n_v + i] = along - free.speeds[i]
    for i in range(m):
        b[n - m + i] = t.friction[i] * t.prior[i] / room.unit
    return n, first, n_v, 1.0 / room.unit


@merged
def state_by_nmc_os(t: Tables, room: Room, free: FreeBodies, m: int) -> tuple[int, int, int, float]:
    """[J] 53 of free bodies."""
    nf = t.facets.shape[0]
    terms, values = room.terms[: 3 * m], room.values[: 3 * m]
    rows = state_rows(t.tree, t.links, t.work, terms, values, t.facets, free)
    n, first = rows + m, rows - m * (nf + 1)
    A, b = room.A[: n * n].reshape(n, n), room.b[:n]
    put_zeros(A)
    scale = put_compliance_matrix(free, rows, first, A)
    put_cones(A, t.friction[:m], nf, first)
    for i in range(rows):
        b[i] = room.speeds[i - first] if i >= first else free.speeds[i]
    for i in range(m):
        b[n - m + i] = scale * t.friction[i] * t.prior[i]
    return n, first, 0, scale
