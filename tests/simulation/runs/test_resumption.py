"""Runs on disk: the record is that of a run in memory, and going on changes no bit."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError, RecordError, SolverFailed
from tests.simulation.runs.test_failures import FailsLater
from tests.support.runs import DT, Sums, boxes, differing, driven_crank, stopped_links

CASES = {
    "boxes": (lambda: boxes(3), {}, None),
    "semi-implicit": (lambda: boxes(2), {"integrator": "semi-implicit"}, None),
    "rk4": (lambda: boxes(2), {"integrator": "rk4"}, None),
    "cone": (lambda: boxes(1), {"law": "cone"}, None),
    "full": (lambda: boxes(1), {"certify": "full"}, None),
    "controller": (lambda: boxes(1), {}, Sums),
    "closures": (driven_crank, {}, None),
    "joints": (stopped_links, {}, None),
    "pendulum": (lambda: so.models.pendulum(3).scene(), {}, None),
    "quadruped": (lambda: so.models.quadruped().scene(), {}, None),
}
STEPS = 60


@pytest.mark.compiled
@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("case", CASES)
def test_a_run_in_parts_is_the_run(tmp_path, case, every):
    scene, options, control = CASES[case]

    def parts():
        controller = None if control is None else control()
        return so.Simulator(scene(), dt=DT, **options), controller

    simulator, controller = parts()
    whole = simulator.run(duration=STEPS * DT, record_every=every, controller=controller)
    simulator, controller = parts()
    simulator.run_to_disk(tmp_path, duration=0.0, record_every=every, controller=controller)
    for cut in (1, STEPS // 3, STEPS // 3 + 1, STEPS // 2, STEPS):
        simulator, controller = parts()
        end = simulator.resume(tmp_path, cut * DT, controller=controller)
    record = so.load_record(tmp_path)
    assert differing(record, whole) == []
    assert np.array_equal(end.q, whole.final.q)
    assert end.time == whole.final.time
    assert record.metadata == whole.metadata
    assert record.summary() == whole.summary()


@pytest.mark.compiled
def test_the_cases_meet_what_they_are_for():
    for case in ("boxes", "semi-implicit", "rk4", "cone", "full", "pendulum", "quadruped"):
        scene, options, _ = CASES[case]
        record = so.Simulator(scene(), dt=DT, **options).run(duration=STEPS * DT)
        assert len(record.contact_records) > 0 or case == "pendulum", case
    stopped = so.Simulator(stopped_links(), dt=DT).run(duration=STEPS * DT)
    assert stopped.stop_impulses.any()
    assert stopped.dry_impulses.any()


def test_a_finished_run_stays_as_it_is(tmp_path):
    simulator = so.Simulator(boxes(1), dt=DT)
    end = simulator.run_to_disk(tmp_path, duration=0.02)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    again = simulator.resume(tmp_path)
    assert np.array_equal(again.q, end.q)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_run_goes_to_the_end_that_was_planned(tmp_path):
    simulator = so.Simulator(boxes(1), dt=DT)
    simulator.run_to_disk(tmp_path, duration=0.1)
    (tmp_path / "000001.npz").unlink()
    end = simulator.resume(tmp_path)
    assert end.time == pytest.approx(3.1)
    assert len(so.load_record(tmp_path).times) == 51


@pytest.mark.parametrize(
    ("scene", "options", "match"),
    [
        (boxes(1), {"dt": 1e-3}, "dt"),
        (boxes(1), {"dt": DT, "integrator": "rk4"}, "integrator"),
        (boxes(1), {"dt": DT, "law": "cone"}, "law"),
        (boxes(2), {"dt": DT}, "scene"),
        (boxes(1).model, {"dt": DT}, "scene"),
    ],
)
def test_another_scene_or_other_options_are_refused(tmp_path, scene, options, match):
    so.Simulator(boxes(1), dt=DT).run_to_disk(tmp_path, duration=0.01)
    scene = scene if isinstance(scene, so.Scene) else so.Scene(scene)
    with pytest.raises(ArgumentError, match=match):
        so.Simulator(scene, **options).resume(tmp_path, 0.02)


def test_a_memory_needs_a_controller_that_takes_it_up(tmp_path):
    simulator = so.Simulator(boxes(1), dt=DT)
    simulator.run_to_disk(tmp_path, duration=0.01, controller=Sums())
    with pytest.raises(ArgumentError, match="controller"):
        simulator.resume(tmp_path, 0.02)
    with pytest.raises(ArgumentError, match="controller"):
        simulator.resume(tmp_path, 0.02, controller=3)


def test_a_failed_run_leaves_what_it_did_and_goes_on(tmp_path):
    with pytest.raises(SolverFailed) as caught:
        so.Simulator(boxes(1), dt=DT, solver=FailsLater(30)).run_to_disk(tmp_path, duration=0.2)
    record = so.load_record(tmp_path)
    assert record.metadata["failure"] == str(caught.value)
    assert np.array_equal(record.final.q, caught.value.state.q)
    n_rows = len(record.times)
    assert n_rows > 10
    # What failed was the solver; the file of the failure is replaced as the run goes on.
    for left in (0, 400):
        try:
            so.Simulator(boxes(1), dt=DT, solver=FailsLater(left)).resume(tmp_path)
        except SolverFailed:
            assert len(so.load_record(tmp_path).times) < n_rows
    record = so.load_record(tmp_path)
    assert "failure" not in record.metadata
    whole = so.Simulator(boxes(1), dt=DT, solver=FailsLater(400)).run(duration=0.2)
    assert differing(record, whole) == []


def test_event_driven_runs_stay_in_memory(tmp_path):
    simulator = so.Simulator(boxes(1), dt=DT, time=so.EventDriven())
    with pytest.raises(ArgumentError, match="EventDriven"):
        simulator.run_to_disk(tmp_path, duration=0.01)


def test_a_folder_without_a_run(tmp_path):
    simulator = so.Simulator(boxes(1), dt=DT)
    with pytest.raises(RecordError, match="no run"):
        simulator.resume(tmp_path)
    with pytest.raises(RecordError, match="no folder"):
        simulator.resume(tmp_path / "missing")
    assert not (tmp_path / "missing").exists()
