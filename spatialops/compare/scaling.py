"""How costs of Lambda, of assembling OS and of constraint embedding grow, as exponents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.measure import Call, Effort, take_turns
from spatialops.compare.kept_memory import kept_memory
from spatialops.compare.measure import assembler
from spatialops.compare.problems import linkage_tower, pendulum_case
from spatialops.contact.formulations.operational_space import assemble_kernel
from spatialops.contact.friction import directions
from spatialops.contact.problem import ContactProblem
from spatialops.dynamics.compliance.along_rows import (
    compliance_along_rows,
    nodes_of_rows,
    number_nodes,
    product_kernel,
    room_for_product,
)
from spatialops.dynamics.compliance.compliance import compliance
from spatialops.dynamics.loops.embedding import ConstraintEmbedding
from spatialops.dynamics.loops.rows import closure_velocities
from spatialops.dynamics.maximal import place_and_move, placed
from spatialops.errors import ArgumentError
from spatialops.models.pendulum import pendulum
from spatialops.operators import SpatialOperators
from spatialops.tree.node import Node, Nodes

LINKS = (300, 1000, 3000, 10000, 30000)
NODES = (64, 128, 256, 512)
LINKAGES = (30, 100, 300, 1000, 3000)
LINEAR, QUADRATIC = (0.95, 1.05), (1.9, 2.1)  # exponents that may be measured
NO_MORE_THAN_LINEAR = (0.0, 1.05)
# Parts of OS's assembly over contacts: W of [J] 50, and what polyhedra of friction make of it.
OS_PARTS = ("Q Lambda Q*", "friction in A")
_FEW = 8  # nodes or contacts on chains of all lengths
_CHAIN = 1000  # links under all numbers of nodes or contacts
_SHORT = NODES[-1]  # the fewest that carry all nodes


@dataclass(frozen=True)
class Growth:
    """Times (us, medians) over counts, and the slope of their logarithms."""

    what: str
    over: str
    counts: tuple[int, ...]
    times: tuple[float, ...]
    bar: tuple[float, float] | None = None  # least and largest exponent that it may have

    @property
    def exponent(self) -> float:
        """Least-squares slope of log time over log count."""
        return float(np.polyfit(np.log(self.counts), np.log(self.times), 1)[0])

    @property
    def slopes(self) -> tuple[float, ...]:
        """From each count to the next: where they still change, one exponent says little."""
        steps = np.diff(np.log(self.times)) / np.diff(np.log(self.counts))
        return tuple(float(step) for step in steps)

    @property
    def passed(self) -> bool:
        """Whether the exponent is within its bar, if it has one."""
        return self.bar is None or self.bar[0] <= self.exponent <= self.bar[1]


def growths(effort: Effort, *, quick: bool = False) -> list[Growth]:
    """Lambda and the assembly of OS over links, then over nodes and contacts; aggregates.

    Quick ones end at a tenth of the links and a quarter of the nodes. Memory of arrays that are
    made in a call is kept from one to the next, where the C library can: see `kept_memory`.
    """
    with kept_memory():
        return _growths(effort, quick)


def _growths(effort: Effort, quick: bool) -> list[Growth]:
    links, nodes = (LINKS[:3], NODES[:2]) if quick else (LINKS, NODES)
    chains = [_lambda(n, _FEW) for n in links]
    crowds = [_lambda(_SHORT, m) for m in nodes]
    sparse = [_lambda(_CHAIN, m) for m in nodes]
    long = [_os(n, _FEW) for n in links]
    compiled = [os_kernels(pendulum_case(n, _FEW).problem) for n in links]
    crowded = [_os(_SHORT, m) for m in nodes]
    many_compiled = [os_kernels(pendulum_case(_SHORT, m).problem) for m in nodes]
    many = [_os(_CHAIN, m) for m in nodes]
    omegas = [_omega(n) for n in links]
    towers = LINKAGES[:3] if quick else LINKAGES
    climbs = [_tower(count) for count in towers]
    parts: dict[str, list[Call]] = {name: [] for name in OS_PARTS}
    for m in nodes:
        for name, call in os_parts(pendulum_case(_CHAIN, m).problem).items():
            parts[name].append(call)
    return [
        _growth("Lambda of 8 nodes", "links", links, chains, effort, LINEAR),
        _growth("Lambda on 512 links", "nodes", nodes, crowds, effort, QUADRATIC),
        # Half of it at the fewest nodes is the links', O(N).
        _growth("Lambda on 1000 links", "nodes", nodes, sparse, effort),
        _growth("OS assembly, 8 contacts", "links", links, long, effort, LINEAR),
        _growth("  its kernels", "links", links, compiled, effort),
        _growth("OS assembly, 512 links", "contacts", nodes, crowded, effort, QUADRATIC),
        _growth("  its kernels", "contacts", nodes, many_compiled, effort, QUADRATIC),
        _growth("OS assembly, 1000 links", "contacts", nodes, many, effort),
        *(_growth(f"  its {name}", "contacts", nodes, parts[name], effort) for name in OS_PARTS),
        _growth("Omega x, operators kept", "links", links, omegas, effort, NO_MORE_THAN_LINEAR),
        _growth("aggregates, loops", "linkages", towers, climbs, effort, NO_MORE_THAN_LINEAR),
    ]


def os_parts(problem: ContactProblem) -> dict[str, Call]:
    """What OS's assembly does one after the other, `OS_PARTS`, each on its own.

    Raises
    ------
    ArgumentError
        For a problem whose W is made of rows of L.
    """
    nodes = nodes_of_rows(problem.model, problem.terms[0])
    if nodes is None:
        raise ArgumentError("problem: rows of L are the cheaper way to its compliance")
    W, work = problem.compliance, placed(problem.model, problem.q)
    u = problem.velocities
    facets = directions(4)
    n = 6 * problem.n_contacts
    given = problem.friction, problem.prior_normal_impulse, facets
    A, b = np.empty((n, n)), np.empty(n)
    return {
        "Q Lambda Q*": partial(
            compliance_along_rows, problem.model, problem.q, work, nodes, *problem.terms
        ),
        "friction in A": partial(assemble_kernel, W, u, *given, A, b),
    }


def os_kernels(problem: ContactProblem) -> Call:
    """OS's assembly by its kernels one after the other, in memory that is there.

    Raises
    ------
    ArgumentError
        For a problem whose W is made of rows of L.
    """
    model = problem.model
    q, v = problem.q, problem.velocity
    nodes = nodes_of_rows(model, problem.terms[0])
    if nodes is None:
        raise ArgumentError("problem: rows of L are the cheaper way to its compliance")
    tree, links = model.tree, model.links
    links_pushed = np.flatnonzero(nodes >= 0)
    ready = Nodes(links_pushed, np.zeros((links_pushed.size, 3)))
    work, depth = placed(model, q, v), np.empty_like(nodes)
    r, m = len(problem.terms[1]), problem.n_contacts
    Lambda, W = np.empty((6 * links_pushed.size,) * 2), np.empty((r, r))
    room = room_for_product(r, len(Lambda))
    u = np.empty(r)
    A, b = np.empty((6 * m, 6 * m)), np.empty(6 * m)
    bias = problem.bias.ravel()
    given = problem.friction, problem.prior_normal_impulse, directions(4)

    def call() -> Array:
        place_and_move(tree, links, q, v, work)
        number_nodes(tree, problem.terms[0], nodes, depth)
        compliance(model, q, ready, method="recursion", out=Lambda)
        product_kernel(work, nodes, *problem.terms, Lambda, *room, W)
        closure_velocities(*problem.terms, work, u)
        np.add(u, bias, out=u)
        assemble_kernel(W, u, *given, A, b)
        return A

    return call


def _growth(
    what: str,
    over: str,
    counts: Sequence[int],
    calls: Sequence[Call],
    effort: Effort,
    bar: tuple[float, float] | None = None,
) -> Growth:
    timing = take_turns(dict(zip(map(str, counts), calls, strict=True)), effort)
    times = tuple(1e6 * timing.of(str(count)).median for count in counts)
    return Growth(what, over, tuple(counts), times, bar)


def _lambda(links: int, count: int) -> Call:
    """Nodes evenly along a chain, the last at its tip; nodes looked up, the result's room ready."""
    model = pendulum(links).model
    nodes = model.resolve([Node((i + 1) * links // count - 1) for i in range(count)])
    q, out = np.linspace(0.0, 1.0, links), np.empty((6 * count, 6 * count))
    return partial(compliance, model, q, nodes, out=out)


def _os(links: int, count: int) -> Call:
    return assembler("os", pendulum_case(links, count).problem)


def _omega(links: int) -> Call:
    """A product with Omega: a sweep by psi each way, with D^-1 between."""
    model = pendulum(links).model
    Omega = SpatialOperators(model, np.linspace(0.0, 1.0, links)).Omega
    x = np.ones(6 * links)
    return partial(Omega.__matmul__, x)


def _tower(count: int) -> Call:
    """Forward dynamics by aggregates of parallelograms one on the other's coupler."""
    model, loops = linkage_tower(count)
    q = np.tile([0.3, -0.3, 0.3, 0.1], count)
    still = np.zeros(model.nv)
    return partial(ConstraintEmbedding(model, loops).forward_dynamics, q, still, still)
