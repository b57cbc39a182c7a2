"""The commands of the dual-arm robot's tasks."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from spatialops import _marks, cli
from spatialops.cli.task import _figures
from spatialops.simulation.records.loading import load_record
from spatialops.view.task import FIGURES


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_marks, "is_warm", lambda **_: True)
    return lambda *arguments: CliRunner().invoke(cli.main, list(arguments))


@pytest.mark.compiled
def test_a_part_of_the_wheels_removal_leaves_everything(run, tmp_path: Path) -> None:
    result = run(
        "wheel-removal", "--stop-after", "approach", "--no-progress", "--out", str(tmp_path)
    )
    assert result.exit_code == 0, result.output
    names = {"record.npz", "replay.html", "summary.json", *(f"{name}.png" for name in FIGURES)}
    assert {path.name for path in tmp_path.iterdir()} == names
    for word in (
        "approach",
        "wheel on world",
        "largest penetration",
        "steps per second",
        "controller",
        "NMC",
    ):
        assert word in result.output
    data = json.loads((tmp_path / "summary.json").read_text())
    assert data["phases"][0]["name"] == "approach"
    assert data["penetration_max"] <= 1e-3
    assert data["residual_max"] <= 1e-9
    assert load_record(tmp_path / "record.npz").summary()["steps"] == data["steps"]


@pytest.mark.compiled
def test_without_what_draws_a_task_leaves_the_rest(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    options = ["--stop-after", "approach", "--no-progress", "--out", str(tmp_path)]
    result = run("wheel-removal", *options)
    assert result.exit_code == 0, result.output
    assert "Left out: figures and videos need" in result.output
    names = {"record.npz", "replay.html", "summary.json"}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_figures_have_units() -> None:
    verdict = {"succeeded": True, "faults": [], "slip_while_presented": 7.5e-7, "tilt": 0.5}
    assert _figures(verdict) == {"slip while presented": "7.5e-07 m", "tilt": "0.5 degrees"}


@pytest.mark.compiled
def test_errors_are_one_line(run) -> None:
    result = run("driver-handoff", "--stop-after", "juggling", "--no-progress")
    assert result.exit_code == 1
    assert "there is no phase 'juggling'" in result.output
    assert run("driver-handoff", "--formulation", "guess").exit_code == 2


@pytest.mark.slow
@pytest.mark.compiled
def test_variations_are_lines(run, tmp_path: Path) -> None:
    result = run(
        "driver-handoff", "--variations", "1", "--no-progress", "--json", "--out", str(tmp_path)
    )
    assert result.exit_code == 0, result.output
    outcome = json.loads(result.stdout)["outcomes"][0]
    assert outcome["succeeded"]
    assert outcome["seed"] == 0
    assert json.loads((tmp_path / "variations.json").read_text())[0] == outcome
