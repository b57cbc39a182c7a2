"""Which modes of contacts are asked for."""

import numpy as np
import pytest

from spatialops.simulation.event_driven.mode_selection import _no_p_matrix


@pytest.mark.parametrize("unit", [1.0, 1e-4, 1e4])
@pytest.mark.parametrize(("coupling", "paradox"), [(0.9, False), (1.1, True)])
def test_minors_are_relative_to_the_frictionless_contacts(coupling, paradox, unit):
    size = unit * np.array([1.0, 100.0])
    A = np.array([[1.0, coupling], [coupling, 1.0]]) * np.sqrt(np.outer(size, size))
    assert _no_p_matrix(A, size, np.array([0, 1])) is paradox
    assert not _no_p_matrix(A, size, np.array([0]))


def test_a_minor_that_may_be_rounding_is_none():
    size = np.array([1e-4, 1e4])
    for minor, paradox in ((-1e-10, False), (-1e-8, True)):
        A = np.diag(size * [1.0, minor])
        assert _no_p_matrix(A, size, np.array([0, 1])) is paradox


def test_of_many_sliding_contacts_the_diagonal_is_looked_at():
    A = np.eye(9)
    assert not _no_p_matrix(A, np.ones(9), np.arange(9))
    A[4, 4] = -0.1
    assert _no_p_matrix(A, np.ones(9), np.arange(9))
