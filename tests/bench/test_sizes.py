"""The command of sizes runs on small ones, and measures what it says."""

import pytest

import spatialops as so
from spatialops.bench import sizes
from spatialops.bench.measure import Effort


@pytest.mark.compiled
def test_rows_of_small_sizes():
    rows = list(sizes.run(Effort(rounds=1, block=1e-6), quick=True))
    assert [row.what for row in rows] == ["a step", "a step", "a contact", "a step"]
    assert all(row.ratio.median > 0.0 for row in rows)
    for row in rows[:3]:
        assert "0 outside" in row.note
        assert float(row.note.split("residual ")[1].split(",")[0]) <= 1e-9


def test_a_long_chain_touches_or_does_not():
    for height, contacts in ((0.0, sizes.CONTACTS), (1.0, 0)):
        scene = sizes.chain_on_balls(64, sizes.CONTACTS, height)
        problem = so.Simulator(scene, dt=sizes.DT).problem(scene.state)
        assert (0 if problem is None else problem.n_contacts) == contacts
