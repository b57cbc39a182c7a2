"""Piles are solved tree by tree: the same linear problems as dense ones."""

import numpy as np
import pytest

from spatialops.contact.friction import directions
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.active_rows import (
    component,
    factor_rows,
    put_rows,
    solve_rows,
)
from spatialops.contact.newton.blocks.structure import analyse
from spatialops.contact.newton.central import ALL_ATTEMPTS, Aim, central_impulses
from spatialops.contact.newton.row_products import put_velocities, spread_out
from spatialops.contact.newton.rows import ContactRows, is_dense
from spatialops.contact.newton.statuses import find_parts, find_statuses, put_on_pieces
from spatialops.contact.newton.unknowns import list_unknowns
from spatialops.contact.rows import (
    COUNT_A,
    COUNT_B,
    FIRST_A,
    FIRST_B,
    PLACE_COLUMNS,
    START,
    TREE_A,
    TREE_B,
    SparseRows,
)
from tests.support.contact_rows import dense_entries, dense_of, scratch_of

TOLERANCE = 1e-9
FROM_ZERO = Aim(False, TOLERANCE, ALL_ATTEMPTS, False, False)


def pile(rng, widths, count, mu=0.5):
    """Contacts between random trees, or with the world, with random rows."""
    n = len(widths)
    trees = np.concatenate([[0], np.cumsum(widths)])
    places = np.zeros((count, PLACE_COLUMNS), dtype=np.int64)
    start = 0
    for i in range(count):
        a, b = rng.choice(n, 2, replace=False)
        b = -1 if rng.uniform() < 0.3 else b
        width_a = rng.integers(1, widths[a] + 1)
        width_b = rng.integers(1, widths[b] + 1) if b >= 0 else 0
        columns = [START, FIRST_A, COUNT_A, FIRST_B, COUNT_B, TREE_A, TREE_B]
        places[i, columns] = [start, trees[a], width_a, trees[max(b, 0)], width_b, a, b]
        start += 3 * (width_a + width_b)
    rows = SparseRows(rng.normal(size=start), places)
    u, zeros = rng.normal(size=3 * count), np.zeros(count)
    return ContactRows(rows, trees, u, np.full(count, mu), zeros, zeros, directions(4), at.POLYGON)


@pytest.mark.parametrize(
    "widths",
    [
        [6] * 14,
        [3, 40, 6, 17, 9],
        [6, 8, 2] * 5,
        [1] * 80,
        pytest.param([6, 110, 30], marks=pytest.mark.compiled),
    ],
)
def test_linear_problems_are_solved_as_dense_ones(rng, widths):
    rows = pile(rng, widths, 40)
    scratch = scratch_of(rows)
    assert not is_dense(rows)
    assert analyse(rows.L.places, rows.trees, scratch.blocks, scratch.blocks_of)
    s = find_parts(rows, scratch)
    spread_out(rows, scratch)
    p, eps = np.abs(rng.normal(size=120)), 0.05 * s
    v = scratch.vectors[at.VELOCITY]
    put_velocities(rows, p, v, scratch)
    find_statuses(rows, eps, 1.0, p, scratch)
    put_on_pieces(rows, p, scratch)
    put_velocities(rows, p, v, scratch)
    scratch.vectors[at.CENTRE] = p
    before = p.copy()
    count = list_unknowns(rows, eps, scratch)
    put_rows(rows, eps, count, scratch)
    factor_rows(rows, eps, count, scratch)
    solve_rows(rows, eps, count, p, scratch.vectors[at.CENTRE], scratch)
    # What must vanish at the answer: v + eps w (p - centre) along every unknown.
    put_velocities(rows, p, v, scratch)
    term = eps * np.repeat(scratch.friction[:, at.WEIGHT], 3)
    left = [
        component(scratch, c, v) + component(scratch, c, term * (p - before)) for c in range(count)
    ]
    assert count > 20
    assert np.abs(left).max() < 1e-11 * np.abs(rows.u).max()


def test_few_contacts_of_long_trees_are_one_problem(rng):
    """A chain of 300 joints and a ball: nobody inverts 300 columns for three contacts."""
    rows = pile(rng, [300, 6], 3)
    assert is_dense(rows)
    p = np.zeros(9)
    _, residual = central_impulses(rows, 0.0, FROM_ZERO, p, scratch_of(rows))
    assert residual <= TOLERANCE


@pytest.mark.parametrize(
    ("widths", "dense"),
    [([6] * 4, True), ([6] * 5, False), ([12, 6, 6, 6], True), ([60, 6], False)],
)
def test_free_bodies_are_eliminated_one_by_one_from_five_on(rng, widths, dense):
    assert is_dense(pile(rng, widths, 40)) == dense


def tower(n, push):
    """A tower of boxes as rows: of unit mass and inertia, every corner a contact."""
    trees = 6 * np.arange(n + 1)
    blocks, places = [], []
    start = 0
    for k in range(n):
        for corner in ((-0.5, -0.5), (-0.5, 0.5), (0.5, -0.5), (0.5, 0.5)):
            own = corner_rows(*corner, -0.5)
            other = corner_rows(*corner, 0.5) if k else np.zeros((3, 0))
            width = 6 + other.shape[1]
            blocks.append(np.concatenate([own, -other], axis=1).ravel())
            places.append([start, 6 * k, 6, 6 * (k - 1), width - 6, k, k - 1])
            start += 3 * width
    m = len(places)
    twists = np.zeros(6 * n)
    twists[5::6] = -0.01  # falling
    twists[3::6] = push
    ints = np.array(places)
    order = [START, FIRST_A, COUNT_A, FIRST_B, COUNT_B, TREE_A, TREE_B]
    table = np.zeros((m, PLACE_COLUMNS), dtype=np.int64)
    table[:, order] = ints
    rows = SparseRows(np.concatenate(blocks), table)
    zeros, u = np.zeros(m), dense_entries(rows, 6 * n) @ twists
    return ContactRows(rows, trees, u, np.full(m, 0.5), zeros, zeros, directions(4), at.POLYGON)


def corner_rows(x, y, z):
    """Normal up and two tangents at a point of a body: [spin, velocity]."""
    axes = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    return np.concatenate([np.cross([x, y, z], axes), axes], axis=1)


@pytest.mark.parametrize("push", [0.0, 1e-4])
def test_a_tower_carries_itself(push):
    """Every box bears those above it, and holds them against a push."""
    rows = tower(12, push)
    assert not is_dense(rows)
    p = np.zeros(3 * rows.friction.size)
    _, residual = central_impulses(rows, 0.0, FROM_ZERO, p, scratch_of(rows))
    assert residual <= TOLERANCE
    L = dense_of(rows)
    assert np.abs(rows.u + L @ (L.T @ p)).max() < 1e-10
    above = np.arange(12, 0, -1)
    forces = p.reshape(12, 4, 3)
    assert forces.sum(axis=1) == pytest.approx(
        np.stack([0.01 * above, -push * above, 0.0 * above], axis=1), abs=1e-11
    )
    if push == 0.0:
        assert forces[:, :, 0] == pytest.approx(np.tile(0.0025 * above, (4, 1)).T, rel=1e-9)
