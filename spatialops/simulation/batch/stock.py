"""Where the environments of a batch come from: made, used again, and put into chunks of work."""

from __future__ import annotations

from functools import cached_property
from threading import get_ident
from typing import Generic, TypeVar

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.algebra.simd import WIDTH
from spatialops.simulation import _layout as at
from spatialops.simulation.batch.chunk import Begin, Chunk, Environment, Failure, Work
from spatialops.simulation.batch.eights.eight import fits_in_lanes
from spatialops.simulation.batch.eights.eight_chunk import EightChunk
from spatialops.simulation.batch.readings import Readings
from spatialops.simulation.runs.stepping_run import SteppingRunner
from spatialops.simulation.stepping.held.held_loop import HeldLoop
from spatialops.simulation.stepping.held.lasting import sibling, working_in

Item = TypeVar("Item")

_PARTS_A_THREAD = 4  # so that a thread whose environments are quick takes over from others


class _Idle(Generic[Item]):
    """What waits to be used again, if it can be by who used it last: its core has it at hand."""

    def __init__(self) -> None:
        self._of_threads: dict[int, Item] = {}

    def put(self, item: Item) -> None:
        self._of_threads[get_ident()] = item

    def take(self) -> Item | None:
        """One of this thread, else of another, or None."""
        own = self._of_threads.pop(get_ident(), None)
        if own is None and self._of_threads:
            return self._another()
        return own

    def _another(self) -> Item | None:
        try:
            return self._of_threads.popitem()[1]
        except KeyError:  # its thread was quicker
            return None


class Stock:
    """Tables for the environments of a batch.

    Parameters
    ----------
    runners : list of SteppingRunner
        One for each environment.
    threads : int
        How many work.
    observed : bool
        Whether forces or sensors are read behind every step: then each environment steps alone.
    """

    def __init__(self, runners: list[SteppingRunner], threads: int, *, observed: bool) -> None:
        self._runners = runners
        self._threads = threads
        self._observed = observed
        self._closed = any(len(one.setup.scene.loops) for one in runners)
        self._alike = len(set(map(id, runners))) == 1
        self._idle: _Idle[Environment] = _Idle()  # for rollouts, where all are alike
        self._idle_eights: _Idle[EightChunk] = _Idle()

    @cached_property
    def in_lanes(self) -> bool:
        """Whether environments step side by side, eight of them in one chunk."""
        if self._observed or not self._alike or len(self._runners) == 1:
            return False
        first = self._environment(0)
        self._idle.put(first)
        return fits_in_lanes(first.loop.tables)

    @cached_property
    def parts(self) -> list[IntArray]:
        """Environments in parts, each for one thread at a time."""
        size = WIDTH if self.in_lanes else 1
        groups = -(-len(self._runners) // size)
        count = 1 if self._threads == 1 else _PARTS_A_THREAD * self._threads
        first = [
            size * int(part[0]) for part in np.array_split(np.arange(groups), count) if len(part)
        ]
        return np.split(np.arange(len(self._runners)), first[1:])

    def lasting_chunks(self, starts: Array) -> list[Chunk]:
        """All environments, each with tables of its own, at their starts."""
        chunks: list[Chunk] = []
        for part in self.parts:
            first = self._environment(int(part[0]))
            others = [self._environment(e, first) for e in part[1:].tolist()]
            environments = [first, *others]
            for e, one in zip(part.tolist(), environments):
                one.begin(starts[e])
            if not self.in_lanes:
                chunks.append(Chunk(part, environments))
                continue
            for i in range(0, len(part), WIDTH):
                some = slice(i, i + WIDTH)
                chunks.append(EightChunk(part[some], environments[some]))
        return chunks

    def roll(
        self, which: IntArray, work: Work, readings: Readings, *, resets: bool
    ) -> dict[int, Failure]:
        """All steps of some environments, in tables of one after the other, or of eight."""
        if self.in_lanes:
            return self._roll_eights(which, work, readings, resets=resets)
        failures: dict[int, Failure] = {}
        for mine in self._alike_of(which):
            one = self._idle.take() or self._environment(int(mine[0]))
            if self._closed:
                for e in mine:
                    one.begin(work.starts[e])
                    alone = Chunk(np.array([e]), [one])
                    failures |= alone.run(work, readings, Begin.HAS_BEGUN, resets=resets)
            else:
                together = Chunk(mine, [one] * len(mine))
                failures |= together.run(work, readings, Begin.BEGINS, resets=resets)
            if self._alike:
                self._idle.put(one)
        return failures

    def _alike_of(self, which: IntArray) -> list[IntArray]:
        """Environments by the simulators that they are of."""
        if self._alike:
            return [which]
        kinds = np.array([id(self._runners[e]) for e in which])
        return [which[kinds == kind] for kind in dict.fromkeys(kinds.tolist())]

    def _roll_eights(
        self, which: IntArray, work: Work, readings: Readings, *, resets: bool
    ) -> dict[int, Failure]:
        failures: dict[int, Failure] = {}
        chunk = self._idle_eights.take() or self._new_eight()
        for i in range(0, len(which), WIDTH):
            chunk.which = which[i : i + WIDTH]
            failures |= chunk.run(work, readings, Begin.BEGINS, resets=resets)
        self._idle_eights.put(chunk)
        return failures

    def _new_eight(self) -> EightChunk:
        first = self._environment(0)
        others = [self._environment(0, first) for _ in range(WIDTH - 1)]
        return EightChunk(np.arange(WIDTH), [first, *others])

    def _environment(self, e: int, beside: Environment | None = None) -> Environment:
        """Tables for environment e, which work in those of one that it shares a thread with."""
        runner = self._runners[e]
        stepping = runner.setup.stepping.apart()
        if beside is not None and beside.runner is runner:
            tables = sibling(beside.loop.tables)
        else:
            tables = stepping.tables()
            tables.control[at.UNWEIGHED] = not self._observed
            tables = tables if beside is None else working_in(tables, beside.loop.tables)
        return Environment(runner, HeldLoop(stepping, tables, runner.watched))


def taken(idle: list[Item]) -> Item | None:
    """One of a list that threads share, or None: another may have been quicker."""
    try:
        return idle.pop()
    except IndexError:
        return None
