"""Turns between processes: one at a time, given back by whoever ends."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from spatialops._compile import turns
from spatialops._compile.turns import Turns
from tests.support.other_turn import OtherTurn


def test_one_process_at_a_time(tmp_path: Path) -> None:
    here = Turns(tmp_path)
    assert here.take("kernel")
    assert here.take("kernel")  # its own
    with OtherTurn(tmp_path, "kernel") as refused, OtherTurn(tmp_path, "another") as other:
        assert not refused.has_it
        assert other.has_it
        assert not here.take("another")
    here.give_back("kernel")
    with OtherTurn(tmp_path, "kernel") as later:
        assert later.has_it


def test_a_process_that_is_killed_gives_its_turn_back(tmp_path: Path) -> None:
    here = Turns(tmp_path)
    with OtherTurn(tmp_path, "kernel") as other:
        assert not here.take("kernel")
        other.process.kill()
        other.process.wait()
        here.wait_for("kernel")
        assert here.take("kernel")


def test_nobody_is_waited_for_forever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_LONGEST", 0.05)
    with OtherTurn(tmp_path, "kernel"):
        begin = time.monotonic()
        Turns(tmp_path).wait_for("kernel")
        assert time.monotonic() - begin >= 0.05


def test_where_nothing_can_be_locked_it_is_everybodys_turn(tmp_path: Path) -> None:
    nowhere = Turns(tmp_path / "missing")
    assert nowhere.take("kernel")
    nowhere.wait_for("kernel")
    nowhere.give_back("kernel")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no copies of processes here")
def test_a_copy_of_a_process_does_not_keep_its_turns(tmp_path: Path) -> None:
    here = Turns(tmp_path)
    assert here.take("kernel")
    pid = os.fork()
    if pid == 0:
        os._exit(int(here.take("kernel")))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    here.give_back("kernel")
    with OtherTurn(tmp_path, "kernel") as other:
        assert other.has_it
