"""Threads beside the caller's, for work of half a millisecond and more.

They wait in a queue that is the interpreter's own, a third of the time of executors, whose futures
are Python: handing out work takes the caller 9 us, and the helper begins 15 us after that began.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread

import numpy as np

from spatialops._compile.jit import COMPILED
from spatialops.simulation.batch.meeting import await_done
from spatialops.simulation.batch.stock import taken

Outcome = BaseException | None


class _Job:
    """Something that several threads do together.

    Attributes
    ----------
    places : list
        One for each helper that has not begun; who has none left need not begin.
    outcomes : queue
        Of each helper that has begun, when it is done.
    done : (1,) int array
        How many of them are.
    """

    def __init__(self, work: Callable[[], None], helpers: int) -> None:
        self.work = work
        self.places = list(range(1, helpers + 1))
        self.outcomes: SimpleQueue[Outcome] = SimpleQueue()
        self.done = np.zeros(1, dtype=np.int64)

    def help(self) -> None:
        """Take part, unless all is done already."""
        if taken(self.places) is None:
            return
        try:
            self.work()
        except BaseException as error:  # it is raised where the work was handed out
            self.outcomes.put(error)
        else:
            self.outcomes.put(None)
        self.done[0] += 1


class Helpers:
    """Threads that wait for work until they are let go, or nobody knows them any more.

    Parameters
    ----------
    count : int
        How many; they begin when there is work.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._let_go: Callable[[], object] | None = None

    def __reduce__(self) -> tuple[type[Helpers], tuple[int]]:
        return Helpers, (self._count,)  # a copy has threads of its own

    def share(self, work: Callable[[], None], helpers: int) -> None:
        """Do something together with so many helpers; whoever has begun is done on return.

        Raises
        ------
        BaseException
            That of the caller's part, else one of a helper's.
        """
        if helpers <= 0:
            work()
            return
        if self._let_go is None:
            self._begin()
        job = _Job(work, helpers)
        for _ in range(helpers):
            self._jobs.put(job)
        begun = helpers
        try:
            work()
        finally:
            while taken(job.places) is not None:
                begun -= 1
            if begun and COMPILED:  # else who looks would keep the interpreter
                await_done(job.done, begun)
            outcomes = [job.outcomes.get() for _ in range(begun)]
        for outcome in outcomes:
            if outcome is not None:
                raise outcome

    def close(self) -> None:
        """Let the threads go."""
        if self._let_go is not None:
            self._let_go()
            self._let_go = None

    def _begin(self) -> None:
        for _ in range(self._count):
            Thread(target=_wait, args=(self._jobs,), name="Batch helper", daemon=True).start()
        self._let_go = weakref.finalize(self, _dismiss, self._jobs, self._count)


def _wait(jobs: SimpleQueue[_Job | None]) -> None:
    """What a helper does."""
    while (job := jobs.get()) is not None:
        job.help()
        del job  # what it holds must not live until the next one


def _dismiss(jobs: SimpleQueue[_Job | None], count: int) -> None:
    for _ in range(count):
        jobs.put(None)
