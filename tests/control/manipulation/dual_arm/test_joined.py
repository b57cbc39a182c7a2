"""Records that follow one another, joined into one."""

import numpy as np

import spatialops as so
from spatialops.control.manipulation.dual_arm.run import joined_runs


def test_joined_records_end_where_the_last_one_does():
    scene = so.models.pendulum(2).scene()
    simulator = so.Simulator(scene, dt=1e-3)
    whole = simulator.run(duration=0.02)
    for every, rows in ((1, 21), (3, 8)):
        first = simulator.run(duration=0.01, record_every=every)
        second = simulator.run(first.final, duration=0.01, record_every=every)
        both = joined_runs([first, second])
        assert np.array_equal(both.final.q, second.final.q)
        assert both.final.time == second.final.time
        assert np.allclose(both.final.q, whole.final.q, rtol=0.0, atol=1e-12)
        assert len(both.times) == rows
        assert (np.diff(both.times) > 0.0).all()
        assert both.metadata["steps"] == 20
