"""Functions at work in a process of their own, which may crash, hang or eat memory there.

The child is kept from one case to the next; one that dies or is late is replaced.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

Judge: TypeAlias = Callable[[object], str]  # of a case: the outcome in a word or more


class Outcome(NamedTuple):
    """What became of a case.

    Attributes
    ----------
    text : str
        What the judge said, or "crash", "hang", "foreign" with the details.
    seconds : float
        How long it took.
    """

    text: str
    seconds: float

    @property
    def failed(self) -> bool:
        """Whether nobody may see this: see `FAILURES`."""
        return self.text.startswith(FAILURES)


_LOOK = 0.5  # s between looks at the clocks
_WAITS = 20.0  # times what it may use of a processor
FAILURES = ("crash", "hang", "foreign", "wrong")


class Watched:
    """A judge in a child process; a context.

    Parameters
    ----------
    judge : callable
        Of a module, so that the child finds it.
    seconds : float
        Of a processor, after which a case hangs; or that it waits so often.
    first : sequence, optional
        Cases that every child begins with, to load what there is; they have no outcome.
    """

    def __init__(self, judge: Judge, seconds: float, first: Sequence[object] = ()) -> None:
        self._judge = judge
        self._seconds = seconds
        self._first = first
        self._child: multiprocessing.Process | None = None

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *details: object) -> None:
        self._end()

    def __call__(self, case: object) -> Outcome:
        """The outcome of a case."""
        if self._child is None:
            self._begin()
        begin = time.monotonic()
        try:
            self._pipe.recv()
            begin = time.monotonic()
            self._pipe.send(case)
            if not self._answers(begin):
                self._end()
                return Outcome(f"hang: {self._seconds:g} s", time.monotonic() - begin)
            return Outcome(*self._pipe.recv())
        except (EOFError, OSError):
            code = self._end()
            name = signal.Signals(-code).name if code < 0 else str(code)
            return Outcome(f"crash: {name}", time.monotonic() - begin)

    def _answers(self, begin: float) -> bool:
        """Whether there is an answer in time; on a busy machine much of it may not be its own."""
        spent = _processor_time(self._child)
        while not self._pipe.poll(_LOOK):
            if _processor_time(self._child) - spent > self._seconds:
                return False
            if time.monotonic() - begin > _WAITS * self._seconds:
                return False
        return True

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._child = context.Process(
            target=_serve, args=(self._judge, theirs, self._first), daemon=True
        )
        self._child.start()
        theirs.close()
        if self._pipe.recv() != "begun":
            raise RuntimeError("the first cases already fail")

    def _end(self) -> int:
        child, self._child = self._child, None
        if child is None:
            return 0
        child.join(0.5)
        if child.is_alive():
            child.kill()
            child.join()
        self._pipe.close()
        return int(child.exitcode or 0)


def _serve(
    judge: Judge, pipe: multiprocessing.connection.Connection, first: Sequence[object]
) -> None:
    """Answer cases until there are no more."""
    try:
        for case in first:
            judge(case)
    except BaseException:
        pipe.send("failed")
        raise
    pipe.send("begun")
    while True:
        pipe.send("ready")
        try:
            case = pipe.recv()
        except EOFError:
            return
        begin = time.monotonic()
        try:
            text = judge(case)
        except BaseException as error:  # what comes out here is a finding
            text = f"foreign: {type(error).__name__}: {error}"
        pipe.send((text, time.monotonic() - begin))


def _processor_time(process: multiprocessing.Process | None) -> float:
    """What a process has used so far, s; 0 once it is gone."""
    try:
        content = Path(f"/proc/{process.pid if process else 0}/stat").read_text()
    except OSError:
        return 0.0
    user, system = content.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


class Peak:
    """The largest memory that a block takes beyond what there was before, `megabytes`; Linux."""

    def __enter__(self) -> Peak:
        Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
        self._before = _memory("VmRSS")
        return self

    def __exit__(self, *details: object) -> None:
        self.megabytes = _memory("VmHWM") - self._before


def _memory(what: str) -> float:
    """A figure of /proc/self/status, MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(what)) / 1e3
