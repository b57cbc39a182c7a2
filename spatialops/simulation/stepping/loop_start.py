"""Closures where a step or a run begins: closed, counted, driven frames in their places."""

from __future__ import annotations

from spatialops.simulation import _layout as at
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.constraints.initial_closure import FramesLeft, begin_loops
from spatialops.simulation.stepping.tables import Tables


class LoopStart:
    """Begins the closures of a scene, and remembers where a step has left their frames.

    Attributes
    ----------
    redundant_rows : tuple of str
        Rows of closures that others implied where it last began.
    """

    def __init__(self, scene: Scene, dt: float) -> None:
        self.scene = scene
        self.dt = dt
        self.redundant_rows: tuple[str, ...] = ()
        self._loops = scene.loops
        self._left: FramesLeft | None = None

    @property
    def varies(self) -> bool:
        """Whether rates of closures are functions of time, to be put in before every step."""
        return any(callable(loop.rate) for loop in self.scene.loops.items)

    def renewed(self) -> bool:
        """Whether closures were added to the scene since this was asked last."""
        if self._loops is self.scene.loops:
            return False
        self._loops = self.scene.loops
        self._left = None
        return True

    def begin(self, t: Tables) -> None:
        """Close the loaded state, count independent rows, and place driven frames."""
        loops = self.scene.loops
        time = float(t.monitor[at.TIME])
        if not len(loops):
            return
        goes_on = self._left is not None and self._left.is_at(t.q, t.v, time)
        frames = self._left.frames if self._left is not None and goes_on else None
        start = begin_loops(loops, t.q, t.v, time, frames)
        t.q[:] = start.q
        t.v[:] = start.v
        self.redundant_rows = start.redundant
        t.loops[:] = t.loops_start[:] = start.frames
        t.control[at.RANK] = sum(start.ranks)
        for ranks in (at.RANKS, at.INDEPENDENT):
            t.closure_vectors[ranks, : len(start.ranks)] = start.ranks
        t.closure_vectors[at.FORCES] = 0.0
        self.put_rates(t)

    def put_rates(self, t: Tables) -> None:
        """Prescribed rates at both ends of the coming step; of all, where they are constant."""
        if self.scene.loops.n_rows:
            time = float(t.monitor[at.TIME])
            t.closure_vectors[at.RATE_START] = self.scene.loops.rates(time)
            t.closure_vectors[at.RATE_END] = self.scene.loops.rates(time + self.dt)

    def leave(self, t: Tables) -> None:
        """Remember where a step has left the state and the frames."""
        if len(self.scene.loops):
            time = float(t.monitor[at.TIME])
            self._left = FramesLeft(t.q.copy(), t.v.copy(), time, t.loops.copy())
