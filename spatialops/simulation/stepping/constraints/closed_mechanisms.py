"""Rows of closures, factored mechanism by mechanism, and what these do to contacts.

Each closed mechanism has rows, columns and factors of its own (`scene/mechanisms.py`). Contacts see
the closures answer through their rows of L: the free rows of [J] 53 are eliminated ([J] 37-41)
before the complementarity problem is made.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel
from spatialops._compile.stage import stage
from spatialops.algebra.memory import matrix
from spatialops.contact.rows import COUNT_A, FIRST_A, START, TREE_A, width_of
from spatialops.dynamics.loops.elimination import (
    TOLERANCE,
    agree,
    clear_held,
    combine_rows,
    coordinates_of,
    factor_rows,
    multipliers_of,
    project_entries,
    square_at,
)
from spatialops.dynamics.loops.rows import closure_rows
from spatialops.dynamics.loops.terms import put_terms
from spatialops.dynamics.response import velocities_from
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.tables import Tables


@inlined
def rank_of(t: Tables, g: int) -> int:
    """Independent rows of mechanism g, as factored last."""
    return int(t.closure_vectors[at.RANKS, g])


@kernel
def factor_loops(t: Tables, work: Array, whole: bool, tolerance: float) -> None:
    """Terms, rows and factors of all closures.

    Poses and the factors of the articulated-body pass must be in `work`. Where they are not the
    `whole`, rows are as many as were independent at the last closed configuration.
    """
    put_terms(t.tree, t.loop_ints, t.loops, t.ratios, t.term_ints, work, t.terms)
    total = 0
    for g in range(t.mechanisms.shape[0]):
        most = t.mechanisms[g, at.CLOSED_ROWS]
        if not whole:
            most = int(t.closure_vectors[at.INDEPENDENT, g])
        total += factor_mechanism(t, work, g, most, tolerance)
    t.control[at.RANK] = total


@inlined
def factor_mechanism(t: Tables, work: Array, g: int, most: int, tolerance: float) -> int:
    """The same of one mechanism; its rank."""
    row, rows = t.mechanisms[g, at.CLOSED_ROW], t.mechanisms[g, at.CLOSED_ROWS]
    column, columns = t.mechanisms[g, at.CLOSED_COLUMN], t.mechanisms[g, at.CLOSED_COLUMNS]
    place, square = t.mechanisms[g, at.CLOSED_PLACE], t.mechanisms[g, at.CLOSED_SQUARE]
    term = t.mechanisms[g, at.CLOSED_TERM]
    end = term + t.mechanisms[g, at.CLOSED_TERMS]
    L, corner = matrix(t.closure_rows, place, rows, columns), (row, column)
    closure_rows(t.tree, t.links, work, t.term_ints[term:end], t.terms[term:end], corner, L)
    rank = factor_rows(
        L,
        most,
        tolerance,
        matrix(t.basis, place, rows, columns),
        matrix(t.left, square, rows, rows),
        matrix(t.right, square, rows, rows),
        t.order[row : row + rows],
        t.closure_vectors[at.LENGTHS, row : row + rows],
        t.closure_vectors[at.LEFT, row : row + rows],
    )
    t.closure_vectors[at.RANKS, g] = rank
    return rank


@kernel
def answer(t: Tables, work: Array, wanted: int, dv: Array, forces: int) -> None:
    """The least motion dv with G dv = u, and its multipliers; u and these are closure vectors.

    Uses the acceleration columns of `work`.
    """
    for k in range(dv.size):
        dv[k] = 0.0
    for g in range(t.mechanisms.shape[0]):
        row, rows = t.mechanisms[g, at.CLOSED_ROW], t.mechanisms[g, at.CLOSED_ROWS]
        column, columns = t.mechanisms[g, at.CLOSED_COLUMN], t.mechanisms[g, at.CLOSED_COLUMNS]
        place, square = t.mechanisms[g, at.CLOSED_PLACE], t.mechanisms[g, at.CLOSED_SQUARE]
        Z, R = matrix(t.left, square, rows, rows), matrix(t.right, square, rows, rows)
        order, rank = t.order[row : row + rows], rank_of(t, g)
        u = t.closure_vectors[wanted, row : row + rows]
        parts = t.closure_vectors[at.PARTS, row : row + rows]
        coordinates_of(Z, R, order, rank, u, parts)
        basis = matrix(t.basis, place, rows, columns)
        combine_rows(basis, rank, parts, dv[column : column + columns])
        along = t.closure_vectors[forces, row : row + rows]
        multipliers_of(Z, R, order, rank, parts, along)
    velocities_from(t.tree, t.links, work, dv)


@kernel
def agree_with_taken(t: Tables, wanted: int) -> None:
    """Make of wanted velocities, a closure vector, those that the independent rows ask for.

    Contacts' rows have no part along these: then neither have their velocities.
    """
    for g in range(t.mechanisms.shape[0]):
        row, rows = t.mechanisms[g, at.CLOSED_ROW], t.mechanisms[g, at.CLOSED_ROWS]
        square, end = t.mechanisms[g, at.CLOSED_SQUARE], row + rows
        agree(
            matrix(t.left, square, rows, rows),
            matrix(t.right, square, rows, rows),
            t.order[row:end],
            rank_of(t, g),
            t.closure_vectors[wanted, row:end],
            t.closure_vectors[at.PARTS, row:end],
        )


@stage
def project_contacts(t: Tables, m: int) -> None:
    """Rows of L of m contacts as they are with the closures answering.

    The factors of the tree must be in `work`.
    """
    factor_loops(t, t.work, False, TOLERANCE)
    for i in range(m):
        width = width_of(t.places, i)
        for j in range(3):
            project_contact(t, i, t.places[i, START] + j * width, t.contact_parts[3 * i + j])


@inlined
def project_contact(t: Tables, i: int, place: int, parts: Array) -> None:
    """The same of a row of contact i that begins at a place."""
    width = width_of(t.places, i)
    whole = square_at(t.entries, place, width)
    parts[:] = 0.0
    for _ in range(2):
        project_side(t, i, 0, place, parts)
        project_side(t, i, 1, place + t.places[i, COUNT_A], parts)
    clear_held(t.entries, place, width, whole)


@inlined
def project_side(t: Tables, i: int, side: int, place: int, parts: Array) -> None:
    """The same of its columns of one tree."""
    g = mechanism_at(t, i, side)
    if g < 0:
        return
    row, rows = t.mechanisms[g, at.CLOSED_ROW], t.mechanisms[g, at.CLOSED_ROWS]
    at_basis, columns = t.mechanisms[g, at.CLOSED_PLACE], t.mechanisms[g, at.CLOSED_COLUMNS]
    first = t.places[i, FIRST_A + 2 * side] - t.mechanisms[g, at.CLOSED_COLUMN]
    within = first, first + t.places[i, COUNT_A + 2 * side]
    basis = matrix(t.basis, at_basis, rows, columns)
    own = parts[row : row + rows]
    project_entries(basis, rank_of(t, g), t.entries, place, within, own)


@inlined
def mechanism_at(t: Tables, i: int, side: int) -> int:
    """The closed mechanism that acting contact i is on, on one of its sides; -1: on none."""
    tree = t.places[i, TREE_A + side]
    return t.mechanism_of[tree] if tree >= 0 else -1


@stage
def add_reactions(t: Tables, m: int) -> None:
    """Add to the closures' forces their answer to the impulses of m contacts, over the piece."""
    parts = t.closure_vectors[at.PARTS]
    parts[:] = 0.0
    for i in range(m):
        first, second = mechanism_at(t, i, 0), mechanism_at(t, i, 1)
        add_parts(t, i, first, parts)
        if second != first:
            add_parts(t, i, second, parts)
    for g in range(t.mechanisms.shape[0]):
        row, rows = t.mechanisms[g, at.CLOSED_ROW], t.mechanisms[g, at.CLOSED_ROWS]
        square, end = t.mechanisms[g, at.CLOSED_SQUARE], row + rows
        multipliers_of(
            matrix(t.left, square, rows, rows),
            matrix(t.right, square, rows, rows),
            t.order[row:end],
            rank_of(t, g),
            parts[row:end],
            t.closure_vectors[at.OTHER_FORCES, row:end],
        )
    for i in range(parts.size):
        t.closure_vectors[at.FORCES, i] += (
            t.closure_vectors[at.OTHER_FORCES, i] / t.monitor[at.PIECE]
        )


@inlined
def add_parts(t: Tables, i: int, g: int, parts: Array) -> None:
    """What the impulses of contact i do along the basis of mechanism g, if any, taken off."""
    if g < 0:
        return
    row = t.mechanisms[g, at.CLOSED_ROW]
    for j in range(row, row + rank_of(t, g)):
        for k in range(3 * i, 3 * i + 3):
            parts[j] -= t.contact_parts[k, j] * t.impulses[k]
