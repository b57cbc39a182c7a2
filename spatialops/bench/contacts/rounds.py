"""Two engines in turns: blocks of equally many steps, each engine on its own way.

A scene at rest is the same work again and again: medians over blocks count. Of a scene in motion
every block is another, and the mean over the same span of time counts.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

from spatialops.bench.contacts.engines import MuJoCo, Ours
from spatialops.bench.contacts.setting import Case, Setting
from spatialops.bench.contacts.twin import unequal_frictions
from spatialops.bench.measure import Effort
from spatialops.errors import SpatialOpsError

_MOVING_BLOCK = 10  # steps
_LONG = 0.05  # s a step, from where blocks are single steps
_MOST = 2000  # steps of a block
_SETTLING = 0.4  # of the time, at most

Report = Callable[["Measured"], None]


@dataclass
class Measured:
    """What was seen of one case until now; plain numbers, to be sent between processes.

    Attributes
    ----------
    steps : list of int
        Of each block.
    ours, peer : list of float
        Seconds of each block.
    contacts, peer_contacts : list of int
        At the end of each block.
    settled : int
        Steps of ours before that.
    residual, depth, peer_depth : float
        Worst residual of ours; largest penetrations, m (MuJoCo's at the ends of blocks). While it
        settled, too.
    above : int
        Blocks of ours with a residual above 1e-9, likewise.
    failure : str
        Why ours ended; empty where it did not.
    finished : bool
        Whether all was measured that was to be.
    """

    steps: list[int] = field(default_factory=list)
    ours: list[float] = field(default_factory=list)
    peer: list[float] = field(default_factory=list)
    contacts: list[int] = field(default_factory=list)
    peer_contacts: list[int] = field(default_factory=list)
    settled: int = 0
    residual: float = 0.0
    depth: float = 0.0
    peer_depth: float = 0.0
    above: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    warnings: dict[str, int] = field(default_factory=dict)
    frictions: int = 0
    failure: str = ""
    finished: bool = False


class Rounds:
    """The measurement of one case.

    Parameters
    ----------
    case : Case
    setting : Setting
    effort : Effort
        Rounds and the length of a block, s, of scenes at rest.
    budget : float
        s, for all of it; looked at between calls of the engines.
    report : callable
        Gets what is known after every block.
    """

    def __init__(
        self, case: Case, setting: Setting, effort: Effort, budget: float, report: Report
    ) -> None:
        self.case = case
        self.setting = setting
        self.effort = effort
        self.budget = budget
        self.report = report
        self.seen = Measured(frictions=unequal_frictions(setting.scene))
        self.theirs = MuJoCo(setting.scene, case.dt)
        self.ours = Ours(setting.scene, case.dt, sleep=case.sleep)
        self._settle_theirs()
        self.begin = perf_counter()

    def measure(self) -> Measured:
        """Settle, then take turns; what was seen is reported also where ours fails."""
        collecting = gc.isenabled()
        gc.disable()
        try:
            self._settle()
            if self.case.moving:
                self._in_motion()
            else:
                self._at_rest()
        except (SpatialOpsError, MemoryError) as error:
            self.seen.failure = f"{type(error).__name__}: {error}"
        finally:
            if collecting:
                gc.enable()
        self._note()
        return self.seen

    @property
    def _spent(self) -> float:
        return perf_counter() - self.begin

    def _push(self, engine: Ours | MuJoCo) -> None:
        if self.setting.control is not None:
            engine.push(self.setting.control(engine.state))

    def _run(self, engine: Ours | MuJoCo, steps: int) -> float:
        self._push(engine)
        return engine.run(steps)

    def _settle_theirs(self) -> None:
        """MuJoCo's steps before the measurement; they count as making the scene."""
        done, settle = 0, 0 if self.case.moving else self.case.settle
        while done < settle:
            count = min(self.setting.hold, settle - done)
            self._run(self.theirs, count)
            done += count

    def _settle(self) -> None:
        """The same of ours, as far as time allows."""
        count, settle = 1, 0 if self.case.moving else self.case.settle
        while self.seen.settled < settle and self._spent < _SETTLING * self.budget:
            count = min(count, settle - self.seen.settled)
            spent = self._run(self.ours, count) / count
            self.seen.settled += count
            count = 1 if spent > _LONG else self.setting.hold

    def _block(self, steps: int) -> tuple[float, float]:
        """One block of each, in alternating order."""
        order: list[Ours | MuJoCo] = [self.theirs, self.ours]
        if len(self.seen.steps) % 2:
            order.reverse()
        spent = {engine: self._run(engine, steps) for engine in order}
        self.seen.steps.append(steps)
        self.seen.ours.append(spent[self.ours])
        self.seen.peer.append(spent[self.theirs])
        self._note()
        return spent[self.ours] / steps, spent[self.theirs] / steps

    def _note(self) -> None:
        seen = self.seen
        if len(seen.contacts) < len(seen.steps):
            seen.contacts.append(self.ours.contacts)
            seen.peer_contacts.append(self.theirs.contacts)
        seen.residual = self.ours.residual
        seen.above = self.ours.above
        seen.depth = self.ours.depth
        seen.peer_depth = self.theirs.depth
        seen.counts, seen.warnings = self.ours.counts, self.theirs.warnings
        self.report(seen)

    def _in_motion(self) -> None:
        done, steps = 0, min(_MOVING_BLOCK, self.setting.hold)
        while done < self.case.steps and self._spent < self.budget:
            steps = min(steps, self.case.steps - done)
            ours, _ = self._block(steps)
            done += steps
            steps = 1 if ours > _LONG else min(_MOVING_BLOCK, self.setting.hold)
        self.seen.finished = done >= self.case.steps

    def _at_rest(self) -> None:
        """Blocks so long that the faster engine's fill the effort's, within what time allows."""
        first = self._block(1)
        second = self._block(1 if max(first) > _LONG else self.setting.hold)
        left = self.budget - self._spent
        wanted = round(self.effort.block / min(second))
        affordable = int(left / (self.effort.rounds * sum(second)))
        steps = max(1, min(wanted, affordable, _MOST))
        if self.setting.control is not None:
            steps = min(steps, self.setting.hold)
        if steps > 1 or affordable >= 1:
            self._forget_first()
        for _ in range(self.effort.rounds):
            if self._spent > self.budget:
                break
            self._block(steps)
        self.seen.finished = self.seen.settled >= self.case.settle

    def _forget_first(self) -> None:
        """Blocks that only told how long a step takes."""
        for values in (
            self.seen.steps,
            self.seen.ours,
            self.seen.peer,
            self.seen.contacts,
            self.seen.peer_contacts,
        ):
            values.clear()
