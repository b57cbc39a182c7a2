"""A step under each law that the compiled loop solves, against Coulomb's of the same scene.

Boxes with four contacts each: at rest apart, at rest in a wall, and thrown along the floor, each
law on the motion that it gives. What `Simulator.run` does beside the loop is left out everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from spatialops.bench.contacts.engines import Ours
from spatialops.bench.contacts.piles import boxes, wall
from spatialops.bench.contacts.setting import Setting
from spatialops.bench.measure import Effort, Row, take_turns
from spatialops.simulation.options import LawName
from spatialops.simulation.scene.scene import Scene

DT = 1e-3
STEPS = 100
_COUNTS = (1, 4, 16, 100)  # boxes
_SPEED = 2.0  # m/s, of boxes that slide: they stop after 0.4 s
_SPIN = 1.0  # rad/s, about the vertical
_APART = 5.0  # times as far as at rest: what slides under any law meets no other
_BARS: dict[LawName, float | None] = {
    "cone": 1.2,
    "no-slip": 0.8,
    "viscous": 0.8,
    "frictionless": None,
}


def sliding(n: int) -> Scene:
    """Boxes that slide in as many directions, and turn."""
    scene = boxes(n).scene
    scene.state.q.reshape(n, 7)[:, :2] *= _APART
    v = scene.state.v.reshape(n, 6)
    angle = np.arange(n)
    v[:, 2] = _SPIN
    v[:, 3] = _SPEED * np.cos(angle)
    v[:, 4] = _SPEED * np.sin(angle)
    return scene


def _scene(pile: Callable[[int], Setting], n: int) -> Scene:
    return pile(n).scene


class Going:
    """A scene under a law: `STEPS` steps a call, from the start again where it moves."""

    def __init__(self, scene: Scene, law: LawName, moving: bool) -> None:
        self.engine = Ours(scene, DT, law, sleep=False)
        self.moving = moving
        self()

    def __call__(self) -> None:
        """Steps on, or anew."""
        if self.moving:
            self.engine.begin()
        self.engine.run(STEPS)


def _cases(quick: bool) -> Iterator[tuple[str, Callable[[], Scene], bool]]:
    counts = _COUNTS[:2] if quick else _COUNTS
    for n in counts:
        yield f"{n} boxes at rest", partial(_scene, boxes, n), False
    if not quick:
        yield "wall of 20 bricks at rest", partial(_scene, wall, 20), False
    for n in counts:
        yield f"{n} boxes sliding", partial(sliding, n), True


def run(effort: Effort, *, quick: bool = False) -> Iterator[Row]:
    """Rows of all laws in all scenes; a note has the worst residual and what was called outside."""
    for name, make, moving in _cases(quick):
        names: tuple[LawName, ...] = ("coulomb", *_BARS)
        laws: dict[str, Going] = {law: Going(make(), law, moving) for law in names}
        timing = take_turns(laws, effort)
        for law, bar in _BARS.items():
            engine = laws[law].engine
            yield Row(
                "laws",
                law,
                name,
                timing.of(law) / STEPS,
                timing.of("coulomb") / STEPS,
                "coulomb",
                timing.ratio(law, "coulomb"),
                bar,
                note=f"{engine.contacts} contacts, residual {engine.residual:.0e}, "
                f"{engine.counts['fallbacks']} outside",
            )
