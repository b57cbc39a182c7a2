"""Islands are solved as if nothing else were there, and one island as if there were no islands."""

import numpy as np
import pytest

from spatialops.contact.friction import directions
from spatialops.contact.newton.islands import label_contacts, new_buffers, solve_islands
from spatialops.contact.newton.residual import residual_of
from spatialops.contact.newton.rows import ContactRows, new_newton_scratch
from spatialops.contact.newton.statuses import find_parts
from tests.contact.newton.test_central import TOLERANCE, random_body, solved


def joined(parts, order):
    """Bodies' rows as one problem, its contacts in another order."""
    m = [part.friction.size for part in parts]
    L = np.zeros((3 * sum(m), 6 * len(parts)))
    row = 0
    for k, part in enumerate(parts):
        L[row : row + 3 * m[k], 6 * k : 6 * k + 6] = part.L
        row += 3 * m[k]
    rows = (3 * order[:, None] + np.arange(3)).ravel()
    names = ("friction", "prior", "dry")
    values = (np.concatenate([getattr(part, n) for part in parts])[order] for n in names)
    u = np.concatenate([part.u for part in parts])[rows]
    return ContactRows(L[rows], u, *values, directions(4))


def test_bodies_apart_are_solved_apart(rng):
    for _ in range(10):
        parts = [random_body(rng)._replace(corners=directions(4)) for _ in range(3)]
        count = sum(part.friction.size for part in parts)
        order = rng.permutation(count)
        rows = joined(parts, order)
        p = np.zeros(3 * count)
        _, residual = solve_islands(rows, False, TOLERANCE, p, new_buffers(count, 18))
        assert residual <= TOLERANCE
        back = np.empty((count, 3))
        back[order] = p.reshape(-1, 3)
        start = 0
        for part in parts:
            own = back[start : start + part.friction.size].ravel()
            scratch = new_newton_scratch(part.friction.size, 6)
            s = find_parts(part, scratch)
            v = part.u + part.L @ (part.L.T @ own)
            fastest = np.abs(rows.u).max()
            assert residual_of(part, s, fastest, own, v) <= TOLERANCE
            start += part.friction.size


def test_one_island_is_one_problem_to_the_bit(rng):
    rows = random_body(rng)
    p = np.zeros(3 * rows.friction.size)
    found = solve_islands(rows, False, TOLERANCE, p, new_buffers(rows.friction.size, 6))
    iterations, residual, alone = solved(rows)
    assert found == (iterations, residual)
    assert np.array_equal(p, alone.ravel())


def test_contacts_of_two_bodies_join_their_islands():
    """Contacts 0 and 1 have columns of their own, 2 has both; 3 does not move at all."""
    L = np.zeros((12, 4))
    L[0, 0] = L[3, 2] = L[7, 0] = L[8, 2] = 1.0
    zeros = np.zeros(4)
    labels, owners = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
    label_contacts(ContactRows(L, np.zeros(12), zeros, zeros, zeros, directions(4)), owners, labels)
    assert labels.tolist() == [0, 0, 0, 7]


def test_what_does_not_move_has_no_impulse_and_is_measured():
    L, u = np.zeros((6, 1)), np.zeros(6)
    L[0, 0] = 1.0
    u[0], u[3] = -1.0, -0.5
    zeros = np.zeros(2)
    rows = ContactRows(L, u, zeros, zeros, zeros, directions(4))
    p = np.zeros(6)
    _, residual = solve_islands(rows, False, TOLERANCE, p, new_buffers(2, 1))
    assert p == pytest.approx([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert residual == pytest.approx(0.5)
