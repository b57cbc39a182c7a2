"""Runs on disk outlive what ends them: kills, full disks, Ctrl-C; and one writes at a time."""

import os
import shutil
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import spatialops as so
from spatialops import _files
from spatialops.errors import ArgumentError, RecordError
from spatialops.simulation.runs import run_folder
from tests.support.runs import DT, Sums, begin_or_go_on, boxes, differing

ENDLESS = 1e5  # s: no machine is so busy that a child ends before it is killed
KILLS = 3  # `tests/trust/test_kills.py` has more


def child(folder):
    """The run of `begin_or_go_on` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.runs", str(folder), str(ENDLESS)],
        cwd=Path(__file__).parents[3],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.DEVNULL,
    )


def kill_and_go_on(folder, kills, rng):
    """Kill the run so often, every third time by SIGTERM, soon after it has written something.

    Then let it go on for a second. How long a child takes is left to the machine: it may compile
    first.

    Returns how many rows could be read after each kill, and the duration in the end.
    """
    rows = []
    for kill in range(kills):
        by = signal.SIGTERM if kill % 3 == 1 else signal.SIGKILL
        process = child(folder)
        before = len(list(folder.glob("*.npz"))) if folder.is_dir() else 0
        while process.poll() is None:
            if folder.is_dir() and len(list(folder.glob("*.npz"))) > before:
                break
            time.sleep(0.002)
        time.sleep(rng.uniform(0.0, 0.02))
        process.send_signal(by)
        assert process.wait() == -by  # it was not over
        rows.append(len(so.load_record(folder).times))
    duration = rows[-1] * DT + 1.0
    begin_or_go_on(folder, duration)
    return rows, duration


@pytest.mark.compiled
def test_killed_runs_are_read_and_go_on_to_the_same_bits(tmp_path, rng, monkeypatch):
    monkeypatch.setattr(run_folder, "_BYTES", run_folder._BYTES)  # which the child's code sets
    folder = tmp_path / "run"
    rows, duration = kill_and_go_on(folder, KILLS, rng)
    assert (np.diff(rows) > 0).all()  # every one got further
    record = so.load_record(folder)
    whole = so.Simulator(boxes(2), dt=DT).run(duration=duration, controller=Sums())
    assert differing(record, whole) == []
    assert all(path.suffix == ".npz" for path in folder.iterdir())  # nothing half-written is left


def small(monkeypatch, n_bytes=20e3):
    """Write a file every so many bytes."""
    monkeypatch.setattr(run_folder, "_BYTES", n_bytes)
    return so.Simulator(boxes(1), dt=DT)


def wait_for_nothing(time, state, contacts):
    """A controller: runs are then one step a call."""
    return so.Command()


def test_files_follow_one_another(tmp_path, monkeypatch):
    simulator = small(monkeypatch)
    simulator.run_to_disk(tmp_path, duration=0.6, controller=wait_for_nothing)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"{i:06d}.npz" for i in range(len(names))]
    assert len(names) > 4
    parts = [so.load_record(tmp_path / name) for name in names]
    assert sum(len(part.times) for part in parts) == 301
    for part, later in pairwise(parts):
        assert part.final.time <= later.times[0]
        assert np.array_equal(later.scene.state.q, later.q[0])


def test_a_part_without_rows_is_read_with_the_others(tmp_path, monkeypatch):
    simulator = small(monkeypatch, 1.0)
    simulator.run_to_disk(tmp_path, duration=0.1, record_every=30, controller=wait_for_nothing)
    whole = simulator.run(duration=0.1, record_every=30, controller=wait_for_nothing)
    assert differing(so.load_record(tmp_path), whole) == []
    last = max(tmp_path.iterdir())
    with pytest.raises(RecordError, match="no row"):
        so.load_record(last)


def test_time_is_a_reason_to_write_too(tmp_path, monkeypatch):
    monkeypatch.setattr(run_folder, "_SECONDS", 0.0)
    simulator = so.Simulator(boxes(1), dt=DT)
    simulator.run_to_disk(tmp_path, duration=0.02, controller=wait_for_nothing)
    assert len(list(tmp_path.iterdir())) == 11


class Interrupts:
    """A controller in which Ctrl-C is pressed once."""

    def __init__(self, after):
        self.after = after

    def __call__(self, time, state, contacts):
        self.after -= 1
        if self.after == 0:
            raise KeyboardInterrupt
        return so.Command()


def test_control_c_costs_what_was_not_written_yet(tmp_path, monkeypatch):
    simulator = small(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        simulator.run_to_disk(tmp_path, duration=0.6, controller=Interrupts(200))
    assert 100 < len(so.load_record(tmp_path).times) <= 200
    simulator.resume(tmp_path, controller=wait_for_nothing)
    whole = simulator.run(duration=0.6, controller=wait_for_nothing)
    assert differing(so.load_record(tmp_path), whole) == []


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), MemoryError()])
def test_a_full_disk_leaves_the_files_before(tmp_path, monkeypatch, error):
    simulator = small(monkeypatch)
    whole = simulator.run(duration=0.6, controller=wait_for_nothing)
    writes = []
    save = np.savez_compressed

    def full(file, **arrays):
        writes.append(file)
        if len(writes) >= 3:
            file.write(b"half of it")
            raise error
        save(file, **arrays)

    monkeypatch.setattr(_files.np, "savez_compressed", full)
    with pytest.raises(RecordError if isinstance(error, OSError) else MemoryError):
        simulator.run_to_disk(tmp_path, duration=0.6, controller=wait_for_nothing)
    monkeypatch.setattr(_files.np, "savez_compressed", save)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["000000.npz", "000001.npz"]
    simulator.resume(tmp_path, controller=wait_for_nothing)
    assert differing(so.load_record(tmp_path), whole) == []


def test_what_a_full_disk_did_not_take_is_in_the_error(tmp_path, monkeypatch):
    simulator = small(monkeypatch)
    monkeypatch.setattr(run_folder, "write_record", refuse)
    with pytest.raises(RecordError, match="no space") as caught:
        simulator.run_to_disk(tmp_path, duration=0.6)
    assert np.array_equal(caught.value.record.q, [simulator.scene.state.q])


def refuse(path, stored):
    raise RecordError("no space")


class Removes:
    """A controller during which the folder goes."""

    def __init__(self, folder, back):
        self.folder = folder
        self.back = back
        self.count = 0

    def __call__(self, time, state, contacts):
        self.count += 1
        if self.count == 150:
            shutil.rmtree(self.folder)
            if self.back:
                self.folder.mkdir()
        return so.Command()


@pytest.mark.parametrize("back", [False, True])
def test_a_removed_folder_is_not_made_anew(tmp_path, monkeypatch, back):
    folder = tmp_path / "run"
    with pytest.raises(RecordError, match="moved or removed") as caught:
        small(monkeypatch).run_to_disk(folder, duration=0.6, controller=Removes(folder, back))
    assert not folder.exists() or not any(folder.iterdir())
    assert len(caught.value.record.times) > 0


def test_one_writes_at_a_time(tmp_path):
    simulator = so.Simulator(boxes(1), dt=DT)
    other = so.Simulator(boxes(1), dt=DT)

    def meanwhile(time, state, contacts):
        with pytest.raises(RecordError, match="another simulation"):
            other.resume(tmp_path)
        assert len(so.load_record(tmp_path).times) == 1  # it can be read
        return so.Command()

    simulator.run_to_disk(tmp_path, duration=DT, controller=meanwhile)
    other.resume(tmp_path, 2 * DT, controller=wait_for_nothing)
    assert len(so.load_record(tmp_path).times) == 3


def test_a_folder_with_something_in_it_is_refused(tmp_path):
    simulator = so.Simulator(boxes(1), dt=DT)
    (tmp_path / "letters").write_text("of value")
    with pytest.raises(ArgumentError, match="not empty"):
        simulator.run_to_disk(tmp_path, duration=0.01)
    with pytest.raises(RecordError, match="no folder"):
        simulator.run_to_disk(tmp_path / "letters", duration=0.01)
    assert (tmp_path / "letters").read_text() == "of value"


def test_a_run_that_was_killed_in_its_first_file_can_begin_again(tmp_path):
    (tmp_path / ".000000.npz.0123456789abcdef.part").write_bytes(b"PK")
    so.Simulator(boxes(1), dt=DT).run_to_disk(tmp_path, duration=0.01)
    assert len(so.load_record(tmp_path).times) == 6
    assert list(tmp_path.glob(".*")) == []


def test_files_of_different_runs_are_no_run(tmp_path, monkeypatch):
    simulator = small(monkeypatch)
    simulator.run_to_disk(tmp_path / "one", duration=0.6, controller=wait_for_nothing)
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    shutil.copytree(tmp_path / "one", tmp_path / "gap")
    (tmp_path / "gap" / names[1]).unlink()
    with pytest.raises(RecordError, match="missing"):
        so.load_record(tmp_path / "gap")
    (tmp_path / "gap" / names[0]).rename(tmp_path / "gap" / names[1])
    with pytest.raises(RecordError, match="missing"):
        so.load_record(tmp_path / "gap")
    shutil.copytree(tmp_path / "one", tmp_path / "swapped")
    os.replace(tmp_path / "swapped" / names[2], tmp_path / "swapped" / names[0])
    os.replace(tmp_path / "swapped" / names[-1], tmp_path / "swapped" / names[2])
    with pytest.raises(RecordError):
        so.load_record(tmp_path / "swapped")
    so.Simulator(boxes(2), dt=DT).run_to_disk(tmp_path / "two", duration=0.01)
    shutil.copy(tmp_path / "one" / names[-1], tmp_path / "two" / "000002.npz")
    with pytest.raises(RecordError, match="not of one run"):
        so.load_record(tmp_path / "two")


def test_memory_stays_bounded(tmp_path, monkeypatch):
    """What is waiting to be written never grows beyond a file, and a call of the loop."""
    waiting = []
    is_due = run_folder.RunFolder.is_due

    def watched(self, n_bytes):
        waiting.append(n_bytes)
        return is_due(self, n_bytes)

    monkeypatch.setattr(run_folder.RunFolder, "is_due", watched)
    small(monkeypatch).run_to_disk(tmp_path, duration=2.0, controller=wait_for_nothing)
    assert max(waiting) < 22e3
    assert sum(n >= 20e3 for n in waiting) > 10
