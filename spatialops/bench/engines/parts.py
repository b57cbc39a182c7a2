"""The parts of the benchmark, and what has been measured of each."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from spatialops._files import save_text
from spatialops.bench.command import as_csv_rows, machine
from spatialops.bench.contacts.page import BEGIN, END, around_marks
from spatialops.bench.engines import contact_counts, lines, measure, plots, tables
from spatialops.bench.engines.contact_counts import CountRow
from spatialops.bench.engines.engine import Engine
from spatialops.bench.engines.entrant import Entrant
from spatialops.bench.engines.measure import Result, plain
from spatialops.bench.engines.probes import table
from spatialops.bench.engines.problems import measure as solving
from spatialops.bench.engines.problems import sets
from spatialops.bench.engines.problems.measure import SolverRow
from spatialops.bench.engines.problems.solver import LCPSolver
from spatialops.bench.engines.registry import ENGINES, SOLVERS, version_of

PARTS = ("probes", "contacts", "problems")


@dataclass(frozen=True)
class Choice:
    """What is asked for; empty means all.

    Attributes
    ----------
    parts, engines, solvers, probes : tuple of str
    steps : tuple of float
        dt of the probes, s.
    runs : int
        Of each probe.
    bodies : int
        The most of a scene of contacts.
    problems : Path, optional
        Folder of further problems.
    quick : bool
        Whether the large problems are left out.
    """

    parts: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    solvers: tuple[str, ...] = ()
    probes: tuple[str, ...] = ()
    steps: tuple[float, ...] = ()
    runs: int = measure.RUNS
    bodies: int = contact_counts.MOST
    problems: Path | None = None
    quick: bool = False


QUICK = Choice(steps=(1e-2, 2e-3), runs=1, bodies=25, quick=True)


@dataclass
class Report:
    """What was measured.

    Attributes
    ----------
    about : dict
        Machine and versions.
    left_out : dict of name to reason
    probes, contacts, problems : list of rows
    """

    about: dict[str, object] = field(default_factory=machine)
    left_out: dict[str, str] = field(default_factory=dict)
    probes: list[Result] = field(default_factory=list)
    contacts: list[CountRow] = field(default_factory=list)
    problems: list[SolverRow] = field(default_factory=list)

    def to_data(self) -> dict[str, object]:
        """As plain data."""
        return {"machine": self.about, "left_out": self.left_out, **self._rows()}

    def _rows(self) -> dict[str, list[dict[str, object]]]:
        return {
            "probes": [plain(row) for row in self.probes],
            "contacts": [plain(row) for row in self.contacts],
            "problems": [plain(row) for row in self.problems],
        }

    def text(self) -> str:
        """Tables in Markdown, of the parts that were measured."""
        about = ", ".join(f"{key} {value}" for key, value in self.about.items())
        out = "".join(f"- {name}: {reason}\n" for name, reason in self.left_out.items())
        pieces = [f"{about}.\n", f"Left out:\n\n{out}" if out else ""]
        if self.probes:
            pieces.append(tables.probes(self.probes))
        if self.contacts:
            pieces.append(tables.counts(self.contacts))
        if self.problems:
            pieces.append(tables.solvers(self.problems))
        return "\n".join(piece for piece in pieces if piece)

    def draw(self, folder: Path) -> list[Path]:
        """Plots of the parts that were measured; the files that were written."""
        folder.mkdir(parents=True, exist_ok=True)
        made = [plots.work(self.probes, folder)] if self.probes else []
        if self.contacts:
            made.append(plots.counts(self.contacts, folder))
        if self.problems:
            made.append(plots.solvers(self.problems, folder))
        return made

    def write(self, out: Path) -> None:
        """Tables, data and plots into a folder."""
        save_text(out / "engines.json", json.dumps(self.to_data(), indent=1) + "\n")
        save_text(out / "engines.md", self.text())
        for part, rows in self._rows().items():
            if rows:
                save_text(out / f"{part}.csv", as_csv_rows(rows))
        self.draw(out)

    def put_into(self, page: Path) -> None:
        """Tables and plots between the marks of a page; plots go to `images` beside it."""
        before, after = around_marks(page)
        pictures = self.draw(page.parent / "images")
        shown = "".join(f"\n![{p.stem.replace('_', ' ')}](images/{p.name})\n" for p in pictures)
        save_text(page, f"{before}{BEGIN}\n{self.text()}{shown}{END}{after}")


def run(choice: Choice, report: Report, say: Callable[[str], None]) -> None:
    """Measure what is asked for, and say every line as soon as it is known.

    Raises
    ------
    BenchError
        For names that nobody has, and steps that do not fit.
    """
    parts = choice.parts or PARTS
    engines = entrants(choice, report, say)
    if "probes" in parts:
        probes = table.chosen(choice.probes)
        steps = choice.steps or measure.STEPS
        for result in measure.run(engines.engines, probes, steps, choice.runs):
            say(lines.of_probe(result))
            report.probes.append(result)
    if "contacts" in parts:
        for row in contact_counts.run(engines.engines, contact_counts.chosen(choice.bodies)):
            say(lines.of_contacts(row))
            report.contacts.append(row)
    if "problems" in parts:
        further = sets.stored(choice.problems) if choice.problems else ()
        for solved in solving.run(
            engines.solvers, chain(sets.standard(quick=choice.quick), further)
        ):
            say(lines.of_problem(solved))
            report.problems.append(solved)


class Entrants(NamedTuple):
    """Who takes part, by name."""

    engines: dict[str, type[Engine]]
    solvers: dict[str, LCPSolver]


def entrants(choice: Choice, report: Report, say: Callable[[str], None]) -> Entrants:
    """Who takes part; who does not is said and noted, and so are the versions.

    Raises
    ------
    BenchError
        For a name that nobody has.
    """
    engines = ENGINES.field(choice.engines)
    solvers = SOLVERS.field(choice.solvers)
    report.left_out |= engines.left_out | solvers.left_out
    found: list[Entrant | type[Entrant]] = [*engines.entrants.values(), *solvers.entrants.values()]
    for entrant in found:
        report.about[entrant.distribution] = version_of(entrant)
    say(", ".join(f"{key} {value}" for key, value in report.about.items()))
    for name, reason in report.left_out.items():
        say(f"{name}: left out, {reason}")
    return Entrants(engines.entrants, solvers.entrants)
