"""Dynamics and mass matrix against Pinocchio, and the cost per link of long chains."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.functions import PLAIN_BAR, measure_functions
from spatialops.bench.measure import Call, Effort, Quartiles, Row, agreed, take_turns
from spatialops.bench.peers import ROBOTS, Twin, chain, chain_model, require, robot
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.dynamics.forward_dynamics import forward_dynamics
from spatialops.dynamics.newton_euler import inverse_dynamics
from spatialops.tree.model import Model

FORWARD_BAR = 0.3
INVERSE_BAR = 0.4
MASS_BAR = 0.4
FLATNESS_BAR = 1.1
CHAINS = (7, 30, 38)
LENGTHS = (100, 1000, 10_000, 100_000)
QUICK_ROBOTS = ("xarm7", "solo12", "talos")


def contests(
    twin: Twin, rng: np.random.Generator
) -> Iterator[tuple[str, float, dict[str, Call], float]]:
    """What to compute with a mechanism: name, bar, contestants, difference of the results.

    All are written out as in a script: `functools.partial` would hand over a keyword anew in every
    call, which takes 0.1 us, and of ours alone.
    """
    pin = require("pinocchio")
    model = twin.model
    nv = twin.model.nv
    q, v, third = twin.random_state(rng)
    pin_v, pin_third = v[twin.order].copy(), third[twin.order].copy()
    peer = (twin.pin, twin.data, q.copy())

    theirs, data, pin_q = peer
    aba, rnea = pin.aba, pin.rnea
    crba, world = pin.crba, pin.Convention.WORLD
    out, mass_out = np.empty(nv), np.empty((nv, nv))

    forward = aba(*peer, pin_v, pin_third)
    contestants: dict[str, Call] = {
        "ours": lambda: forward_dynamics(model, q, v, third, out=out),
        "plain": lambda: forward_dynamics(model, q, v, third),
        "aba": lambda: aba(theirs, data, pin_q, pin_v, pin_third),
        "aba WORLD": lambda: aba(theirs, data, pin_q, pin_v, pin_third, world),
    }
    ours = forward_dynamics(model, q, v, third)[twin.order]
    yield (
        "forward dynamics",
        FORWARD_BAR,
        contestants,
        agreed(ours, forward, f"{twin.name}: forward dynamics"),
    )

    inverse = rnea(*peer, pin_v, pin_third)
    contestants = {
        "ours": lambda: inverse_dynamics(model, q, v, third, out=out),
        "plain": lambda: inverse_dynamics(model, q, v, third),
        "rnea": lambda: rnea(theirs, data, pin_q, pin_v, pin_third),
    }
    ours = inverse_dynamics(model, q, v, third)[twin.order]
    difference = agreed(ours, inverse, f"{twin.name}: Newton-Euler")
    yield "Newton-Euler", INVERSE_BAR, contestants, difference

    mass = np.triu(crba(*peer))
    mass += np.triu(mass, 1).T
    contestants = {
        "ours": lambda: mass_matrix(model, q, out=mass_out),
        "plain": lambda: mass_matrix(model, q),
        "crba": lambda: crba(theirs, data, pin_q),
        "crba WORLD": lambda: crba(theirs, data, pin_q, world),
    }
    ours = mass_matrix(model, q)[np.ix_(twin.order, twin.order)]
    yield "mass matrix", MASS_BAR, contestants, agreed(ours, mass, f"{twin.name}: mass matrix")


def measure_twin(twin: Twin, effort: Effort, rng: np.random.Generator) -> Iterator[Row]:
    """Rows of one mechanism: with memory given (to which the bars belong) and as plain calls."""
    case = f"{twin.name}, {twin.model.nv} dof"
    for what, bar, contestants, difference in contests(twin, rng):
        timing = take_turns(contestants, effort)
        rival = timing.fastest(*(name for name in contestants if name not in ("ours", "plain")))
        for name, limit, note in (
            ("ours", bar, "out="),
            ("plain", PLAIN_BAR, "plain call"),
        ):
            ratio = timing.ratio(name, rival)
            ours, peer = timing.of(name), timing.of(rival)
            yield Row("dynamics", what, case, ours, peer, rival, ratio, limit, difference, note)


def _in_given_memory(model: Model, q: Array, v: Array, tau: Array) -> Call:
    out = np.empty(model.nv)
    return lambda: forward_dynamics(model, q, v, tau, out=out)


def measure_lengths(
    effort: Effort, lengths: tuple[int, ...], rng: np.random.Generator
) -> Iterator[Row]:
    """Seconds per link of chains of growing length, against the shortest."""
    contestants: dict[int, Call] = {}
    for n in lengths:
        model = chain_model(n, rng)
        q = rng.uniform(-0.1, 0.1, n)
        v = rng.normal(size=n) / n
        tau = rng.normal(size=n) / n
        contestants[n] = _in_given_memory(model, q, v, tau)
    timing = take_turns({str(n): call for n, call in contestants.items()}, effort)
    shortest = lengths[0]
    base = timing.of(str(shortest)) / shortest
    for n in lengths[1:]:
        ratio = Quartiles(*(value * shortest / n for value in timing.ratio(str(n), str(shortest))))
        ours = timing.of(str(n)) / n
        case = f"chain {n}, per link"
        yield Row(
            "dynamics",
            "forward dynamics",
            case,
            ours,
            base,
            f"chain {shortest}",
            ratio,
            FLATNESS_BAR,
        )


def run(effort: Effort, *, quick: bool = False) -> Iterator[Row]:
    """All rows of this group."""
    rng = np.random.default_rng(1)
    for name in QUICK_ROBOTS if quick else ROBOTS:
        twin = robot(name)
        if twin is not None:
            yield from measure_twin(twin, effort, rng)
            yield from measure_functions(twin, effort, rng)
    for n in CHAINS[:1] if quick else CHAINS:
        yield from measure_twin(chain(n, rng), effort, rng)
    yield from measure_lengths(effort, LENGTHS, rng)
