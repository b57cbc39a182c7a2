"""The trot's figures and figure 19 of Zapolsky and Drumwright."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from spatialops.cli.zapolsky import zapolsky
from spatialops.errors import ArgumentError
from spatialops.experiments.zapolsky import flops, timing
from spatialops.experiments.zapolsky.chatter import kneel
from spatialops.experiments.zapolsky.course import run


def test_an_exponent_is_the_slope_of_the_logarithms():
    rows = [{"method": "a", "contacts": n, "milliseconds": 0.1 * n**1.5} for n in (4, 40, 80, 160)]
    assert timing.exponent(rows, "a") == pytest.approx(1.5)
    assert np.isnan(timing.exponent(rows, "b"))


@pytest.mark.parametrize(("method", "count"), [("lcp-no-slip", 40), ("qp", 8), ("lcp", 8)])
def test_problems_that_are_timed_have_a_solution(method, count):
    row = timing.timed(method, count, repeats=3)
    assert row["residual"] < 1e-9
    assert 0.0 < row["milliseconds"] <= row["milliseconds_999"]


def test_a_general_solver_finds_the_same_impulses():
    pytest.importorskip("clarabel")
    (row,) = timing.general(repeats=2, counts=(12,))
    assert row["apart"] < 1e-6


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("name", "terrain"),
    [("cone", "rigid-low"), ("cone", "rigid-high"), ("lcp-no-slip", "rigid-low")],
)
def test_forces_that_a_command_counts_on_come_where_nothing_lands(name, terrain):
    found = run(name, terrain, duration=0.5, horizon=1e-3).summary()
    assert found["completed"]
    assert 0.8 < found["settled"] < 1.0
    assert found["settled_force_error"] < 1e-6
    assert found["settled_force_error_99"] < 1e-3
    assert found["force_error_relative"] > 1e-3  # of landing feet it does not know


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("name", ["sensed-1", "sensed-2"])
def test_references_that_sense_forces_walk_on_steep_friction(name):
    assert run(name, "rigid-high").completed


@pytest.mark.compiled
def test_the_choice_of_forces_ends_chatter():
    assert kneel("lcp-lemke", duration=0.1).change.mean() > 100.0  # whatever Lemke meets
    for name in ("lcp", "lcp-nearest", "qp", "cone"):
        found = kneel(name, duration=0.1)
        assert found.change.mean() < 1.0
        assert found.missed < 1e-6


def test_chatter_is_of_known_controllers():
    with pytest.raises(ArgumentError, match="expected one of lcp-lemke, lcp, "):
        kneel("pid")


@pytest.mark.compiled
def test_every_figure_is_drawn_and_none_without_a_folder(tmp_path):
    figures = [part for number in ("14", "15", "16", "17") for part in ("--figure", number)]
    options = [
        "--controller",
        "pid",
        "--controller",
        "sensed-3",
        "--terrain",
        "rigid-low",
        "--duration",
        "0.02",
    ]
    done = CliRunner().invoke(zapolsky, [*figures, *options, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert {f"figure-{n}-rigid-low.png" for n in (14, 15, 16, 17)} < {
        file.name for file in tmp_path.iterdir()
    }
    rows = json.loads((tmp_path / "zapolsky.json").read_text())["runs"]
    assert [row["controller"] for row in rows] == ["pid", "sensed-3"]
    assert CliRunner().invoke(zapolsky, [*figures, *options]).exit_code == 2


@pytest.mark.compiled
def test_the_arm_holds_its_box_as_predicted(tmp_path):
    done = CliRunner().invoke(
        zapolsky, ["--figure", "18", "--controller", "qp", "--duration", "0.1", "--out", tmp_path]
    )
    assert done.exit_code == 0, done.output
    rows = json.loads((tmp_path / "zapolsky.json").read_text())["figure 18"]
    assert [row["friction"] for row in rows] == ["inf", "1"]
    for row in rows:
        assert row["dropped"] is None
        assert row["slip"] < 1e-3
        assert row["position_error"] < 1e-3
    assert (tmp_path / "figure-18-1.png").exists()


@pytest.mark.compiled
def test_fingers_that_keep_still_drop_the_box():
    grasp = ["--figure", "18", "--controller", "sensed-1", "--duration", "0.2", "--json"]
    done = CliRunner().invoke(zapolsky, [*grasp, "--fingers", "motion"])
    assert done.exit_code == 0, done.output
    low = json.loads(done.output)["figure 18"][1]
    assert low["friction"] == "1"
    assert 0.05 < low["dropped"] < 0.2
    held = json.loads(CliRunner().invoke(zapolsky, grasp).output)["figure 18"][1]
    assert held["dropped"] is None


@pytest.mark.parametrize(("sizes", "printed"), list(zip(flops.SIZES, flops.PRINTED, strict=True)))
def test_operations_without_savings_are_those_printed(sizes, printed):
    assert sum(flops.table_one(sizes).values()) == printed[0]


def test_counted_factors_are_those_of_a_plain_loop():
    """L D L^T column by column, every operation counted, within its squares."""
    for n in (6, 18, 34):
        counted = sum(2 * j + (n - j - 1) * (2 * j + 1) for j in range(n))
        assert flops.factors(n) == pytest.approx(counted, abs=1.5 * n * n)


def test_tables_of_operations_need_no_run():
    done = CliRunner().invoke(zapolsky, ["--table", "1", "--table", "2", "--json"])
    assert done.exit_code == 0
    rows = json.loads(done.output)["flops"]["rows"]
    assert [row["table"] for row in rows] == ["table 1", "table 2", "ours"] * 2
    assert all(row["sum"] == pytest.approx(sum(row["tasks"].values())) for row in rows)
    told = CliRunner().invoke(zapolsky, ["--table", "2"]).output
    assert "table 2" in told
    assert "table 1" not in told
