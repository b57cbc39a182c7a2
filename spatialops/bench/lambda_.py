"""Lambda = J M^-1 J^T of 1 to 64 nodes against Pinocchio's `computeDelassusMatrix`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.measure import Call, Effort, Row, agreed, take_turns
from spatialops.bench.peers import (
    LibraryObject,
    Twin,
    chain,
    delassus_twin,
    in_local_axes,
    require,
    robot,
)
from spatialops.dynamics.compliance.compliance import compliance
from spatialops.dynamics.jacobian import body_poses
from spatialops.tree.model import Model
from spatialops.tree.node import Nodes

LAMBDA_BAR = 0.2
COUNTS = (1, 2, 4, 8, 16, 32, 64)
QUICK_COUNTS = (1, 4, 16, 64)
MECHANISMS = ("panda", "anymal c", "talos")
CHAINS = (30, 100, 300)


def _ours(model: Model, q: Array, nodes: Nodes) -> Call:
    side = 6 * len(nodes.links)
    out = np.empty((side, side))
    return lambda: compliance(model, q, nodes, out=out)


def _theirs(
    delassus: LibraryObject, twin: Twin, q: Array, both: LibraryObject
) -> Callable[[], Array]:
    model, data = twin.pin, twin.data
    models, datas = both.models, both.datas
    return lambda: delassus(model, data, q, models, datas)


def measure_twin(
    twin: Twin, effort: Effort, counts: tuple[int, ...], rng: np.random.Generator
) -> Iterator[Row]:
    """Rows of one mechanism: Pinocchio gets models and memory prepared, we nodes looked up."""
    pin = require("pinocchio")
    for count in counts:
        case = f"{twin.name}, {twin.model.nv} dof, {count} node{'s' if count > 1 else ''}"
        both = delassus_twin(twin, count, rng)
        nodes, q = twin.model.resolve(both.nodes), twin.model.random(rng)
        peer = _theirs(pin.computeDelassusMatrix, twin, q.copy(), both)
        ours = compliance(twin.model, q, nodes)
        bodies = [int(node.body) for node in both.nodes]
        local = in_local_axes(ours, body_poses(twin.model, q).rotations, bodies)
        difference = agreed(local, peer(), case)
        call = _ours(twin.model, q, nodes)
        contestants: dict[str, Call] = {"ours": call, "delassus": peer}
        timing = take_turns(contestants, effort)
        ratio = timing.ratio("ours", "delassus")
        times = timing.of("ours"), timing.of("delassus")
        yield Row(
            "lambda", "Lambda", case, *times, "computeDelassusMatrix", ratio, LAMBDA_BAR, difference
        )


def run(effort: Effort, *, quick: bool = False) -> Iterator[Row]:
    """All rows of this group."""
    rng = np.random.default_rng(2)
    counts = QUICK_COUNTS if quick else COUNTS
    for name in MECHANISMS[:2] if quick else MECHANISMS:
        twin = robot(name)
        if twin is not None:
            yield from measure_twin(twin, effort, counts, rng)
    for n in CHAINS[:1] if quick else CHAINS:
        yield from measure_twin(chain(n, rng), effort, counts, rng)
