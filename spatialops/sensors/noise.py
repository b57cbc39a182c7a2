"""Errors of sensors: white noise and a constant bias, the same for the same seed.

Numbers are drawn by counters (Philox), from the seed, the sensor's name and the step's index alone:
a run that is resumed, or recorded less often, reads the same.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, ArrayLike, whole
from spatialops.errors import ArgumentError

_BIAS = 2**64 - 1  # the counter that the bias is drawn at, which no step reaches


@dataclass(frozen=True, eq=False)
class Noise:
    """Errors that are added to readings.

    Parameters
    ----------
    std : float or (k,) array_like
        Standard deviation of white noise, in the sensor's units. Default 0.
    bias : float or (k,) array_like
        Standard deviation of an offset that stays for the whole run, likewise. Default 0.
    seed : int
        Not negative. Default 0.

    Examples
    --------
    >>> import numpy as np
    >>> from spatialops.sensors import Noise
    >>> noise = Noise(std=0.1, bias=0.5, seed=7)
    >>> np.array_equal(noise.at("imu", 3, 6), noise.at("imu", 3, 6))
    True
    """

    std: ArrayLike = 0.0
    bias: ArrayLike = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("std", "bias"):
            object.__setattr__(self, name, _deviations(getattr(self, name), name))
        object.__setattr__(self, "seed", whole(self.seed, "noise: seed", low=0))

    def checked(self, sensor: str, n: int) -> Noise:
        """The same; ArgumentError where it is for another number of columns."""
        for name in ("std", "bias"):
            shape = np.shape(getattr(self, name))
            if shape not in ((), (n,)):
                raise ArgumentError(
                    f"sensor {sensor!r}: noise: {name}: expected one number or {n}, got {shape}"
                )
        return self

    def at(self, sensor: str, step: int, n: int, *, seed: int = 0) -> Array:
        """Errors of a sensor's n columns after a step.

        Parameters
        ----------
        sensor : str
            Its name.
        step : int
            Index of the step.
        n : int
            Columns.
        seed : int
            Added to that of the noise. Default 0.

        Returns
        -------
        (n,) array
            In the sensor's units.
        """
        step, n = whole(step, "step", low=0), whole(n, "n", low=0)
        seed = whole(seed, "seed", low=0)
        white, offset = (
            np.random.Generator(self._bits(sensor, counter, seed)).standard_normal(n)
            for counter in (step, _BIAS)
        )
        return np.asarray(self.std) * white + np.asarray(self.bias) * offset

    def _bits(self, sensor: str, counter: int, seed: int) -> np.random.Philox:
        # The counter's highest word: lower ones count the draws.
        key = [(self.seed + seed) % 2**64, zlib.crc32(sensor.encode())]
        return np.random.Philox(
            key=np.array(key, dtype=np.uint64),
            counter=np.array([0, 0, 0, counter], dtype=np.uint64),
        )


def _deviations(values: ArrayLike, name: str) -> Array:
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"noise: {name}: expected numbers, got {values!r}") from None
    if found.ndim > 1 or not np.isfinite(found).all() or (found < 0.0).any():
        raise ArgumentError(f"noise: {name}: expected finite numbers >= 0, got {values!r}")
    return found
