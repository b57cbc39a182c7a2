"""Conflicts are named, and none of their inequalities can be left out."""

import numpy as np

from spatialops.control import Barrier
from spatialops.control.friction_cone.conflict import only, smallest_conflict
from tests.control.cases import force_program, pulled_cone


def test_conflicts_are_named_and_smallest():
    """x >= 3 and x <= 1 conflict; a third limit has nothing to do with it."""
    case = force_program(
        np.eye(2),
        D=np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]),
        d=np.array([-3.0, 1.0, 2.0]),
        names=("low", "high", "other"),
    )
    found = Barrier().solve(case)
    assert found.status == "infeasible"
    assert np.isclose(found.violation, 1.0, atol=1e-5)  # both give way by 1
    assert set(smallest_conflict(case, case.names)) == {"low", "high"}


def test_the_rest_of_a_program_stays_as_it_is():
    case = force_program(
        np.eye(3),
        E=np.array([[1.0, 0.0, 0.0]]),
        e=np.array([3.0]),
        D=np.eye(3)[:2],
        d=np.array([1.0, 2.0]),
        K=np.eye(3)[[2, 0, 1]],
        k=np.zeros(3),
        mu=[0.5],
        names=("a", "b", "cone"),
        scales=np.array([1.0, 2.0, 3.0]),
    )
    less = only(case, ("b", "cone"))
    assert less.names == ("b", "cone")
    assert less.d.tolist() == [2.0]
    assert less.scales.tolist() == [2.0, 3.0]
    assert less.E is case.E
    bare = only(case, ("a",))
    assert bare.mu.size == 0
    assert bare.K.shape == (0, 3)


def test_a_cone_and_a_limit_conflict():
    """A pull of 3 N needs 6 N of load at mu = 0.5; at most 4 N are allowed."""
    pulled = pulled_cone()
    case = force_program(
        np.eye(3),
        E=pulled.E,
        e=pulled.e,
        D=np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
        d=np.array([4.0, 50.0]),
        K=pulled.K,
        k=pulled.k,
        mu=pulled.mu,
        names=("load", "sideways", "cone"),
    )
    assert set(smallest_conflict(case, case.names)) == {"load", "cone"}
