"""When feet are on the ground: timing of [Z] 7.2.1, figure 7."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spatialops._arrays import Array, BoolArray, scalar
from spatialops.errors import ArgumentError


@dataclass(frozen=True, kw_only=True)
class Gait:
    """A cyclic pattern of steps; the default is the trot of [Z] 7.6.

    Parameters
    ----------
    period : float, default 0.3
        s.
    duty : float, default 0.75
        Part of the period that a foot stands, in (0, 1).
    touchdown : tuple of float
        Phase at which each foot lands, in the order of the feet (left front, right front, left
        hind, right hind); default: (0.25, 0.75, 0.75, 0.25).
    step_height : float, default 0.015
        m.

    Raises
    ------
    ArgumentError
        For values out of range.

    Examples
    --------
    >>> from spatialops.control import Gait
    >>> Gait().standing(0.2)  # two feet swing, diagonally
    array([ True, False, False,  True])
    """

    period: float = 0.3
    duty: float = 0.75
    touchdown: tuple[float, ...] = (0.25, 0.75, 0.75, 0.25)
    step_height: float = 0.015

    def __post_init__(self) -> None:
        scalar(self.period, "period", low=0.0, strict=True)
        if not 0.0 < scalar(self.duty, "duty") < 1.0:
            raise ArgumentError(f"duty: expected a number between 0 and 1, got {self.duty:g}")
        scalar(self.step_height, "step_height", low=0.0)

    def phases(self, time: float) -> Array:
        """Time since each foot's last touchdown.

        Parameters
        ----------
        time : float
            Time, s.

        Returns
        -------
        (feet,) array
            As a part of the period, in [0, 1).
        """
        return np.asarray((scalar(time, "time") / self.period - self.landings) % 1.0)

    @cached_property
    def landings(self) -> Array:
        """`touchdown` as an array (feet,)."""
        return np.array(self.touchdown, dtype=np.float64)

    def standing(self, time: float) -> BoolArray:
        """Which feet stand.

        Parameters
        ----------
        time : float
            Time, s.

        Returns
        -------
        (feet,) array
            Of bool.
        """
        return np.asarray(self.phases(time) < self.duty)

    def swing(self, time: float) -> Array:
        """How much of its swing each foot has done.

        Parameters
        ----------
        time : float
            Time, s.

        Returns
        -------
        (feet,) array
            In [0, 1); 0 for feet that stand.
        """
        return np.maximum(self.swing_or_before(time), 0.0)

    def swing_or_before(self, time: float) -> Array:
        """As `swing`, but below 0 for feet that stand.

        Parameters
        ----------
        time : float
            Time, s.

        Returns
        -------
        (feet,) array
            Below 1.
        """
        return np.asarray((self.phases(time) - self.duty) / (1.0 - self.duty))

    @property
    def stance_time(self) -> float:
        """Time that a foot stands in each period, s."""
        return self.period * self.duty

    @property
    def swing_time(self) -> float:
        """Time that a foot swings in each period, s."""
        return self.period * (1.0 - self.duty)
