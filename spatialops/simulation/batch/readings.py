"""What sensors of the environments of a batch read, and whose noise is in it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, dimensions, whole
from spatialops.errors import ArgumentError
from spatialops.simulation.batch.starts import state_in
from spatialops.simulation.runs.observed_step import not_begun, observed
from spatialops.simulation.runs.setup import Setup
from spatialops.simulation.stepping.adapter import state_of
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import State


class Readings(NamedTuple):
    """Arrays of a whole batch of B environments over T steps.

    Attributes
    ----------
    seeds : (B,) list of int
        Added to the seeds of their noises.
    values : (B, T, width) array
        Written: behind every step; NaN from a failure on.
    """

    seeds: list[int]
    values: Array

    @property
    def wanted(self) -> bool:
        """Whether there are sensors."""
        return self.values.shape[2] > 0


class Observer:
    """Reads the sensors of one environment after the other, behind each of its steps."""

    def __init__(self) -> None:
        self._stood: State | None = None

    def begin(self, t: Tables) -> None:
        """The next step begins in the present state."""
        self._stood = state_of(t)

    def read(self, setup: Setup, t: Tables, seed: int, row: Array) -> None:
        """Read after a step, into a row (width,)."""
        if self._stood is None:
            raise RuntimeError("no step has begun")
        row[:] = setup.sensing.read(observed(setup.scene, t, self._stood, seed))
        self.begin(t)


def first_readings(setups: list[Setup], starts: Array, seeds: list[int]) -> Array:
    """What is read where n environments begin, (n, width): NaN of sensors that need a step."""
    rows = np.empty((len(setups), setups[0].sensing.width))
    if rows.size:
        for row, setup, start, seed in zip(rows, setups, starts, seeds):
            state = state_in(start, setup.scene.model)
            row[:] = setup.sensing.read(not_begun(setup.scene, state, seed))
    return rows


def noise_seeds(seeds: ArrayLike | None, which: IntArray) -> list[int]:
    """Checked; by default the indices of the environments."""
    if seeds is None:
        return which.tolist()
    one = dimensions(seeds, "seeds") == 0
    listed = [np.asarray(seeds).item()] if one else np.asarray(seeds).tolist()
    if len(listed) != len(which):
        raise ArgumentError(f"seeds: expected {len(which)}, one an environment, got {len(listed)}")
    return [whole(seed, "seeds", low=0) for seed in listed]
