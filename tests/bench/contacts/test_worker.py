"""The process that measures: it answers; where it hangs it is ended, and the next gets another."""

from __future__ import annotations

import time

import pytest

from spatialops.bench.contacts import worker
from spatialops.bench.contacts.rounds import Measured
from spatialops.bench.contacts.worker import BUILT, PARTLY, READY, REFUSED, WHOLE, Order, Worker
from spatialops.bench.measure import BenchError, Effort

EFFORT = Effort(rounds=3, block=1e-4)


def actor(pipe):
    """Stands in for `serve`: does what the name of the case says."""
    pipe.send((READY, None))
    while True:
        order = pipe.recv()
        if order.name == "refuses":
            pipe.send((REFUSED, "MemoryError: too large"))
        elif order.name == "dies":
            return
        elif order.name == "hangs":
            pipe.send((BUILT, Measured()))
            pipe.send((PARTLY, Measured(steps=[1], ours=[2.0], peer=[1.0])))
            time.sleep(60.0)
        else:
            pipe.send((BUILT, Measured()))
            pipe.send((WHOLE, Measured(finished=True)))


def test_a_step_without_end_is_ended(monkeypatch):
    monkeypatch.setattr(worker, "_GRACE", 0.1)
    with Worker(actor) as own:
        begin = time.perf_counter()
        outcome = own.measure(Order("hangs", EFFORT, 0.1))
        assert time.perf_counter() - begin < 30.0
        assert outcome.reason.startswith("stopped within a step")
        assert outcome.seen.ours == [2.0]  # what was known until then is kept
        assert own.measure(Order("works", EFFORT, 0.1)).seen.finished


def test_refused_and_dead():
    with Worker(actor) as own:
        assert own.measure(Order("refuses", EFFORT, 1.0)).reason == "MemoryError: too large"
        assert own.measure(Order("dies", EFFORT, 1.0)).reason == "its process ended"
        assert own.measure(Order("works", EFFORT, 1.0)).seen.finished


def silent(pipe):
    pipe.recv()


def test_kernels_that_are_never_ready(monkeypatch):
    monkeypatch.setattr(worker, "_COMPILING", 0.2)
    with Worker(silent) as own, pytest.raises(BenchError, match="not compiled"):
        own.measure(Order("works", EFFORT, 1.0))


@pytest.mark.compiled
def test_a_real_case_is_measured():
    pytest.importorskip("mujoco")
    with Worker() as own:
        outcome = own.measure(Order("lying chain 1", EFFORT, 10.0))
    assert outcome.reason == ""
    assert outcome.seen.finished
    assert outcome.seen.contacts == [1, 1, 1]
