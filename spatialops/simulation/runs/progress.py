"""A progress bar for runs."""

from __future__ import annotations

import sys
from typing import Protocol


class Shown(Protocol):
    """What of a bar of tqdm's is used."""

    def update(self, count: int) -> object:
        """Go on by `count` steps."""

    def close(self) -> None:
        """Take it away."""


class Bar:
    """A progress bar, or nothing that behaves like one."""

    def __init__(self, bar: Shown | None) -> None:
        self.bar = bar

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *details: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def update(self, count: int) -> None:
        """Tell of `count` more steps."""
        if self.bar is not None:
            self.bar.update(count)


def progress_bar(total: int, show: bool, what: str = "simulating", unit: str = "step") -> Bar:
    """A bar for `total` steps or other units, on standard error; none where that is closed."""
    if not show or sys.stderr is None:
        return Bar(None)
    from tqdm import tqdm

    return Bar(tqdm(total=total, unit=unit, unit_scale=True, desc=what, leave=False))
