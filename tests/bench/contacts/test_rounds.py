"""What is measured of a case, and what is said of engines that fail or take too long."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spatialops.bench.contacts import engines, rounds
from spatialops.bench.contacts.cases import CASES
from spatialops.bench.measure import Effort
from spatialops.errors import SolverFailed

pytest.importorskip("mujoco")

TINY = Effort(rounds=3, block=1e-4)


def measured(case, budget=60.0, reports=None):
    report = (
        (lambda seen: None) if reports is None else (lambda seen: reports.append(len(seen.ours)))
    )
    return rounds.Rounds(case, case.make(), TINY, budget, report).measure()


@pytest.mark.compiled
def test_at_rest_settled_and_measured():
    reports = []
    seen = measured(replace(CASES["lying chain 3"], settle=20), reports=reports)
    assert seen.finished
    assert seen.settled == 20
    assert len(seen.ours) == len(seen.peer) == len(seen.steps) == TINY.rounds
    assert seen.contacts == seen.peer_contacts == [3, 3, 3]
    assert min(*seen.ours, *seen.peer) > 0.0
    assert seen.residual <= 1e-9
    assert seen.above == 0
    assert seen.peer_depth > 1e-6  # soft contacts give way, and that is noticed
    assert reports[-1] == TINY.rounds


@pytest.mark.compiled
def test_in_motion_all_steps_count():
    seen = measured(replace(CASES["moving chain 6"], steps=25))
    assert seen.finished
    assert sum(seen.steps) == 25
    assert seen.settled == 0


@pytest.mark.compiled
def test_time_that_is_up_ends_it():
    seen = measured(replace(CASES["moving chain 6"], steps=1_000_000), budget=0.2)
    assert not seen.finished
    assert 0 < sum(seen.steps) < 1_000_000


@pytest.mark.compiled
def test_a_failed_solve_is_told(monkeypatch):
    run = engines.Ours.run
    calls = []

    def fails(self, steps):
        calls.append(steps)
        if len(calls) > 3:
            raise SolverFailed("no answer")
        return run(self, steps)

    monkeypatch.setattr(engines.Ours, "run", fails)
    seen = measured(replace(CASES["moving chain 6"], steps=100))
    assert seen.failure == "SolverFailed: no answer"
    assert len(seen.ours) == 3
    assert not seen.finished


@pytest.mark.compiled
def test_penetration_and_residual_of_ours_are_noticed():
    case = CASES["boxes 1"]
    engine = engines.Ours(case.make().scene, case.dt)
    engine.run(2)
    assert engine.depth < 1e-9
    engine.tables.monitor[engines.at.LOWEST_GAP] = -0.25
    engine.tables.monitor[engines.at.RESIDUAL] = 0.5
    engine.run(0)
    assert engine.depth == 0.25
    assert engine.residual == 0.5
    assert engine.above == 1
    engine.run(2)
    assert engine.above == 1
