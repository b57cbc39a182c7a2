"""Nuts are turned off by contact, and the wheel comes off when nothing holds it any more."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control.manipulation.dual_arm import nut_removal, nut_report, nut_run, wheel_removal
from spatialops.control.manipulation.dual_arm.run import run_task


def test_a_nut_keeps_its_pose_and_its_motion_where_its_thread_ends():
    before = nut_removal.nut_scene().model
    after = nut_removal.nut_scene((True, True, False, True)).model
    rng = np.random.default_rng(4)
    state = so.State(before.random(rng), rng.normal(size=before.nv), 3.0)
    state.q[before.q_slice("nut2")] = 60.0
    other = nut_run.carried_over(before, state, after)
    assert other.time == 3.0
    assert after.nv == before.nv + 5
    nodes = [so.Node(name, (0.01, 0.02, -0.03)) for name in before.body_names]
    stood = so.node_positions(before, state.q, nodes), so.node_positions(after, other.q, nodes)
    np.testing.assert_allclose(stood[1], stood[0], rtol=0.0, atol=1e-13)
    moved = (
        so.node_velocities(before, state.q, state.v, nodes),
        so.node_velocities(after, other.q, other.v, nodes),
    )
    np.testing.assert_allclose(moved[1], moved[0], rtol=0.0, atol=1e-12)


def test_nuts_stand_where_they_touch_nothing():
    scene = nut_removal.nut_removal().scene
    found = so.Simulator(scene).run(duration=0.01)
    touched = {name for p in found.contact_records[:, 1] for name in scene.pair_names(int(p))}
    assert not any(name.startswith("nut") for name in touched)


def test_pairs_have_the_same_numbers_in_all_scenes():
    """Contacts of the last step of one scene are read in the first of the next."""
    whole = nut_removal.nut_scene()
    for threaded in ((False, True, True, True), (False,) * 4):
        np.testing.assert_array_equal(nut_removal.nut_scene(threaded).pairs, whole.pairs)


def test_every_nut_has_its_phases():
    names = [phase.name for phase in nut_removal.phases()]
    for i in range(nut_removal.N_NUTS):
        assert names.count(f"{nut_removal.TURN_OFF} {i}") == 1
    assert len(set(names)) == len(names)


@pytest.mark.slow
@pytest.mark.compiled
def test_nuts_and_the_wheel_come_off():
    run = nut_run.run_nuts()
    verdict = nut_report.judge(run)
    assert verdict.faults == []
    assert len(run.spans) == 5
    whole_turns = nut_removal.TRAVEL / 1.75e-3
    assert np.allclose(verdict.turns, whole_turns, rtol=0.0, atol=0.01)
    assert verdict.screwing < 1e-15
    for torque in verdict.torque:  # and what still speeds the nut up, by the median
        assert torque == pytest.approx(nut_removal.THREAD_TORQUE, rel=1e-5)
    for span in run.spans:
        assert span.record.penetrations.max() < 1e-4
        assert span.record.residuals.max() < 1e-8
    task = nut_run.removal_after(run)
    assert wheel_removal.judge(run_task(task))["succeeded"]
