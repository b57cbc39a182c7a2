"""Torsional and rolling friction in the loop's tables.

Moments stand behind the contacts as contacts of their own.

Such a row has the point and the frame of its contact, the spins in place of velocities and the rows
of L that belong to them, so that everything the loop does with impulses (velocities, energies,
closures) it does with moments too. Its pair is -1 - pair: what reads the tables tells moments from
impulses by that.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.collision import _layout as col
from spatialops.contact.problem import ContactProblem
from spatialops.contact.rows import COUNT_A, COUNT_B, FIRST_A, FIRST_B, START
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.tables import Tables


def with_moments(problem: ContactProblem) -> IntArray:
    """Contacts that have torsional or rolling friction."""
    return np.flatnonzero((problem.torsion > 0.0) | (problem.rolling > 0.0))


def put_moments(t: Tables, problem: ContactProblem, moments: Array) -> None:
    """Impulses of moments (m, 3) along the contacts' frames as rows behind the acting contacts.

    There must be room.
    """
    m, chosen = problem.n_contacts, with_moments(problem)
    count = m + len(chosen)
    rows = slice(3 * m, 3 * count)
    t.ints[m:count], t.floats[m:count] = t.ints[chosen], t.floats[chosen]
    t.ints[m:count, col.CONTACT_PAIR] = -1 - t.ints[chosen, col.CONTACT_PAIR]
    t.floats[m:count, [col.MU, col.RESTITUTION]] = 0.0
    spins = (problem.spin_jacobian @ problem.velocity).reshape(m, 3)[chosen]
    t.floats[m:count, col.APPROACH : col.APPROACH + 3] = spins
    L, rank = (
        problem.spin_response.reshape(m, 3, problem.model.nv)[chosen].reshape(-1, problem.model.nv),
        t.control[at.RANK],
    )
    if len(t.loops):
        parts = L @ t.basis[:rank].T  # as `project_contacts`: the closures answer
        L = L - parts @ t.basis[:rank]
        t.contact_parts[rows, :rank] = parts
    put_spin_rows(t, m, chosen, L)
    t.impulses[rows] = moments[chosen].ravel()
    t.prior[m:count] = 0.0
    t.control[at.ACTING], t.control[at.MOMENTS] = count, len(chosen)


def put_spin_rows(t: Tables, m: int, chosen: IntArray, L: Array) -> None:
    """Rows (3 k, nv) of the spins of chosen contacts behind those of m: they move what these do."""
    for i, own in enumerate(chosen.tolist()):
        before = t.places[m + i - 1]
        t.places[m + i] = t.places[own]
        t.places[m + i, START] = before[START] + 3 * (before[COUNT_A] + before[COUNT_B])
        spans = ((FIRST_A, COUNT_A), (FIRST_B, COUNT_B))
        place = t.places[m + i]
        columns = [np.arange(place[first], place[first] + place[count]) for first, count in spans]
        values = L[3 * i : 3 * i + 3, np.concatenate(columns)].ravel()
        t.entries[place[START] : place[START] + values.size] = values
