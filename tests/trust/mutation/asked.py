"""Tests that are run one by one in a copy of this process, until one fails."""

from __future__ import annotations

import os
import pickle
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import NamedTuple, TypeVar

import pytest
from _pytest.runner import runtestprotocol

QUICK = 0.3  # s of a processor that most tests take in pure Python; they are asked first
SLOW = 2.0  # s; what takes more is not asked
_Found = TypeVar("_Found")


class Asked(NamedTuple):
    """What tests have said.

    Attributes
    ----------
    failed : str
        The first that fails; empty if none does.
    passed : dict
        Those before that pass, and what they take of a processor, s.
    slow : list of str
        Those before that were stopped.
    """

    failed: str
    passed: dict[str, float]
    slow: list[str]


def ask(items: list[pytest.Item], each: float, most: float, progress: Path) -> Asked:
    """Run tests until one fails; to be called in a copy.

    What hangs outside of Python ends the process.

    Parameters
    ----------
    items : list of Item
    each, most : float
        s of a processor, after which one is stopped, and after which no other one begins.
    progress : path
        A file that has the name of the test that runs.
    """
    signal.signal(signal.SIGVTALRM, _is_too_slow)
    passed: dict[str, float] = {}
    slow: list[str] = []
    until = time.process_time() + most
    for item, following in zip(items, [*items[1:], None], strict=True):
        if time.process_time() > until:
            break
        progress.write_text(item.nodeid)
        begin = time.process_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, each)
        reports = runtestprotocol(item, nextitem=following, log=False)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        taken = time.process_time() - begin
        if taken > each:
            slow.append(item.nodeid)
        elif any(report.failed for report in reports):
            return Asked(item.nodeid, passed, slow)
        else:
            passed[item.nodeid] = taken
    return Asked("", passed, slow)


def in_a_copy(work: Callable[[], _Found], answer: Path) -> _Found | None:
    """What something returns in a copy of this process; None where the copy does not end well."""
    answer.unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            silence = os.open(os.devnull, os.O_RDWR)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            answer.write_bytes(pickle.dumps(work()))
            code = 0
        finally:
            os._exit(code)
    os.waitpid(pid, 0)
    return pickle.loads(answer.read_bytes()) if answer.exists() else None


class _TooSlow(BaseException):
    """What no test catches; pytest does."""


def _is_too_slow(number: int, frame: FrameType | None) -> None:
    raise _TooSlow


def fastest_first(names: Iterable[str], usual: dict[str, float]) -> list[str]:
    """Tests of which is known what they take, then the others as they come."""
    known = sorted((name for name in names if name in usual), key=lambda name: usual[name])
    return [*known, *(name for name in names if name not in usual)]
