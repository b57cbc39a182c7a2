"""Islands are solved as if nothing else were there, and one island as if there were no islands."""

import numpy as np
import pytest

from spatialops.contact.friction import directions
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.islands import (
    find_islands,
    islands_in,
    new_buffers,
    room_of,
    solve_islands,
)
from spatialops.contact.newton.residual import residual_of
from spatialops.contact.newton.rows import ContactRows
from spatialops.contact.newton.statuses import find_parts
from spatialops.contact.rows import (
    FIRST_A,
    PLACE_COLUMNS,
    TREE_A,
    TREE_B,
    dense_rows,
)
from tests.contact.newton.test_central import FROM_ZERO, TOLERANCE, random_body, solved
from tests.support.contact_rows import contact_rows_of, dense_of, plain, scratch_of


def joined(parts, order):
    """Bodies' rows as one problem, its contacts in another order."""
    m = [part.friction.size for part in parts]
    tree = np.repeat(np.arange(len(parts)), m)[order]
    L = np.concatenate([dense_of(part).reshape(-1, 18) for part in parts])[order]
    rows = dense_rows(L.reshape(-1, 6))
    rows.places[:, TREE_A] = tree
    rows.places[:, FIRST_A] = 6 * tree
    names = ("friction", "prior", "dry")
    values = (np.concatenate([getattr(part, n) for part in parts])[order] for n in names)
    u = np.concatenate([part.u.reshape(-1, 3) for part in parts])[order].ravel()
    trees = 6 * np.arange(len(parts) + 1)
    return ContactRows(rows, trees, u, *values, directions(4), at.POLYGON)


def test_bodies_apart_are_solved_apart(rng):
    for _ in range(10):
        parts = [random_body(rng)._replace(corners=directions(4)) for _ in range(3)]
        count = sum(part.friction.size for part in parts)
        order = rng.permutation(count)
        rows = joined(parts, order)
        p = np.zeros(3 * count)
        _, residual = solve_islands(rows, FROM_ZERO, p, new_buffers(room_of(rows)))
        assert residual <= TOLERANCE
        back = np.empty((count, 3))
        back[order] = p.reshape(-1, 3)
        start = 0
        for part in parts:
            own = back[start : start + part.friction.size].ravel()
            scratch = scratch_of(part)
            s = find_parts(part, scratch)
            L = dense_of(part)
            v = part.u + L @ (L.T @ own)
            fastest = np.abs(rows.u).max()
            assert residual_of(part, s, fastest, own, v) <= TOLERANCE
            start += part.friction.size


def test_one_island_is_one_problem_to_the_bit(rng):
    rows = random_body(rng)
    p = np.zeros(3 * rows.friction.size)
    found = solve_islands(rows, FROM_ZERO, p, new_buffers(room_of(rows)))
    iterations, residual, alone = solved(rows)
    assert found == (iterations, residual)
    assert np.array_equal(p, alone.ravel())


def test_contacts_of_two_bodies_join_their_islands():
    """Of four trees contacts join 0 to 2 and 2 to 3; one contact is of none."""
    places = np.zeros((5, PLACE_COLUMNS), dtype=np.int64)
    places[:, TREE_A], places[:, TREE_B] = [0, 2, 1, -1, 3], [2, -1, -1, -1, 2]
    islands = plain(islands_in)(np.zeros(4 * 4 + 3 + 10 * 5, dtype=np.int64), 4, 5)
    find_islands(places, islands)
    assert islands.heads.tolist() == [0, 3, 4, 4, 4, 5]
    assert islands.members.tolist() == [0, 1, 4, 2, 3]


def test_what_does_not_move_has_no_impulse_and_is_measured():
    L, u = np.zeros((6, 1)), np.zeros(6)
    L[0, 0] = 1.0
    u[0], u[3] = -1.0, -0.5
    zeros = np.zeros(2)
    rows = contact_rows_of(L, u, zeros, zeros, zeros, directions(4))
    p = np.zeros(6)
    _, residual = solve_islands(rows, FROM_ZERO, p, new_buffers(room_of(rows)))
    assert p == pytest.approx([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert residual == pytest.approx(0.5)


def test_parts_of_the_buffer_lie_side_by_side_and_are_as_long_as_they_must_be(rng):
    parts = [random_body(rng)._replace(corners=directions(4)) for _ in range(3)]
    m, n = sum(part.friction.size for part in parts), len(parts)
    ints = np.arange(new_buffers(room_of(joined(parts, np.arange(m)))).island_ints.size)
    islands = islands_in(ints, n, m)
    sizes = [n, n, n + 2, m, m, m, m * PLACE_COLUMNS, n + 1, m]
    assert [part.size for part in islands] == sizes
    np.testing.assert_array_equal(np.concatenate([part.ravel() for part in islands]), ints)
