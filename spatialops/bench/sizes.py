"""Our own loop at one size against another: what many contacts and long chains cost.

The peer is a part of the same work: a chain's step without contacts, a contact of a wall of a tenth
of the bricks, the compliance of nodes without a contact problem about it. Every step is made, what
rests too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial

import numpy as np

import spatialops as so
from spatialops._arrays import Array
from spatialops.bench.contacts.engines import Ours
from spatialops.bench.contacts.mechanisms import chain_on_balls
from spatialops.bench.contacts.piles import wall
from spatialops.bench.measure import Call, Effort, Row, take_turns

DT = 1e-3
CONTACTS = 64  # of a long chain
_SETTLE = 50  # steps of walls and chains before anything is measured
_BENDING = 0.6  # N m, the amplitude of what moves a chain
_ABOVE = 5.0  # m above the floor, where it touches nothing
_Wall = tuple[int, int]  # bricks and courses


def waves(nv: int) -> Array:
    """Moments of a wave along a free chain, N m."""
    tau = np.zeros(nv)
    tau[6:] = -_BENDING * np.sin(0.2 * np.pi * np.arange(nv - 6))
    return tau


def run(effort: Effort, *, quick: bool = False) -> Iterator[Row]:
    """Rows of chains, walls, and the compliance of a problem."""
    yield from _chains(effort, 100 if quick else 3000)
    if quick:
        yield _walls(effort, (20, 5), (50, 5), None)
    else:
        yield _walls(effort, (70, 7), (650, 20), 1.5)
        yield _walls(effort, (100, 10), (1000, 20), None)
    yield _compliance(effort, 100 if quick else 1000)


def _chains(effort: Effort, links: int) -> Iterator[Row]:
    """A step with contacts over the step without them, at rest and in motion."""
    down = Ours(chain_on_balls(links, CONTACTS), DT, sleep=False)
    up = Ours(chain_on_balls(links, CONTACTS, _ABOVE), DT)
    for what in ("lies", "crawls"):
        for engine in (down, up):
            if what == "crawls":
                engine.push(waves(engine.tables.v.size))
            engine.run(_SETTLE)
        name = f"a chain of {links} links {what}"
        calls: dict[str, Call] = {"ours": partial(down.run, 1), "free": partial(up.run, 1)}
        yield _row(effort, name, calls, 3.0, _seen(down))


def _walls(effort: Effort, few: _Wall, many: _Wall, bar: float | None) -> Row:
    """A step a contact of a wall at rest, over that of a lower one."""
    sizes = {"ours": many, "lower": few}
    engines = {name: Ours(wall(*size).scene, DT, sleep=False) for name, size in sizes.items()}
    for engine in engines.values():
        engine.run(_SETTLE)
    timing = take_turns({name: partial(of.run, 1) for name, of in engines.items()}, effort)
    counts = {name: float(engine.contacts) for name, engine in engines.items()}
    ours, lower = (timing.of(name) / counts[name] for name in ("ours", "lower"))
    ratio = timing.ratio("ours", "lower") / (counts["ours"] / counts["lower"])
    case = f"walls of {many[0]} and {few[0]} bricks"
    note = f"{counts['ours']:.0f} and {counts['lower']:.0f} contacts, {_seen(engines['ours'])}"
    return Row("sizes", "a contact", case, ours, lower, "lower", ratio, bar, note=note)


def _compliance(effort: Effort, links: int) -> Row:
    """`ContactProblem.compliance` over `so.compliance` of the nodes of its contacts."""
    scene = chain_on_balls(links, CONTACTS)
    problem = so.Simulator(scene, dt=DT).problem(scene.state)
    assert problem is not None
    nodes = scene.model.resolve([f"link{k * links // CONTACTS}" for k in range(CONTACTS)])
    found = vars(type(problem)).items()
    known = [name for name, value in found if isinstance(value, cached_property)]

    def anew() -> object:
        for name in known:
            vars(problem).pop(name, None)
        return problem.compliance

    calls: dict[str, Call] = {
        "ours": anew,
        "nodes": lambda: so.compliance(scene.model, scene.state.q, nodes),
    }
    return _row(effort, f"{CONTACTS} contacts on {links} links", calls, 1.5, "")


def _row(effort: Effort, case: str, calls: dict[str, Call], bar: float, note: str) -> Row:
    timing = take_turns(calls, effort)
    ours, peer = calls
    return Row(
        "sizes", "a step", case, timing.of(ours), timing.of(peer), peer, timing.ratio(ours, peer),
        bar, note=note,
    )  # fmt: skip


def _seen(engine: Ours) -> str:
    return f"residual {engine.residual:.0e}, {engine.counts['fallbacks']} outside"
