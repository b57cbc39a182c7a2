"""What a probe says: a figure, its unit, and the bar that it is held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array


@dataclass(frozen=True)
class Figure:
    """One measured figure.

    Parameters
    ----------
    probe : str
        What was measured.
    case : str
        Under which options.
    value : float
    unit : str
        "1" for what has none.
    bar : float
        The largest value that is accepted.
    """

    probe: str
    case: str
    value: float
    unit: str
    bar: float

    @property
    def passed(self) -> bool:
        """Whether the bar is met; NaN does not."""
        return bool(self.value <= self.bar)

    def to_data(self) -> dict[str, object]:
        """As plain data."""
        return {
            "probe": self.probe,
            "case": self.case,
            "value": self.value,
            "unit": self.unit,
            "bar": self.bar,
            "passed": self.passed,
        }


def swing(values: Array, scale: float) -> float:
    """Largest departure of a quantity that should be kept from where it began, over a scale."""
    return float(np.abs(values - values[0]).max() / scale)


def trend(values: Array, scale: float) -> float:
    """Change of the mean from the first to the last quarter, over a scale."""
    quarter = max(len(values) // 4, 1)
    return float(abs(values[-quarter:].mean() - values[:quarter].mean()) / scale)


def order(errors: Sequence[float], ratio: float = 2.0) -> float:
    """The power of dt by which errors at dt, dt / ratio, ... fall, from the last two."""
    return float(np.log(errors[-2] / errors[-1]) / np.log(ratio))
