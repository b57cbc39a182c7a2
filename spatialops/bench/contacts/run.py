"""All cases one after another, each with its share of time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spatialops.bench.contacts.cases import chosen
from spatialops.bench.contacts.report import ContactRow, row_of
from spatialops.bench.contacts.worker import Order, Worker
from spatialops.bench.measure import Effort
from spatialops.bench.peers import require

BUDGET = 20.0  # s


def run(
    effort: Effort, *, quick: bool = False, names: Sequence[str] = (), budget: float = BUDGET
) -> Iterator[ContactRow]:
    """Rows of the chosen cases, as they are measured.

    Parameters
    ----------
    effort : Effort
        Rounds and blocks of scenes at rest.
    quick : bool
        The smallest scene of each kind, where no names are given.
    names : sequence of str
        Of `cases.chosen`.
    budget : float
        s a case may take, its building left aside; it is ended at twice that and a little.
    """
    require("mujoco")
    with Worker() as worker:
        for case in chosen(names, quick=quick):
            yield row_of(case, worker.measure(Order(case.name, effort, budget)))
