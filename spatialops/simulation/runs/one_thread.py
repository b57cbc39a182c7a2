"""One thread at a time in a simulator: its tables are memory that a step works in."""

from __future__ import annotations

import threading
from types import TracebackType

from spatialops.errors import ArgumentError


class OneThread:
    """Refuses a second thread while a first is at work; the first may enter again.

    Waiting in place of refusing would hide that two threads take turns at one state.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise ArgumentError(
                "this Simulator is at work in another thread: make one for each thread "
                "(they may share models and scenes)"
            )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[OneThread], tuple[()]]:
        return OneThread, ()  # a copy is at work nowhere
