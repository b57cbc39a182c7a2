import json

import numpy as np
import pytest
from click.testing import CliRunner

from spatialops.bench import commands
from spatialops.bench.command import bench
from spatialops.bench.command_times import line, row_of
from spatialops.bench.measure import BenchError


def test_a_row_has_quartiles_and_the_tail_and_both_bars_count():
    seconds = 1e-3 * np.arange(1.0, 1002.0)
    row = row_of("cone", "robot", seconds, 0.6, 1.001)
    assert row.ours == pytest.approx((0.251, 0.501, 0.751))
    assert row.tail == pytest.approx((0.991, 1.0, 1.001))
    assert row.passed
    assert not row_of("cone", "robot", seconds, 0.5, 1.001).passed
    assert not row_of("cone", "robot", seconds, 0.6, 0.999).passed
    assert "MISS" in line(row_of("cone", "robot", seconds, 0.6, 0.999))
    assert row.to_data()["ours_most_us"] == pytest.approx(1001e3)


@pytest.mark.compiled
def test_every_controller_answers_while_the_quadruped_trots_round():
    trial = commands.trotting("zapolsky")
    found = trial.times(40)
    assert set(found) == {
        "cone", "no slip", "QP", "LCP", "[A] least norm", "[A] friction cones", "whole body",
        "MPC trot",
    }  # fmt: skip
    for name, controller in trial.controllers.items():
        assert controller.explain().status in ("solved", "nearest"), name
        assert (found[name].seconds > 0.0).all()
        assert found[name].statuses.total() == 40


@pytest.mark.compiled
def test_shares_of_statuses_are_of_all_commands():
    found = commands.resting("zapolsky").times(20)
    assert set(found) == {"cone", "no slip", "QP", "LCP"}
    timed = found["no slip"]
    row = row_of("no slip", "robot", timed.seconds, 1.0, 1.0, timed.statuses)
    assert sum(row.statuses.values()) == pytest.approx(1.0)
    assert set(row.statuses) <= {"solved", "nearest", "held", "damped"}
    assert f"{row.statuses['solved']:9.2%}" in line(row)


@pytest.mark.compiled
def test_a_robot_that_falls_is_no_benchmark():
    trial = commands.trotting("zapolsky")
    limp = {"limp": lambda time, state, contacts: np.zeros(18)}
    with pytest.raises(BenchError, match="fell"):
        commands.Trial("limp", trial.simulator, limp, (1.0, 1.0)).times(1000)


def test_the_point_is_followed_along_its_way():
    circle = commands.Circle(np.zeros(3), radius=0.2, speed=0.1)
    step = 1e-6
    x, v, a = circle.path(0.7)
    ahead, after, _ = circle.path(0.7 + step)
    assert (ahead - x) / step == pytest.approx(v, abs=1e-6)
    assert (after - v) / step == pytest.approx(a, abs=1e-6)
    assert circle.path(0.0)[0] == pytest.approx(np.zeros(3))


@pytest.mark.slow
@pytest.mark.compiled
def test_the_command_measures_all_trials():
    pytest.importorskip("daqp")
    found = CliRunner().invoke(bench, ["--only", "commands", "--n", "5", "--json"])
    assert found.exit_code == 0, found.output
    rows = json.loads(found.output)["rows"]
    assert {row["case"] for row in rows} == {"solo12 trots", "solo12 stands", "g1 stands"}
    assert all(row["n"] == 5 for row in rows)
