"""A process that measures cases one after another, and can be stopped within a step.

A compiled step of a large scene may take longer than anybody will wait for. It runs in a process of
its own, which says after every block what it knows; when its time is up it is ended, and the next
case gets a new one.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from time import perf_counter

from spatialops.bench.contacts.cases import CASES
from spatialops.bench.contacts.rounds import Measured, Rounds
from spatialops.bench.measure import BenchError, Effort
from spatialops.errors import SpatialOpsError
from spatialops.precompile import precompile

_GRACE = 10.0  # s beyond twice the time that a case gets, until its process is ended
_BUILDING = 240.0  # s for making a scene
_OFTEN = 0.5  # s between two reports
_MEMORY = 10 * 2**30  # bytes of address space; ours makes tables of (6 m)^2 for m contacts

_COMPILING = 1800.0  # s for the kernels of the loop, where they are not in the cache

READY, ABSENT, BUILT, PARTLY, WHOLE, REFUSED = range(6)  # kinds of messages


@dataclass(frozen=True)
class Order:
    """What is to be measured, and how."""

    name: str
    effort: Effort
    budget: float


@dataclass(frozen=True)
class Outcome:
    """What came of a case.

    Attributes
    ----------
    seen : Measured or None
        None where nothing could be measured.
    reason : str
        Why it was left out or stopped; empty where it was not.
    """

    seen: Measured | None
    reason: str = ""


def serve(pipe: Connection) -> None:
    """Measure what is ordered until the other side hangs up."""
    precompile(progress=False, loop_only=True)
    _limit_memory()
    pipe.send((READY, None))
    while True:
        try:
            order = pipe.recv()
        except EOFError:
            return
        _answer(pipe, order)


def _answer(pipe: Connection, order: Order) -> None:
    last = [0.0]

    def report(seen: Measured) -> None:
        if perf_counter() - last[0] > _OFTEN:
            last[0] = perf_counter()
            pipe.send((PARTLY, seen))

    try:
        case = CASES[order.name]
        setting = case.make()
        if setting is None:
            pipe.send((ABSENT, "the robot's files are not installed"))
            return
        rounds = Rounds(case, setting, order.effort, order.budget, report)
        pipe.send((BUILT, rounds.seen))
        pipe.send((WHOLE, rounds.measure()))
    except (SpatialOpsError, MemoryError) as error:
        pipe.send((REFUSED, f"{type(error).__name__}: {error}"))


def _limit_memory() -> None:
    """Fail with an error, not with a machine out of memory."""
    if sys.platform != "win32":
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, hard))


class Worker:
    """The process as its owner sees it; use it in a `with` statement.

    Parameters
    ----------
    target : callable
        What the process runs. Default `serve`.
    """

    def __init__(self, target: Callable[[Connection], None] = serve) -> None:
        self._target = target
        # Not forked: threads of libraries do not survive that.
        self._context = multiprocessing.get_context("spawn")
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _begin(self) -> Connection:
        if self._pipe is None:
            self._pipe, theirs = self._context.Pipe()
            self._process = self._context.Process(target=self._target, args=(theirs,), daemon=True)
            self._process.start()
            theirs.close()
            if not self._pipe.poll(_COMPILING):
                self._end()
                raise BenchError(f"the stepping loop was not compiled within {_COMPILING:.0f} s")
            self._pipe.recv()
        return self._pipe

    def _end(self) -> None:
        if self._process is not None and self._pipe is not None:
            self._pipe.close()
            self._process.kill()
            self._process.join()
        self._pipe = self._process = None

    def measure(self, order: Order) -> Outcome:
        """Measure one case; it always ends.

        Raises
        ------
        BenchError
            If the kernels of the loop cannot be compiled in time.
        """
        pipe = self._begin()
        pipe.send(order)
        seen: Measured | None = None
        limit = perf_counter() + _BUILDING
        while pipe.poll(max(limit - perf_counter(), 0.0)):
            try:
                kind, what = pipe.recv()
            except (EOFError, ConnectionError):
                self._end()
                return Outcome(seen, "its process ended")
            if kind in (ABSENT, REFUSED):
                return Outcome(None, what)
            seen = what
            if kind == WHOLE:
                return Outcome(seen)
            if kind == BUILT:
                limit = perf_counter() + 2.0 * order.budget + _GRACE
        self._end()
        return Outcome(seen, f"stopped within a step after {2.0 * order.budget + _GRACE:.0f} s")
