"""The command `spatialops bench`: run, show, save, and say which bars are met."""

from __future__ import annotations

import csv
import io
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from spatialops._files import save_text
from spatialops.bench import (
    calls,
    collision,
    command_times,
    commands,
    derivatives,
    dynamics,
    lambda_,
    laws,
    pendulum,
    rollouts,
    sizes,
)
from spatialops.bench.command_times import CommandRow
from spatialops.bench.contacts import page as contact_page
from spatialops.bench.contacts import report as contact_report
from spatialops.bench.contacts import run as contact_run
from spatialops.bench.contacts.report import ContactRow
from spatialops.bench.measure import QUICK, BenchError, Effort, Row, pinned
from spatialops.bench.peers import ROBOT_DATA, require, versions

GROUPS = {
    "dynamics": dynamics.run,
    "lambda": lambda_.run,
    "pendulum": pendulum.run,
    "collision": collision.run,
    "calls": calls.run,
    "rollout": rollouts.run,
    "contacts": contact_run.run,
    "laws": laws.run,
    "sizes": sizes.run,
    "derivatives": derivatives.run,
    "commands": commands.run,
}
ON_REQUEST = (
    "calls",
    "rollout",
    "contacts",
    "laws",
    "sizes",
    "derivatives",
    "commands",
)  # take longer than all the others: only where they are named
HEADINGS = {
    "dynamics": "Dynamics against Pinocchio (the faster of its conventions), called from Python",
    "lambda": "Lambda against Pinocchio's computeDelassusMatrix (CONTACT_6D at the same frames)",
    "pendulum": "A step of the multi-link pendulum against MuJoCo, dt 0.1 ms, many steps a call",
    "collision": "Broad and narrow phase against FCL's manager with its Python callback",
    "calls": "Steps from Python, beside what is compiled; the peer is a bar",
    "rollout": "Many short runs against mujoco.rollout, dt 1 ms, one thread each",
    "derivatives": "Derivatives of the dynamics against Pinocchio's, called from Python",
    "laws": "A step under other laws of contact against Coulomb's of the same scene",
    "sizes": "Our own loop at one size against another",
    "contacts": "A step of scenes in contact against MuJoCo's: default solvers, equal dt",
    "commands": "Whole commands of controllers, each timed by itself; the peer is a bar",
}
PEERS = {
    "dynamics": "pinocchio",
    "lambda": "pinocchio",
    "pendulum": "mujoco",
    "collision": "fcl",
    "calls": "numpy",
    "rollout": "mujoco",
    "contacts": "mujoco",
    "laws": "numpy",
    "sizes": "numpy",
    "derivatives": "pinocchio",
    "commands": "numpy",
}
_COLUMNS = {"contacts": contact_report.COLUMNS, "commands": command_times.COLUMNS}


def machine() -> dict[str, object]:
    """Processor, system and versions."""
    processor = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            s.split(":", 1)[1].strip()
            for s in info.read_text().splitlines()
            if s.startswith("model name")
        ]
        processor = names[0] if names else processor
    return {
        "processor": processor,
        "system": platform.platform(),
        "python": platform.python_version(),
        **versions(),
    }


def run_rows(
    groups: Sequence[str], effort: Effort, *, quick: bool, **of_groups: Mapping[str, object]
) -> Iterator[Row]:
    """All rows of the chosen groups, as they are measured; a group may have further options."""
    for group in groups:
        yield from GROUPS[group](effort, quick=quick, **of_groups.get(group, {}))


def verdict(row: Row) -> str:
    """Whether the row's bar is met, in words."""
    if isinstance(row, ContactRow):
        return contact_report.verdict(row)
    if row.bar is None:
        return ""
    return f"{'pass' if row.passed else 'MISS'} (<= {row.bar:.3g})"


def line(row: Row) -> str:
    """One row of a table, times in microseconds."""
    if isinstance(row, ContactRow):
        return contact_report.line(row)
    if isinstance(row, CommandRow):
        return command_times.line(row)
    spread = f"{row.ratio.median:6.3f} [{row.ratio.lower:.3f}, {row.ratio.upper:.3f}]"
    times = f"{1e6 * row.ours.median:10.2f} {1e6 * row.peer.median:10.2f}"
    faster = f"{1.0 / row.ratio.median:6.2f}x"
    text = f"{row.what:<17}{row.case:<37}{times}  {spread:<24}{faster}  {verdict(row):<16}"
    return f"{text}{row.rival:<22}{row.note}".rstrip()


def heading(group: str) -> str:
    """Title and column names of a table."""
    if group in _COLUMNS:
        return f"\n{HEADINGS[group]}\n{_COLUMNS[group]}"
    times = f"{'ours us':>10} {'peer us':>10}"
    columns = f"{'':<54}{times}  {'ours / peer':<24}{'faster':>7}  {'bar':<16}peer"
    return f"\n{HEADINGS[group]}\n{columns}"


