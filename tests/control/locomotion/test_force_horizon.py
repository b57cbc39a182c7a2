"""The program of many forces, against daqp and its own conditions."""

import numpy as np
import pytest

from spatialops.contact.qp import QuadraticProgram, by_daqp
from spatialops.control.locomotion.force_horizon import (
    NO_POINT,
    floats_of,
    force_horizon,
    ints_of,
    room_in,
)

CONE = np.array(
    [[-1.0, 0.0, 0.35], [1.0, 0.0, 0.35], [0.0, -1.0, 0.35], [0.0, 1.0, 0.35], [0.0, 0.0, 1.0]]
)
BOUNDS = np.array([[0.0] * 5, [np.inf] * 4 + [1.5]])


def solved(H, c):
    x = np.empty(len(c))
    rows = len(CONE)
    floats, ints = np.empty(floats_of(len(c))), np.empty(ints_of(len(c), rows), dtype=np.int64)
    room = room_in(floats, ints, len(c), rows)
    steps = force_horizon(np.triu(H), c, CONE, BOUNDS, x, room)
    return steps, x


def random_program(rng, count, pull):
    """Few directions cost much, and all of them a little."""
    B = rng.normal(size=(count + 3, 3 * count))
    H = B.T @ B + 1e-3 * np.eye(3 * count)
    return H, pull * rng.normal(size=3 * count)


@pytest.mark.parametrize("pull", [0.0, 0.3, 3.0, 30.0])
def test_it_is_the_least_of_all_that_cones_allow(pull):
    daqp = pytest.importorskip("daqp")
    assert daqp
    rng = np.random.default_rng(int(10 * pull))
    most = 0
    for count in (1, 2, 4):
        for _ in range(5):
            H, c = random_program(rng, count, pull)
            steps, x = solved(H, c)
            each = np.eye(count)
            G = np.vstack([np.kron(each, CONE[k : k + 1]) for k in range(5)])
            low, high = (np.repeat(BOUNDS[side], count) for side in (0, 1))
            program = QuadraticProgram(H, c, G, low, high)
            other = by_daqp(program, "a test", primal=1e-10, dual=1e-10, proximal=0.0)
            assert other.status == "point"
            values = x.reshape(-1, 3) @ CONE.T
            assert (values >= BOUNDS[0] - 1e-8).all()
            assert (values <= BOUNDS[1] + 1e-8).all()
            assert np.abs(x - other.x).max() < 1e-6 * (1.0 + np.abs(x).max())
            most = max(most, steps)
    assert (most > 3) == (pull > 0.0)


def test_a_free_minimum_within_all_cones_takes_no_step():
    H = np.diag([2.0, 2.0, 2.0])
    steps, x = solved(H, -H @ [0.1, -0.1, 1.0])
    assert steps == 0
    assert x == pytest.approx([0.1, -0.1, 1.0])


def test_a_cost_without_a_minimum_is_refused():
    assert solved(np.zeros((3, 3)), np.ones(3))[0] == NO_POINT
    assert solved(np.full((3, 3), np.nan), np.ones(3))[0] == NO_POINT
