"""Timing in turns, rows of the report, the command on a tiny subset; speed does not matter."""

from __future__ import annotations

import csv
import gc
import json
import os

import numpy as np
import pytest
from click.testing import CliRunner

from spatialops.bench import command, dynamics, lambda_, measure, peers, pendulum
from spatialops.bench.measure import BenchError, Effort, Quartiles, Row, Timing
from spatialops.dynamics.forward_dynamics import forward_dynamics

TINY = Effort(rounds=3, block=1e-5)


def row(ratio=0.4, bar=0.45):
    ours, peer = Quartiles(1e-6, 2e-6, 3e-6), Quartiles(4e-6, 5e-6, 6e-6)
    return Row(
        "dynamics", "what", "case", ours, peer, "rival", Quartiles(0.3, ratio, 0.6), bar, 1e-12
    )


def test_ratio_is_taken_within_rounds():
    # The machine is three times slower in the second round: the ratio does not notice.
    timing = Timing({"a": np.array([1.0, 3.0, 1.0]), "b": np.array([2.0, 6.0, 2.0])})
    assert timing.ratio("a", "b") == Quartiles(0.5, 0.5, 0.5)
    assert timing.of("a").median == 1.0
    assert timing.fastest("b", "a") == "a"


def test_contestants_take_turns_in_alternating_order():
    calls = []
    collecting = []

    def contestant(name):
        def call():
            calls.append(name)
            collecting.append(gc.isenabled())

        return call

    timing = measure.take_turns({"a": contestant("a"), "b": contestant("b")}, TINY)
    assert [len(timing.seconds[name]) for name in ("a", "b")] == [3, 3]
    runs = [name for name, before in zip(calls, [None, *calls]) if name != before]
    assert runs == ["a", "b", "a", "b", "a", "b"] or runs == ["a", "b", "a", "b", "a", "b", "a"]
    assert gc.isenabled()
    assert not collecting[-1]


def test_garbage_collection_is_restored_after_an_error():
    calls = []

    def fails_late():
        calls.append(1)
        if len(calls) > 3:
            raise RuntimeError("late")

    with pytest.raises(RuntimeError, match="late"):
        measure.take_turns({"a": fails_late}, Effort(rounds=50, block=1e-6))
    assert gc.isenabled()


def test_nothing_to_measure_is_refused():
    with pytest.raises(BenchError, match="at least one contestant"):
        measure.take_turns({}, TINY)


def test_long_calls_are_made_once_a_block():
    assert measure.calls_per_block(lambda: sum(range(20_000)), 1e-6) == 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system cannot pin a process")
def test_pinned_to_one_core_and_back():
    before = os.sched_getaffinity(0)
    with measure.pinned() as core:
        assert os.sched_getaffinity(0) == {core} == {max(before)}
    assert os.sched_getaffinity(0) == before
    with (
        pytest.raises(BenchError, match="core: cannot run on core 100000"),
        measure.pinned(100_000),
    ):
        pass
    assert os.sched_getaffinity(0) == before


def test_results_that_differ_are_refused():
    assert measure.agreed([1.0, 2.0], [1.0, 2.0 + 1e-12], "x") == pytest.approx(5e-13, rel=1e-3)
    assert measure.relative_difference(np.zeros(2), np.zeros(2)) == 0.0
    with pytest.raises(BenchError, match=r"x: the results differ by 5\.00e-01"):
        measure.agreed([1.0, 1.0], [1.0, 2.0], "x")
    with pytest.raises(BenchError, match="differ by nan"):
        measure.agreed([np.nan], [1.0], "x")


def test_a_row_knows_its_bar():
    assert row().passed
    assert not row(ratio=0.46).passed
    assert row(ratio=9.0, bar=None).passed
    assert command.verdict(row(ratio=0.46)) == "MISS (<= 0.45)"
    data = row().to_data()
    assert data["ours_us"] == pytest.approx(2.0)
    assert data["peer_us_upper"] == pytest.approx(6.0)
    assert data["ratio"] == 0.4


def test_a_missing_peer_names_the_extra():
    with pytest.raises(BenchError, match=r"'no_such_peer' is not installed.*spatialops\[bench\]"):
        peers.require("no_such_peer")


def fake(rows):
    def run(effort, *, quick=False):
        yield from rows

    return run


def test_command_reports_and_checks_bars(monkeypatch, tmp_path):
    pytest.importorskip("pinocchio")
    monkeypatch.setitem(command.GROUPS, "dynamics", fake([row(), row(ratio=2.0)]))
    runner = CliRunner()
    shown = runner.invoke(command.bench, ["--only", "dynamics", "--out", str(tmp_path / "new")])
    assert shown.exit_code == 0, shown.output
    assert "MISS (<= 0.45)" in shown.output
    assert "1 of 2 bars met; 1 missed" in shown.output
    assert json.loads((tmp_path / "new" / "bench.json").read_text())["missed"] == 1
    with (tmp_path / "new" / "bench.csv").open() as file:
        assert [line["passed"] for line in csv.DictReader(file)] == ["True", "False"]
    printed = runner.invoke(command.bench, ["--only", "dynamics", "--json", "--check"])
    assert printed.exit_code == 1
    assert json.loads(printed.stdout)["bars"] == 2


def test_command_without_a_peer(monkeypatch):
    monkeypatch.setitem(command.PEERS, "dynamics", "no_such_peer")
    result = CliRunner().invoke(command.bench, ["--only", "dynamics"])
    assert result.exit_code == 1
    assert "spatialops[bench]" in result.output
    assert "Traceback" not in result.output


@pytest.mark.compiled
def test_command_runs_on_a_tiny_subset(monkeypatch, tmp_path):
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    monkeypatch.setattr(command, "QUICK", TINY)
    monkeypatch.setattr(dynamics, "QUICK_ROBOTS", ())
    monkeypatch.setattr(dynamics, "LENGTHS", (5, 10))
    monkeypatch.setattr(lambda_, "QUICK_COUNTS", (1, 3))
    monkeypatch.setattr(lambda_, "MECHANISMS", ())
    monkeypatch.setattr(lambda_, "CHAINS", (4,))
    monkeypatch.setattr(pendulum, "LINKS", (3,))
    monkeypatch.setattr(pendulum, "STEPS", 20)
    result = CliRunner().invoke(
        command.bench, ["--quick", "--json", "--csv", str(tmp_path / "rows.csv")]
    )
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert {entry["group"] for entry in data["rows"]} == {
        "dynamics",
        "lambda",
        "pendulum",
        "collision",
    }
    assert all(entry["difference"] < 1e-9 and entry["ours_us"] > 0.0 for entry in data["rows"])
    assert (tmp_path / "rows.csv").read_text().count("\n") == len(data["rows"]) + 1


def test_twin_of_a_floating_robot_agrees():
    pin = pytest.importorskip("pinocchio")
    twin = peers.robot("solo12")
    if twin is None:
        pytest.skip("example-robot-data is not installed")
    q, v, tau = twin.random_state(np.random.default_rng(3))
    ours = forward_dynamics(twin.model, q, v, tau)[twin.order]
    theirs = pin.aba(twin.pin, twin.data, q, v[twin.order], tau[twin.order])
    assert measure.relative_difference(ours, theirs) < 1e-10
