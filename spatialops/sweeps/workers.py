"""Groups of tasks on an executor, as many at a time as keep it busy; dead workers are replaced."""

from __future__ import annotations

import math
import multiprocessing
import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from pathlib import Path
from typing import NamedTuple

from spatialops.sweeps.store import write_rows
from spatialops.sweeps.tasks import Function, Parameters, Row, run_task

_GROUP = 0.05  # s that a group takes at least: handing one over costs a millisecond
_GROWTH = 4  # times the tasks of the group before, at most
_AHEAD = 3  # groups that wait for each worker
_LIVES = 10  # workers that may end over a task


class Task(NamedTuple):
    """A key and the parameters that it stands for."""

    key: str
    parameters: Parameters


class Job(NamedTuple):
    """What all tasks have in common."""

    function: Function
    seed: int | None
    folder: Path | None

    def run(self, tasks: list[Task]) -> list[Row]:
        """Rows of a group, written where it is computed: so they outlive who asked for them."""
        rows = [run_task(self.function, task.key, task.parameters, self.seed) for task in tasks]
        if self.folder is not None:
            write_rows(self.folder, rows)
        return rows


def processes(count: int) -> Executor:
    """So many processes; they end with this one."""
    return ProcessPoolExecutor(
        count,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_end_with_parent,
    )


def _end_with_parent() -> None:
    """Leave no process behind where the parent is killed."""

    def watch() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Dispatcher:
    """Hands tasks out in groups of at least 50 ms.

    Parameters
    ----------
    job : Job
        What is done.
    tasks : list of Task
        In order.
    make : callable
        Makes an executor: another one where processes of it have ended.
    workers : int
        How many calls it makes at a time.
    replaced : bool
        Whether it may be made again; if not, `BrokenExecutor` is raised.
    """

    def __init__(
        self,
        job: Job,
        tasks: list[Task],
        make: Callable[[], Executor],
        workers: int,
        *,
        replaced: bool,
    ) -> None:
        self._job = job
        self._left = deque(tasks)
        self._make = make
        self._most = _AHEAD * workers  # groups that are out
        self._replaced = replaced
        self._size = 1
        self._deaths: Counter[str] = Counter()
        self._running: dict[Future[list[Row]], list[Task]] = {}

    def rows(self) -> Iterator[list[Row]]:
        """Rows of groups, as they come."""
        while self._left:
            executor = self._make()
            try:
                yield from self._until_broken(executor)
            except BrokenExecutor:
                if not self._replaced:
                    raise
                yield from self._mourn()
            finally:
                if self._replaced:
                    executor.shutdown(wait=False, cancel_futures=True)

    def _until_broken(self, executor: Executor) -> Iterator[list[Row]]:
        most = self._most
        while self._left or self._running:
            while self._left and len(self._running) < most:
                count = min(self._size, math.ceil(len(self._left) / most))
                group = [self._left.popleft() for _ in range(count)]
                try:
                    self._running[executor.submit(self._job.run, group)] = group
                except BrokenExecutor:
                    self._left.extendleft(reversed(group))
                    raise
            done, _ = wait(self._running, return_when=FIRST_COMPLETED)
            for future in done:
                rows = future.result()
                del self._running[future]
                self._learn(rows)
                yield rows

    def _learn(self, rows: list[Row]) -> None:
        """How many tasks make a group."""
        spent = sum(float(str(row["seconds"])) for row in rows)
        wanted = math.ceil(_GROUP * len(rows) / max(spent, 1e-9))
        self._size = max(1, min(wanted, _GROWTH * self._size))

    def _mourn(self) -> Iterator[list[Row]]:
        """Tasks that were out when a worker ended go back; those that do it again fail."""
        for future, group in self._running.items():
            if future.done() and future.exception() is None:
                yield future.result()
                continue
            self._deaths.update(task.key for task in group)
            lost = [task for task in group if self._deaths[task.key] >= _LIVES]
            self._left.extendleft(task for task in reversed(group) if task not in lost)
            if lost:
                yield [_ended(task) for task in lost]
        self._running.clear()
        self._size = 1


def _ended(task: Task) -> Row:
    """The row of a task over which workers end; not kept, so that another run tries it again."""
    error = f"its worker ended {_LIVES} times: it was killed, or had not enough memory"
    return {"key": task.key, "parameters": task.parameters, "value": None, "error": error}
