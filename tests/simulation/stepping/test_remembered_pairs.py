"""What pairs remember from look to look changes nothing but time."""

import numpy as np
import pytest

from spatialops.bench.contacts import robots
from spatialops.bench.contacts.engines import Ours

STEPS = 40


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["go2", "talos"])
def test_robots_that_touch_themselves_move_as_if_nothing_were_remembered(name):
    setting = robots.limp(name, self_collision=True)
    if setting is None:
        pytest.skip("example-robot-data is not installed")
    loops = [Ours(setting.scene, 1e-3) for _ in range(2)]
    told, asked = loops
    for _ in range(STEPS):
        told.run(1)
        asked.tables.remembered[:, 0] = 0.0
        asked.run(1)
    rows = told.tables.remembered
    assert np.count_nonzero(rows[:, 0]) >= 2
    assert max(loop.residual for loop in loops) <= 1e-9
    np.testing.assert_allclose(told.state.q, asked.state.q, atol=1e-7)