def as_csv(measured: Sequence[Row]) -> str:
    """All rows as CSV."""
    return as_csv_rows([row.to_data() for row in measured])


def as_csv_rows(data: Sequence[Mapping[str, object]]) -> str:
    """Rows of plain data as CSV; a row may lack some of the columns."""
    if not data:
        return ""
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in data for name in row))
    writer = csv.DictWriter(text, fieldnames=names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(data)
    return text.getvalue()


def _write_contacts(
    rows: Sequence[ContactRow], about: dict[str, object], out: Path | None, page: Path | None
) -> None:
    """Table and plots of contacts, in a folder and in a page."""
    if out is not None:
        contact_page.draw(rows, out)
        save_text(out / "contacts.md", contact_page.table(rows))
    if page is not None:
        try:
            contact_page.write_page(page, rows, about)
        except BenchError as error:
            raise click.ClickException(str(error)) from error


@click.command()
@click.option("--quick", is_flag=True, help="Fewer cases and rounds: under a minute.")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(list(GROUPS)),
    help="Only this group; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON, and nothing else.")
@click.option(
    "--csv",
    "csv_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the rows to this file.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write bench.json and bench.csv here, and of contacts a table and plots.",
)
@click.option("--rounds", type=click.IntRange(min=3), help="Rounds of every comparison.")
@click.option("--core", type=click.IntRange(min=0), help="Core to measure on; default: the last.")
@click.option("--check", is_flag=True, help="Exit with status 1 where a bar is missed.")
@click.option(
    "--scene",
    "scenes",
    multiple=True,
    help="With contacts: only this scene, family of scenes or pattern ('wall *'); may be repeated.",
)
@click.option(
    "--budget",
    type=click.FloatRange(min=0.1),
    default=contact_run.BUDGET,
    show_default=True,
    help="With contacts: seconds that a scene may take.",
)
@click.option(
    "--page",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="With contacts: put table and plots into this page, such as docs/contacts.md.",
)
@click.option(
    "--n", "count", type=click.IntRange(min=2), help="With commands: how many of each controller."
)
def bench(
    quick: bool,
    only: tuple[str, ...],
    as_json: bool,
    csv_file: Path | None,
    out: Path | None,
    rounds: int | None,
    core: int | None,
    check: bool,
    scenes: tuple[str, ...],
    budget: float,
    page: Path | None,
    count: int | None,
) -> None:
    """Measure speed side by side with Pinocchio, MuJoCo and FCL, in turns on one core.

    Medians over rounds in which the contestants alternate; ratios with their quartiles. Results are
    compared first: what does not agree is not timed.
    """
    groups = [group for group in GROUPS if (group in only if only else group not in ON_REQUEST)]
    effort = QUICK if quick else Effort()
    if rounds is not None:
        effort = Effort(rounds, effort.block)
    about = machine()
    measured: list[Row] = []
    try:
        for peer in dict.fromkeys(PEERS[group] for group in groups):
            require(peer)
        with pinned(core) as where:
            about["core"] = where
            if not as_json:
                click.echo(", ".join(f"{key} {value}" for key, value in about.items()))
                if about[ROBOT_DATA] == "missing":
                    click.echo(
                        f"without {ROBOT_DATA} robots are left out: pip install {ROBOT_DATA}"
                    )
            of_groups: dict[str, Mapping[str, object]] = {
                "contacts": {"names": scenes, "budget": budget},
                "commands": {"count": count},
            }
            for row in run_rows(groups, effort, quick=quick, **of_groups):
                if not as_json:
                    if not measured or measured[-1].group != row.group:
                        click.echo(heading(row.group))
                    click.echo(line(row))
                measured.append(row)
    except BenchError as error:
        raise click.ClickException(str(error)) from error
    missed = [row for row in measured if not row.passed]
    barred = sum(row.bar is not None for row in measured)
    data = {
        "machine": about,
        "rows": [row.to_data() for row in measured],
        "bars": barred,
        "missed": len(missed),
    }
    text = json.dumps(data, indent=1)
    if csv_file is not None:
        save_text(csv_file, as_csv(measured))
    if out is not None:
        save_text(out / "bench.json", text + "\n")
        save_text(out / "bench.csv", as_csv(measured))
    contacts = [row for row in measured if isinstance(row, ContactRow)]
    if contacts:
        _write_contacts(contacts, about, out, page)
    if as_json:
        click.echo(text)
    else:
        click.echo(
            f"\n{barred - len(missed)} of {barred} bars met"
            + (f"; {len(missed)} missed" if missed else "")
        )
    if check and missed:
        raise SystemExit(1)
