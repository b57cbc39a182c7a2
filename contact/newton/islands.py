"""Islands: contacts whose rows share no degree of freedom with others' do not feel each other.

Contacts i and j are coupled by L_i L_j^T, which is zero where no column of L has entries of both.
Each island is solved by itself, from its own rows and columns alone; residuals are measured by the
fastest of all rows, as those of one problem would be.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.contact.newton.central import central_impulses
from spatialops.contact.newton.rows import ContactRows, newton_room, newton_scratch


class Buffers(NamedTuple):
    """What islands are cut into, and what each is solved in."""

    newton_ints: IntArray
    newton_floats: Array
    island_ints: IntArray  # owners of columns, labels and places of contacts, columns
    island_floats: Array  # rows of L; then u, impulses, friction, prior and dry of contacts


def new_buffers(m: int, nv: int) -> Buffers:
    """Buffers for up to m contacts of a mechanism of nv degrees of freedom."""
    ints, floats = newton_room(m, nv)
    return Buffers(
        np.zeros(ints, dtype=np.int64),
        np.zeros(floats),
        np.zeros(2 * nv + 2 * m, dtype=np.int64),
        np.zeros(3 * m * nv + 9 * m),
    )


@kernel
def solve_islands(
    rows: ContactRows, warm: bool, tolerance: float, p: Array, buffers: Buffers
) -> tuple[int, float]:
    """`central_impulses` of every island: iterations, negative where one began at zero again.

    And the largest residual.
    """
    m = rows.friction.size
    nv = rows.L.shape[1]
    labels = buffers.island_ints[nv : nv + m]
    label_contacts(rows, buffers.island_ints[:nv], labels)
    one = True
    fastest = 0.0
    for i in range(m):
        one = one and labels[i] == labels[0]
        for j in range(3):
            fastest = max(fastest, abs(rows.u[3 * i + j]))
    if one:
        scratch = newton_scratch(buffers.newton_ints, buffers.newton_floats, m, nv)
        return central_impulses(rows, 0.0, warm, tolerance, p, scratch)
    total = 0
    worst = 0.0
    stayed = True
    for i in range(m):
        if is_first(labels, i):
            count, residual = solve_island(rows, i, fastest, warm, tolerance, p, buffers)
            total += abs(count)
            stayed = stayed and count >= 0
            worst = max(worst, residual if residual == residual else 1e300)
    return (total if stayed else -total), worst


@inlined
def is_first(labels: IntArray, i: int) -> bool:
    """Whether no contact before has the label of contact i."""
    first = True
    for j in range(i):
        first = first and labels[j] != labels[i]
    return first


@inlined
def owner_of(owners: IntArray, k: int) -> int:
    """First column of the island of column k."""
    while owners[k] != k:
        k = owners[k]
    return k


@kernel
def label_contacts(rows: ContactRows, owners: IntArray, labels: IntArray) -> None:
    """Union-find over the columns of L: labels are first columns, or none's where nothing moves."""
    nv = owners.size
    for k in range(nv):
        owners[k] = k
    for i in range(labels.size):
        label = nv + i
        for k in range(nv):
            for j in range(3):
                if rows.L[3 * i + j, k] == 0.0:
                    continue
                root = owner_of(owners, k)
                if label < nv:
                    label, other = min(label, root), max(label, root)
                    owners[other] = label
                else:
                    label = root
        labels[i] = label
    for i in range(labels.size):
        if labels[i] < nv:
            labels[i] = owner_of(owners, labels[i])


@kernel
def solve_island(
    rows: ContactRows,
    first: int,
    fastest: float,
    warm: bool,
    tolerance: float,
    p: Array,
    buffers: Buffers,
) -> tuple[int, float]:
    """The island of a contact: its rows and columns copied, solved, its impulses put back."""
    m = rows.friction.size
    nv = rows.L.shape[1]
    ints, floats = buffers.island_ints, buffers.island_floats
    labels, contacts = ints[nv : nv + m], ints[nv + m : nv + 2 * m]
    columns = ints[nv + 2 * m : 2 * nv + 2 * m]
    count, width = 0, 0
    for i in range(m):
        if labels[i] == labels[first]:
            contacts[count] = i
            count += 1
    for k in range(nv):
        if owner_of(ints[:nv], k) == labels[first]:
            columns[width] = k
            width += 1
    n, start = 3 * count, 3 * count * width
    L = floats[:start].reshape(n, width)
    u, own = floats[start : start + n], floats[start + n : start + 2 * n]
    of_contacts = floats[start + 2 * n : start + 3 * n].reshape(3, count)
    for c in range(count):
        i = contacts[c]
        of_contacts[0, c], of_contacts[1, c] = rows.friction[i], rows.prior[i]
        of_contacts[2, c] = rows.dry[i]
        for j in range(3):
            u[3 * c + j], own[3 * c + j] = rows.u[3 * i + j], p[3 * i + j]
            for k in range(width):
                L[3 * c + j, k] = rows.L[3 * i + j, columns[k]]
    island = ContactRows(L, u, of_contacts[0], of_contacts[1], of_contacts[2], rows.corners)
    scratch = newton_scratch(buffers.newton_ints, buffers.newton_floats, count, width)
    iterations, residual = central_impulses(island, fastest, warm, tolerance, own, scratch)
    for c in range(count):
        for j in range(3):
            p[3 * contacts[c] + j] = own[3 * c + j]
    return iterations, residual
