"""How costs of Lambda and of assembling OS grow: exponents over links, nodes and contacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from spatialops.bench.measure import Call, Effort, take_turns
from spatialops.compare.measure import assembler
from spatialops.compare.problems import pendulum_case
from spatialops.dynamics.compliance.compliance import compliance
from spatialops.models.pendulum import pendulum
from spatialops.tree.node import Node

LINKS = (300, 1000, 3000, 10000, 30000)
NODES = (64, 128, 256, 512)
_FEW = 8  # nodes or contacts on chains of all lengths
_CHAIN = 1000  # links under all numbers of nodes or contacts


@dataclass(frozen=True)
class Growth:
    """Times (us, medians) over counts, and the slope of their logarithms."""

    what: str
    over: str
    counts: tuple[int, ...]
    times: tuple[float, ...]

    @property
    def exponent(self) -> float:
        """Least-squares slope of log time over log count."""
        return float(np.polyfit(np.log(self.counts), np.log(self.times), 1)[0])


def growths(effort: Effort, *, quick: bool = False) -> list[Growth]:
    """Lambda and the assembly of OS over links, then over nodes and contacts.

    Quick ones end at a tenth of the links and a quarter of the nodes.
    """
    links, nodes = (LINKS[:3], NODES[:2]) if quick else (LINKS, NODES)
    chains = [_lambda(n, _FEW) for n in links]
    crowds = [_lambda(_CHAIN, m) for m in nodes]
    long = [_os(n, _FEW) for n in links]
    many = [_os(_CHAIN, m) for m in nodes]
    return [
        _growth("Lambda of 8 nodes", "links", links, chains, effort),
        _growth("Lambda on 1000 links", "nodes", nodes, crowds, effort),
        _growth("OS assembly, 8 contacts", "links", links, long, effort),
        _growth("OS assembly, 1000 links", "contacts", nodes, many, effort),
    ]


def _growth(
    what: str, over: str, counts: Sequence[int], calls: Sequence[Call], effort: Effort
) -> Growth:
    timing = take_turns(dict(zip(map(str, counts), calls, strict=True)), effort)
    times = tuple(1e6 * timing.of(str(count)).median for count in counts)
    return Growth(what, over, tuple(counts), times)


def _lambda(links: int, count: int) -> Call:
    """Nodes evenly along a chain, the last at its tip; nodes looked up, the result's room ready."""
    model = pendulum(links).model
    nodes = model.resolve([Node((i + 1) * links // count - 1) for i in range(count)])
    q, out = np.linspace(0.0, 1.0, links), np.empty((6 * count, 6 * count))
    return partial(compliance, model, q, nodes, out=out)


def _os(links: int, count: int) -> Call:
    return assembler("os", pendulum_case(links, count).problem)
