"""Commands that are killed leave nothing half-written that is taken as good."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from spatialops._compile import kept_code
from spatialops.cli.output import finished_files
from spatialops.simulation.runs import run_folder
from tests.trust.kills import KILLED

KILLS = int(os.environ.get("SPATIALOPS_KILLS", "20"))


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("what", KILLED)
def test_a_killed_command_costs_nothing_but_its_time(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folder, "_BYTES", run_folder._BYTES)  # which runs that are killed set
    found = KILLED[what](tmp_path, KILLS, 0, float("inf"))
    assert found.faults == []
    assert found.killed > 0
    assert found.writing > 0


def test_what_a_killed_writer_left_goes_and_what_another_writes_stays(tmp_path: Path) -> None:
    left = tmp_path / ".writing-left"
    left.mkdir()
    (left / "half").write_text("of it")
    with finished_files(tmp_path) as first:
        assert first is not None
        assert not left.exists()
        (first / "one").write_text("whole")
        with finished_files(tmp_path) as second:
            assert second is not None
            (second / "two").write_text("whole")
        assert (first / "one").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


def test_unfinished_code_is_forgotten_once_nobody_writes_it(tmp_path: Path) -> None:
    long_ago = time.time() - 2 * 3600.0
    names = (".old.code.0.part", ".new.code.0.part", "old.code")
    for name in names:
        (tmp_path / name).write_bytes(b"")
    os.utime(tmp_path / names[0], (long_ago, long_ago))
    os.utime(tmp_path / names[2], (long_ago, long_ago))
    kept_code.forget_unused(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(names[1:])
