"""Geoms that overlap at a state: looked for before time goes on, and named."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._compile.held import Held
from spatialops.collision import _layout as col
from spatialops.errors import ContactError
from spatialops.simulation import _layout as at
from spatialops.simulation.runs.setup import Setup
from spatialops.simulation.stepping.adapter import load_new
from spatialops.simulation.stepping.held.watched_steps import detect_held
from spatialops.tree.state import State


class Overlap(NamedTuple):
    """Two geoms, and how deep one is in the other, m."""

    a: str
    b: str
    depth: float


def overlaps(setup: Setup, state: State, allowed: float) -> list[Overlap]:
    """Pairs of geoms that are in one another by more than `allowed` (m), the deepest first."""
    setup.probe = detected(setup, setup.probe, state)
    t = setup.probe.tables
    count = int(t.control[at.SEEN])
    if not count or t.seen[:count, col.GAP].min() >= -allowed:
        return []
    pairs = t.seen_ints[:count, col.CONTACT_PAIR]
    depths = -t.seen[:count, col.GAP]
    deepest: dict[int, float] = {}
    for i in np.argsort(-depths, kind="stable").tolist():
        if depths[i] > allowed and pairs[i] < setup.scene.n_pairs:
            deepest.setdefault(int(pairs[i]), float(depths[i]))
    return [Overlap(*setup.scene.pair_names(pair), depth) for pair, depth in deepest.items()]


def detected(setup: Setup, probe: Held | None, state: State) -> Held:
    """The contacts at a state, in these tables; in new ones where there are none or no room."""
    fits = probe is not None and probe.tables.pair_runs is setup.scene.pair_runs
    found = probe if probe is not None and fits else Held(setup.stepping.tables())
    while True:
        load_new(found.tables, state)
        detect_held(found.address)
        if found.tables.control[at.SEEN] >= 0:
            return found
        found = Held(setup.stepping.tables(2 * len(found.tables.seen_ints)))


def refuse_overlaps(setup: Setup, state: State) -> None:
    """Refuse a state at which the first step's certificate would fail.

    Raises
    ------
    ContactError
        If geoms of rigid contact overlap by more than `depth_limit`, with certify="raise" or
        "full". It carries the state.
    """
    own = setup.options
    watched = own.certify in ("raise", "full") and setup.rigid
    if not (watched and setup.scene.n_pairs):
        return
    found = overlaps(setup, state, own.depth_limit)
    if not found:
        return
    pairs = ", ".join(f"{one.a!r} is {one.depth:.2e} m in {one.b!r}" for one in found[:4])
    more = f" and {len(found) - 4} more" if len(found) > 4 else ""
    error = ContactError(
        f"state: penetration at the start: {pairs}{more} (limit {own.depth_limit:g} m); "
        "spatialops.separate(scene, state) moves them apart, certify='warn' goes on from there"
    )
    error.state = state
    raise error
