"""Time of a step over the number of contacts: the scenes at rest of `bench --only contacts`.

Time is that of the processor, of all threads; the engines take turns. A scene settles first, since
soft contacts sink; how far anything has moved by then is told beside the time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import process_time

import numpy as np

from spatialops.bench.contacts.cases import CASES
from spatialops.bench.contacts.setting import Case
from spatialops.bench.engines.engine import Engine
from spatialops.bench.engines.entrant import LeftOut
from spatialops.bench.engines.measure import why
from spatialops.bench.engines.scene import world_of
from spatialops.bench.engines.world import World
from spatialops.bench.measure import BenchError, Quartiles

FAMILIES = ("balls", "boxes", "tower", "wall")
MOST = 250  # bodies, where no sizes are asked for
BUDGET = 4.0  # s for an engine to settle in, and as much for its rounds
_ROUNDS = 7
_BLOCK = 0.02  # s


@dataclass(frozen=True)
class CountRow:
    """One scene in one engine.

    Attributes
    ----------
    engine, family, scene : str
    bodies : int
    contacts : int or None
        None where the engine does not tell.
    step_us, lower_us, upper_us : float
        Microseconds of processor time for a step, median and quartiles; NaN where nothing ran.
    moved : float
        How far anything has come, m.
    note : str
        Why something is missing, or how many steps it has settled for where time ran out.
    """

    engine: str
    family: str
    scene: str
    bodies: int
    contacts: int | None
    step_us: float
    lower_us: float
    upper_us: float
    moved: float
    note: str = ""


def chosen(most: int = MOST) -> list[Case]:
    """Scenes of free balls and boxes at rest, of no more bodies than that.

    Raises
    ------
    BenchError
        Where none is so small.
    """
    cases = [
        case
        for case in CASES.values()
        if case.family in FAMILIES and int(case.name.split()[-1]) <= most
    ]
    if not cases:
        raise BenchError(f"bodies: there is no scene of {most} or fewer")
    return cases


def run(
    engines: Mapping[str, type[Engine]], cases: Sequence[Case], budget: float = BUDGET
) -> Iterator[CountRow]:
    """All rows, scene after scene."""
    for case in cases:
        setting = case.make()
        assert setting is not None
        world = world_of(setting.scene)
        racers: dict[str, _Racer] = {}
        unable: dict[str, str] = {}
        for name, kind in engines.items():
            try:
                racers[name] = _Racer(kind(world, case.dt), world, case.settle, budget)
            except Exception as error:  # of any library
                unable[name] = why(error)
        for _ in range(_ROUNDS):
            for racer in racers.values():
                racer.go()
        for name in engines:
            if name in racers:
                yield racers[name].row(name, case)
            else:
                yield _nothing(name, case, len(world.bodies), unable[name])


def _nothing(name: str, case: Case, bodies: int, note: str) -> CountRow:
    """The row of an engine that cannot take a scene."""
    unknown = math.nan
    return CountRow(
        name, case.family, case.name, bodies, None, unknown, unknown, unknown, unknown, note
    )


class _Racer:
    """An engine with a scene at rest, and its times."""

    def __init__(self, engine: Engine, world: World, settle: int, budget: float) -> None:
        self.engine = engine
        self.world = world
        self.left = budget
        self.seconds: list[float] = []
        self.asked = settle
        engine.step(1)  # loads what is loaded then
        spent = self._spent(1)
        self.settled = 2
        while self.settled < settle and spent < budget:
            affordable = int(0.1 * budget * (self.settled - 1) / max(spent, 1e-9))
            count = max(1, min(affordable, settle - self.settled))
            spent += self._spent(count)
            self.settled += count
        self.block = max(1, round(_BLOCK * (self.settled - 1) / max(spent, 1e-9)))

    def _spent(self, count: int) -> float:
        begin = process_time()
        self.engine.step(count)
        return process_time() - begin

    def go(self) -> None:
        """One block, if there is time."""
        if self.left > 0.0:
            spent = self._spent(self.block)
            self.left -= spent
            self.seconds.append(1e6 * spent / self.block)

    def row(self, name: str, case: Case) -> CountRow:
        """What was seen."""
        times = Quartiles.of(np.array(self.seconds))
        begun = np.array([body.position for body in self.world.bodies])
        moved = np.linalg.norm(self.engine.motion().positions - begun, axis=1).max()
        contacts, notes = None, []
        try:
            contacts = len(self.engine.contacts())
        except LeftOut as reason:
            notes.append(str(reason))
        if self.settled < self.asked:
            notes.append(f"settled for {self.settled} steps only")
        return CountRow(
            name, case.family, case.name, len(begun), contacts,
            times.median, times.lower, times.upper, float(moved), "; ".join(notes),
        )  # fmt: skip
