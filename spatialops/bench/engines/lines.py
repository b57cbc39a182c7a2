"""Rows as lines of the terminal."""

from __future__ import annotations

from spatialops.bench.engines.contact_counts import CountRow
from spatialops.bench.engines.measure import Result
from spatialops.bench.engines.problems.measure import SolverRow


def of_probe(result: Result) -> str:
    """One metric of one engine."""
    name = f"{result.probe}: {result.metric}"
    found = f"{result.error:9.1e}{result.cost:9.1e} s/s"
    if result.note:
        found = f"  left out: {result.note}"
    return f"{name:<68}{1e3 * result.dt:5g} ms  {result.engine:<12}{found}"


def of_contacts(row: CountRow) -> str:
    """One scene in one engine."""
    known = "" if row.contacts is None else f"{row.contacts} contacts"
    times = f"{row.step_us:11.1f} us [{row.lower_us:.4g}, {row.upper_us:.4g}]"
    return (
        f"{row.scene:<14}{row.engine:<12}{times:<34}{known:<16}moved {row.moved:.0e} m  {row.note}"
    ).rstrip()


def of_problem(row: SolverRow) -> str:
    """One problem by one solver."""
    found = f"{row.residual:9.1e}{row.time_us:12.1f} us  {row.verdict}"
    return f"{row.problem:<40}{row.size:5}  {row.solver:<20}{found}  {row.note}".rstrip()
