"""The grasping experiment and its scaling as commands: figures, files, exit status."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from spatialops.bench.measure import Effort
from spatialops.cli import main
from spatialops.experiments.drumwright import locomotion
from spatialops.experiments.drumwright.grasp import METHODS, Trial
from spatialops.experiments.drumwright.scaling import Scaling, measure_scaling


@pytest.mark.compiled
def test_the_command(tmp_path):
    run = CliRunner().invoke(
        main,
        [
            "grasp",
            "--steps",
            "12",
            "--trials",
            "1",
            "--method",
            "pivoting",
            "--method",
            "lemke-warm",
            "--json",
            "--push",
            "100",
        ]
        + ["--no-progress", "--out", str(tmp_path)],
    )
    assert run.exit_code == 0, run.output
    data = json.loads(run.stdout)
    assert data["push"] == 100.0
    warm, pivoting = sorted(data["trials"], key=lambda trial: trial["method"])
    assert (warm["variables"], pivoting["variables"]) == (216, 36)
    assert pivoting["steps"] == 12
    assert pivoting["pivots_max"] <= 7
    assert pivoting["sag_max"] <= 1e-12
    assert pivoting["paper_seconds"] == 1.668
    assert {path.name for path in tmp_path.iterdir()} == {"grasp.json", "grasp.png"}


def test_a_lost_grasp_is_no_success():
    sags = np.array([1e-5, 2e-3])
    trial = Trial(
        "lemke", 216, np.ones(2), 5.0, 7, 1, 10, sags, 1e-12, "a box has moved by 0.002 m"
    )
    assert not trial.held
    assert trial.to_data()["sag_max"] == 2e-3
    assert METHODS["lemke"].paper_seconds == 10.9681


def test_exponents():
    counts = (4, 16, 64, 256)
    times = np.array([1.0, 1.0, 4.0, 16.0])  # 4 contacts are below the fit
    scaling = Scaling(counts, {"pivoting": times, "Lemke": times**3})
    assert scaling.exponent("pivoting") == pytest.approx(1.0)
    assert scaling.exponent("Lemke") == pytest.approx(3.0)
    assert np.isnan(Scaling((4, 8), {"x": times[:2]}).exponent("x"))


def test_what_every_call_costs_hides_no_growth_from_the_bar():
    counts = np.array([16, 64, 256, 1024, 2048, 4096])
    linear, worse = 5.0 + 0.035 * counts, 5.0 + 0.004 * counts**1.3
    assert Scaling(tuple(counts), {"pivoting": linear}).passed
    slow = Scaling(tuple(counts), {"pivoting": worse})
    assert slow.exponent("pivoting") < 1.1  # over all of them it would pass
    assert not slow.passed


@pytest.mark.compiled
def test_everything_is_measured():
    scaling = measure_scaling((4, 16, 36), Effort(rounds=1, block=1e-5))
    for times in scaling.seconds.values():
        assert (times > 0.0).all()
    assert json.dumps(scaling.to_data())


@pytest.mark.compiled
def test_walks_of_one_law_are_one_walk_by_any_solver(tmp_path):
    run = CliRunner().invoke(
        main,
        ["reproduce", "drumwright", "--duration", "0.06", "--json", "--out", str(tmp_path)],
    )
    assert run.exit_code == 0, run.output
    data = json.loads(run.stdout)
    assert [row["method"] for row in data["walks"]] == list(locomotion.METHODS)
    assert data["apart"] <= 1e-9
    for row in data["walks"]:
        assert row["residual"] <= 1e-9
        assert row["contacts_mean"] > 1.0
        assert set(row["microseconds"]) == set(locomotion.PARTS)
        whole = sum(row["microseconds"].values()) * 60
        assert whole == pytest.approx(1e6 * row["seconds"])
    assert [round(ratio["paper"], 2) for ratio in data["ratios"]] == [1.38, 1.37]
    assert (tmp_path / "drumwright.json").is_file()


def test_walks_that_part_or_stop_are_no_success():
    still, moved = np.zeros((9, 3)), np.full((9, 3), 1e-3)
    times = dict.fromkeys(locomotion.PARTS, 1.0)
    none = np.zeros(0, dtype=np.int64)

    def walked(method, path):
        return locomotion.Walked(method, times, none, path, 0.0)

    alike = [walked("no-slip-qp", still), walked("viscous-qp", moved)]
    assert locomotion.apart(alike) == 0.0  # laws may differ
    assert locomotion.apart([*alike, walked("no-slip-lemke", moved)]) == 1e-3
    assert run_of_nothing("--method", "guess").exit_code != 0


def run_of_nothing(*arguments):
    return CliRunner().invoke(main, ["reproduce", "drumwright", *arguments])
