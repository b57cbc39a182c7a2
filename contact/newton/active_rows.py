"""The linear problem of one set of statuses.

Where no status changes, rows rho_i of what must not move answer unknowns x_j along gamma_j:

    presses, slides    rho = l_n,  gamma = l_n + g l_e      friction at its limit, along e
    presses, sticks    rho = gamma = l_n, l_1, l_2
    on a side          and rho = gamma = l_f                along the side, whose normal is e

with the proximal term, (R G^T + eps I) x = -(v + eps (p - centre)). At most three unknowns a
contact; LU with partial pivoting, since sliding is not symmetric. Where there are more unknowns
than degrees of freedom, the same is solved for dy = G^T x.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel
from spatialops.contact.delassus import answer_rows
from spatialops.contact.lu import factor_lu, substitute_lu
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.rows import ContactRows, NewtonScratch
from spatialops.contact.newton.statuses import sliding


@kernel
def gather_rows(rows: ContactRows, scratch: NewtonScratch) -> int:
    """The unknowns of the present statuses, with their rows rho and gamma; how many."""
    count = 0
    for i in range(rows.friction.size):
        parts, tangent = scratch.status[i, at.PARTS], scratch.status[i, at.TANGENT]
        if scratch.status[i, at.NORMAL] == at.PRESSES:
            count = put_pressing(rows, scratch, i, count)
        if tangent == at.STICKS:
            count = put_row(rows, scratch, i, at.ALONG_FIRST, 1.0, 0.0, count)
            if parts & at.HAS_SECOND:
                count = put_row(rows, scratch, i, at.ALONG_SECOND, 0.0, 1.0, count)
        elif tangent == at.AT_SIDE:
            e_x, e_y, _ = sliding(rows, scratch.status, i)
            count = put_row(rows, scratch, i, at.ALONG_SIDE, -e_y, e_x, count)
    return count


@inlined
def put_pressing(rows: ContactRows, scratch: NewtonScratch, i: int, count: int) -> int:
    """The normal of contact i, with the friction that goes with it where it slides."""
    scratch.contacts[count], scratch.parts[count] = i, at.PRESSING
    e_x, e_y, g = sliding(rows, scratch.status, i)
    g *= rows.friction[i]
    for k in range(rows.L.shape[1]):
        scratch.rho[count, k] = rows.L[3 * i, k]
        side = e_x * rows.L[3 * i + 1, k] + e_y * rows.L[3 * i + 2, k]
        scratch.gamma[count, k] = rows.L[3 * i, k] + g * side
    return count + 1


@inlined
def put_row(
    rows: ContactRows, scratch: NewtonScratch, i: int, part: int, x: float, y: float, count: int
) -> int:
    """A tangent of contact i, along (x, y)."""
    scratch.contacts[count], scratch.parts[count] = i, part
    for k in range(rows.L.shape[1]):
        value = x * rows.L[3 * i + 1, k] + y * rows.L[3 * i + 2, k]
        scratch.rho[count, k] = scratch.gamma[count, k] = value
    return count + 1


@kernel
def factor_rows(eps: float, count: int, scratch: NewtonScratch) -> int:
    """Factors of R G^T + eps I, or of G^T R + eps I where that is smaller; returns the rank."""
    rho = scratch.rho
    gamma = scratch.gamma
    M = scratch.M
    nv = rho.shape[1]
    size = min(count, nv)
    for i in range(size):
        scratch.columns[i] = i
        for j in range(size):
            M[i, j] = eps if i == j else 0.0
    if count <= nv:
        for i in range(count):
            for j in range(count):
                total = 0.0
                for k in range(nv):
                    total += rho[i, k] * gamma[j, k]
                M[i, j] += total
    else:
        for c in range(count):
            for i in range(nv):
                factor = gamma[c, i]
                if factor != 0.0:
                    for j in range(nv):
                        M[i, j] += factor * rho[c, j]
    return factor_lu(M, size, 0.0, scratch.order, scratch.columns)


@kernel
def answer_factors(eps: float, count: int, rank: int, scratch: NewtonScratch) -> None:
    """STEP of unknowns for RIGHT: x, or by (G^T R + eps I) dy = G^T b, x = (b - R dy) / eps."""
    right, step = scratch.vectors[at.RIGHT], scratch.vectors[at.STEP]
    order, columns = scratch.order, scratch.columns
    nv = scratch.y.size
    if count <= nv:
        substitute_lu(scratch.M, count, rank, order, columns, right, step)
        return
    for k in range(nv):
        step[k] = 0.0
        for c in range(count):
            step[k] += scratch.gamma[c, k] * right[c]
    substitute_lu(scratch.M, nv, rank, order, columns, step, scratch.y)
    for c in range(count):
        total = right[c]
        for k in range(nv):
            total -= scratch.rho[c, k] * scratch.y[k]
        step[c] = total / eps


@inlined
def component(scratch: NewtonScratch, rows: ContactRows, c: int, vector: Array) -> float:
    """Component of a vector over the contacts' rows that unknown c is."""
    i, part = scratch.contacts[c], scratch.parts[c]
    if part != at.ALONG_SIDE:
        return vector[3 * i + part]
    e_x, e_y, _ = sliding(rows, scratch.status, i)
    return e_x * vector[3 * i + 2] - e_y * vector[3 * i + 1]


@kernel
def solve_rows(
    rows: ContactRows, eps: float, count: int, rank: int, p: Array, scratch: NewtonScratch
) -> None:
    """Newton's step on p, by the factors of the present statuses."""
    right, step = scratch.vectors[at.RIGHT], scratch.vectors[at.STEP]
    v, centre = scratch.vectors[at.VELOCITY], scratch.vectors[at.CENTRE]
    for c in range(count):
        off = component(scratch, rows, c, p) - component(scratch, rows, c, centre)
        right[c] = -component(scratch, rows, c, v) - eps * off
    answer_factors(eps, count, rank, scratch)
    for c in range(count):
        j = 3 * scratch.contacts[c]
        part = scratch.parts[c]
        x = step[c]
        e_x, e_y, g = sliding(rows, scratch.status, scratch.contacts[c])
        if part == at.PRESSING:
            g *= rows.friction[scratch.contacts[c]]
            p[j] += x
            p[j + 1] += g * e_x * x
            p[j + 2] += g * e_y * x
        elif part == at.ALONG_SIDE:
            p[j + 1] -= e_y * x
            p[j + 2] += e_x * x
        else:
            p[j + part] += x


@kernel
def put_velocities(rows: ContactRows, p: Array, v: Array, y: Array) -> None:
    """Velocities u + L L^T p of the rows."""
    answer_rows(rows.L, p, y, v)
    for i in range(p.size):
        v[i] += rows.u[i]
