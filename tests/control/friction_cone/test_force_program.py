"""Programs, margins and residuals."""

import numpy as np
import pytest

from spatialops.control import Barrier
from spatialops.control.friction_cone.force_program import unsolved
from spatialops.errors import ArgumentError
from tests.control.cases import force_program, pulled_cone


def test_residuals_tell_a_wrong_answer():
    case = pulled_cone()
    found = Barrier().solve(case)
    moved = case.residuals(
        found.x + np.array([0.0, 0.0, 0.1]), found.equality, found.linear, found.cones
    )
    assert moved["stationarity"] > 1e-3
    assert (
        case.residuals(np.array([3.0, 0.0, 1.0]), found.equality, found.linear, found.cones)[
            "violation"
        ]
        > 1.0
    )


def test_bad_programs_are_refused():
    with pytest.raises(ArgumentError, match="H: expected shape"):
        force_program(np.eye(2), g=np.zeros(3))
    with pytest.raises(ArgumentError, match="mu: expected positive"):
        force_program(np.eye(3), K=np.eye(3), k=np.zeros(3), mu=[0.0])
    with pytest.raises(ArgumentError, match="NaN or infinity"):
        force_program(np.eye(2), g=np.array([np.nan, 0.0]))


def test_margins_cost_and_names():
    case = force_program(
        2.0 * np.eye(3), D=np.eye(3)[:1], d=np.array([1.0]), K=np.eye(3), k=np.zeros(3), mu=[0.5]
    )
    x = np.array([4.0, 0.6, 0.8])
    assert case.cost(x) == x @ x
    assert case.margins(x) == pytest.approx([5.0, 0.5 * 4.0 - 1.0])
    assert case.forces(x).tolist() == [[4.0, 0.6, 0.8]]
    assert case.names == ("limit 0", "cone 0")


def test_an_unsolved_program_has_no_multipliers():
    blank = unsolved(pulled_cone(), "failed")
    assert not blank.solved
    assert blank.residual == np.inf
    assert [len(part) for part in (blank.x, blank.equality, blank.linear, blank.cones)] == [
        3,
        1,
        0,
        1,
    ]
