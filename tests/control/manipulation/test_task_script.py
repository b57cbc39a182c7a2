"""A script goes by its guards, and says why it failed."""

from types import SimpleNamespace

import pytest

from spatialops.control.manipulation.task_script import Guard, Phase, Script
from spatialops.errors import ArgumentError

WARM = Guard("it is warm", lambda s: s.heat, lambda x: x > 20.0, "C")
DRY = Guard("it is dry", lambda s: s.rain, lambda x: x == 0.0)


def _run(script, heats, rains=None, dt=0.1):
    begun = []
    for i, heat in enumerate(heats):
        rain = rains[i] if rains else 0.0
        if phase := script.advance(i * dt, SimpleNamespace(heat=heat, rain=rain)):
            begun.append((round(i * dt, 9), phase.name))
    return begun


def test_phases_follow_when_guards_have_held():
    script = Script(
        [Phase(name="wait", until=[WARM], hold=0.25), Phase(name="go", until=[WARM], hold=0.0)]
    )
    begun = _run(script, [0, 0, 30, 30, 10, 30, 30, 30, 30, 30, 30])
    assert begun == [
        (0.0, "wait"),
        (0.8, "go"),
    ]  # warm from 0.5 on, for 0.25 s; what was warm before did not last
    assert script.succeeded
    assert script.finished
    assert script.phase is None
    assert [passed.name for passed in script.passed] == ["wait", "go"]


def test_a_timeout_says_what_it_waited_for():
    script = Script([Phase(name="wait", until=[WARM, DRY], timeout=0.5)])
    _run(script, [12.5] * 10)
    assert script.finished
    assert not script.succeeded
    assert script.phase is None
    assert "'wait' timed out after 0.5 s" in script.failure
    assert "it is warm (now 12.5 C)" in script.failure
    assert "dry" not in script.failure


def test_a_guard_that_must_hold_throughout():
    script = Script([Phase(name="dance", until=[WARM], during=[DRY])])
    _run(script, [0] * 5, [0, 0, 0, 2.0, 0])
    assert "phase 'dance' at t = 0.300 s: no longer so: it is dry (now 2)" in script.failure
    assert script.advance(1.0, SimpleNamespace(heat=99.0, rain=0.0)) is None
    assert not script.passed


def test_bad_scripts():
    with pytest.raises(ArgumentError, match="at least one"):
        Script([])
    with pytest.raises(ArgumentError, match="timeout"):
        Phase(name="x", timeout=0.0)
