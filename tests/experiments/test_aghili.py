import json

import numpy as np
import pytest
from click.testing import CliRunner

from spatialops.cli import main
from spatialops.experiments.aghili import (
    figures,
    grasp,
    pressing,
    standing,
    states,
    switching,
    walking,
)
from spatialops.experiments.aghili.watch import hop

pytestmark = pytest.mark.compiled


def test_the_error_follows_the_designed_law():
    found = standing.decay(duration=0.05)
    assert found["largest deviation from the designed law, m or rad"] < 1e-9


def test_power_of_random_states():
    found = states.power(30, seed=3)
    assert found["states"] == 30
    assert found["failed"] == 0
    assert found["largest excess over least norm"] <= 1e-9
    assert found["saving where admissible, mean"] > 0.0


def test_solvers_agree_on_random_states():
    pytest.importorskip("clarabel")
    found = states.agreement(25, seed=4)
    assert found["disagree on feasibility"] == 0
    assert found["largest difference of forces"] < 1e-6


def test_a_hop_lands_at_its_speed_and_goes_on():
    h = 1e-6
    for time in (0.01, 0.07, 0.13, 0.2):
        before, here, after = (hop(0.01, time + s, 0.15, 0.02) for s in (-h, 0.0, h))
        assert np.isclose((after[0] - before[0]) / (2 * h), here[1], atol=1e-7)
        assert np.isclose((after[1] - before[1]) / (2 * h), here[2], atol=1e-4)
    end = hop(0.01, 0.15 - 1e-12, 0.15, 0.02)
    assert np.allclose(end[:2], (0.0, -0.02), atol=1e-9)


@pytest.mark.slow
def test_nothing_slips_while_the_weight_shifts():
    found = standing.shifting(duration=0.3)
    assert found["commands"] == {"solved": 300}
    assert found["least margin of commanded forces to a cone, N"] > 0.0
    assert found["largest share of the cone used in the simulation"] < 0.95
    assert found["fastest motion at a held contact, m/s"] < 2e-4


@pytest.mark.slow
def test_walking_does_not_slip():
    found = walking.walking(quarters=2)
    assert set(found["commands"]) == {"solved"}
    assert found["largest share of the cone used in the simulation"] < 0.95
    assert found["fastest motion at a held contact, m/s"] < 5e-4
    assert found["largest error of the base, m or rad"] < 1e-3
    stands = found["series"]["stands"]
    assert (stands.sum(axis=1) >= 3).all()
    assert np.diff(stands[:, 2]).min() == -1.0  # it was lifted
    assert found["way of the feet, m"][2] > 0.025


@pytest.mark.slow
def test_switching_never_fails():
    found = switching.switching(duration=1.5, seed=3)
    assert found["solves that failed"] == 0
    assert "held" not in found["commands"]
    assert found["largest error of the base, m or rad"] < 0.2
    assert found["series"]["stands"].sum(axis=1).min() <= 2.0


@pytest.mark.slow
def test_pressing_and_sliding():
    pytest.importorskip("daqp")
    found = pressing.pressing(duration=0.1)
    ours, theirs = found["exact cone QCQP"], found["pyramid QP"]
    assert ours["mean power, W"] < theirs["mean power, W"] < found["least norm"]["mean power, W"]
    assert ours["largest |t| / (mu n)"] < 0.91
    slid = pressing.sliding(duration=0.35)["exact cone QCQP"]
    assert slid["error along the way, mm"] < 1.0
    assert np.allclose(slid["normal force once steady, N"], 20.0, atol=0.3)


@pytest.mark.slow
def test_the_box_is_held_and_least_norm_lets_it_go():
    pytest.importorskip("daqp")
    found = grasp.lifting(duration=0.3)
    ours = found["exact cone QCQP"]
    assert ours["largest error of the box, mm or mrad"] < 0.5
    assert ours["fastest motion at a held contact, m/s"] < 1e-3
    assert ours["largest share of the cone used in the simulation"] < 0.95
    assert ours["least margin of commanded forces to a cone, N"] > 0.0
    assert found["least norm"]["least margin of commanded forces to a cone, N"] < -1.0


def test_the_command_prints_json_alone(tmp_path):
    ran = CliRunner().invoke(
        main,
        ["reproduce", "aghili", "--quick", "--only", "decay", "--json", "--out", str(tmp_path)],
    )
    assert ran.exit_code == 0
    assert json.loads(ran.stdout)["decay"]["met"]
    assert json.loads((tmp_path / "aghili.json").read_text())["decay"]["met"]
    assert (tmp_path / "decay.png").stat().st_size > 1000
    refused = CliRunner().invoke(main, ["reproduce", "aghili", "--only", "nothing"])
    assert refused.exit_code == 2
    assert np.char.find(refused.output, "expected some of") >= 0


def test_every_experiment_has_a_picture(tmp_path):
    run = np.linspace(0.1, 1.0, 20)
    course = dict.fromkeys(("time", "power", "margin", "used", "error", "slip"), run)
    course |= {"stands": np.ones((20, 4)), "base": np.zeros((20, 3))}
    table = {"pyramid QP": np.ones((20, 9)), "exact cone QCQP": np.ones((20, 9))}
    decay = {"time": run, "error": np.ones((20, 6)), "law": np.ones((20, 6)) + 1e-9}
    saved = {"ruled": -run, "admissible": -run, "broken": run}
    pairs = {
        "decay": decay,
        "power": saved,
        "agreement": {"forces": run, "power": run},
        "timing": {"clock": run},
    }
    pairs |= {
        "shifting": course,
        "walking": course,
        "switching": course,
        "pressing": table,
        "sliding": table,
    }
    for name, series in {**pairs, "grasp": table}.items():
        assert figures.draw(name, series, tmp_path / f"{name}.png").stat().st_size > 1000
