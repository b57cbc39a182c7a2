"""Up to eight environments of one scene at work on one thread, side by side where they are free."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from spatialops._arrays import IntArray
from spatialops._compile.held import Held
from spatialops.errors import SpatialOpsError
from spatialops.simulation import _layout as at
from spatialops.simulation.batch.chunk import (
    Begin,
    Chunk,
    Environment,
    Failure,
    Work,
    asked_of,
    stay,
)
from spatialops.simulation.batch.eights import alone
from spatialops.simulation.batch.eights.eight import new_eight
from spatialops.simulation.batch.eights.together import step_eight
from spatialops.simulation.batch.readings import Readings


class EightChunk(Chunk):
    """Environments that share registers.

    Parameters
    ----------
    which : (n,) int array
        Their indices in the batch, at most eight.
    environments : list of Environment
        One for each, of one scene, which `fits_in_lanes`.
    """

    def __init__(self, which: IntArray, environments: list[Environment]) -> None:
        super().__init__(which, environments)
        self._held = Held(new_eight(environments[0].loop.tables))

    def run(
        self,
        work: Work,
        readings: Readings,
        begin: Begin,
        *,
        resets: bool,
        frozen: Collection[int] = (),
    ) -> dict[int, Failure]:
        """As `Chunk.run`; wrenches are for environments that step alone."""
        if work.wrenches.shape[1]:
            return super().run(work, readings, begin, resets=resets, frozen=frozen)
        asked = asked_of(self.which, frozen)
        progress = np.zeros(alone.PROGRESS, dtype=np.int64)
        progress[alone.BEGINS] = begin is Begin.BEGINS
        helped: set[int] = set()
        failures: dict[int, Failure] = {}
        while (code := self._step_eight(progress, asked, work)) != at.DONE:
            place = int(progress[alone.PLACE])
            step = int(progress[alone.STEPS + place])
            if begin is Begin.BEGINS and place not in helped:
                helped.add(place)  # the memory of what is solved outside is another's
                self.environments[place].loop.stepping.external.begin()
            try:
                self._help(place, code)
            except SpatialOpsError as error:
                e = int(self.which[place])
                failures.setdefault(e, Failure(step, error))
                stay(work, e, step + (code == at.FAULT), begin)
                if resets:
                    self.environments[place].begin(work.starts[e])
                else:
                    asked[place] = -1
                progress[alone.STAND + place] = alone.BETWEEN
                progress[alone.STEPS + place] += 1
            else:
                progress[alone.STEPS + place] += code == at.FAULT
        return failures

    def _step_eight(self, progress: IntArray, asked: IntArray, work: Work) -> int:
        first = self.environments[0].loop
        return step_eight(
            first.address,
            first.limits,
            progress,
            asked,
            self._addresses,
            *work[:-1],
            self._held.address,
        )
