import json

import numpy as np
import pytest
from click.testing import CliRunner

from spatialops.cli import main
from spatialops.compare.aghili import grasp, pressing, states, walking

pytestmark = pytest.mark.compiled


def test_the_error_follows_the_designed_law():
    found = walking.decay(duration=0.05)
    assert found["largest deviation from the designed law, m or rad"] < 1e-9


def test_power_of_random_states():
    found = states.power(40, seed=3)
    assert found["failed"] == 0
    assert found["largest excess over least norm"] <= 1e-9
    assert found["saving where admissible, mean"] > 0.0


def test_solvers_agree_on_random_states():
    pytest.importorskip("clarabel")
    found = states.agreement(25, seed=4)
    assert found["disagree on feasibility"] == 0
    assert found["largest difference of forces"] < 1e-6


@pytest.mark.slow
def test_nothing_slips_while_the_weight_shifts():
    found = walking.shifting(duration=0.3)
    assert found["commands"] == {"solved": 300}
    assert found["least margin of commanded forces to a cone, N"] > 0.0
    assert found["largest share of the cone used in the simulation"] < 1.0


@pytest.mark.slow
def test_walking_and_switching_keep_their_contacts():
    found = walking.walking(quarters=2)
    assert "held" not in found["commands"]
    assert found["final error of the base, m or rad"] < 5e-3
    assert walking.switching(duration=1.0)["failed solves"] == 0


@pytest.mark.slow
def test_pressing_sliding_and_lifting():
    pytest.importorskip("daqp")
    powers = {name: found["mean power, W"] for name, found in pressing.pressing(duration=0.1).items()}
    assert powers["exact cone QCQP"] <= powers["pyramid QP"] * (1.0 + 1e-6)
    slid = pressing.sliding(duration=0.35)["exact cone QCQP"]
    assert slid["error along the way, mm"] < 1.0
    assert grasp.lifting(duration=0.4)["exact cone QCQP"]["held"]


def test_the_command_prints_json_alone():
    ran = CliRunner().invoke(main, ["reproduce", "aghili", "--quick", "--only", "decay", "--json"])
    assert ran.exit_code == 0
    assert json.loads(ran.stdout)["decay"]["met"]
    refused = CliRunner().invoke(main, ["reproduce", "aghili", "--only", "nothing"])
    assert refused.exit_code == 2
    assert np.char.find(refused.output, "expected some of") >= 0
