"""One thread at a time in a simulator: its tables are memory that a step works in."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from spatialops.errors import ArgumentError


class OneThread:
    """Refuses a second thread while a first is at work; the first may enter again.

    Waiting in place of refusing would hide that two threads take turns at one state.

    Parameters
    ----------
    what : str
        What is at work, for the error.
    """

    def __init__(self, what: str = "Simulator") -> None:
        self._what = what
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise ArgumentError(
                f"this {self._what} is at work in another thread: make one for each thread "
                "(they may share models and scenes)"
            )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[OneThread], tuple[str]]:
        return OneThread, (self._what,)  # a copy is at work nowhere


class WorksAlone(Protocol):
    """What only one thread may be at work in."""

    one_thread: OneThread


Own = TypeVar("Own", bound=WorksAlone)
Given = ParamSpec("Given")
Result = TypeVar("Result")


def alone(
    method: Callable[Concatenate[Own, Given], Result],
) -> Callable[Concatenate[Own, Given], Result]:
    """A method that refuses a second thread, as all others of its object that are so."""

    @wraps(method)
    def guarded(self: Own, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        with self.one_thread:
            return method(self, *args, **kwargs)

    return guarded
