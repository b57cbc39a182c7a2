"""Simulating, recording and summing up, as several commands do."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spatialops.cli.output import figures_if_installed, made_of_the_record

if TYPE_CHECKING:
    from spatialops.simulation.plain_data import PlainData
    from spatialops.simulation.records.record import Record
    from spatialops.simulation.simulator import Simulator

INTEGRATORS = ("moreau", "semi-implicit", "rk4")
KINDS = ("motion", "height", "frames", "energy", "contacts", "forces")


def begin_beside() -> bool:
    """Whether the stepping loop is to be compiled; a second process begins with it at once.

    That reads its modules while this one reads its own.
    """
    from spatialops._marks import is_warm

    if is_warm(loop_only=True):
        return False
    from spatialops._compile.beside import BESIDE, LOOP_AND_PICTURES

    BESIDE.begin(LOOP_AND_PICTURES)
    return True


def warm_up(progress: bool) -> None:
    """Have the stepping loop compiled and say so where it takes a while."""
    if not begin_beside():
        return
    from spatialops.precompile import precompile as compile_all

    click.echo("Compiling the kernels: once for this version, a few minutes.", err=True)
    begin = time.perf_counter()
    compile_all(progress=progress, loop_only=True)
    click.echo(f"Compiled in {time.perf_counter() - begin:.0f} s.", err=True)


def timed_run(
    simulator: Simulator, duration: float, record_every: int, progress: bool
) -> tuple[Record, float]:
    """The record and the seconds that simulating took, loading and compiling left out."""
    simulator.run(duration=simulator.dt)  # loads the kernels
    if progress:
        import tqdm  # noqa: F401
    begin = time.perf_counter()
    record = simulator.run(duration=duration, record_every=record_every, progress=progress)
    return record, time.perf_counter() - begin


def write_all(record: Record, folder: Path, title: str, progress: bool) -> list[str]:
    """Write the record, the replay and, where `plots` is installed, figures; names of the files."""
    from tqdm import tqdm

    from spatialops.view.record import replay_record

    record.save(folder / "record.npz")
    names = ["replay.html", *(f"{kind}.png" for kind in KINDS)]
    written = ["record.npz"]
    with (
        figures_if_installed(),
        made_of_the_record(),
        tqdm(
            names, desc="writing", unit="file", leave=False, disable=None if progress else True
        ) as bar,
    ):
        for name in bar:
            bar.set_postfix_str(name)
            if name == "replay.html":
                replay_record(record, folder / name, title=title)
            else:
                record.plot(folder / name, Path(name).stem)
            written.append(name)
    return written


def run_summary(record: Record, seconds: float) -> PlainData:
    """The record's own summary, and speed."""
    data = record.summary()
    rate = data["steps"] / seconds if seconds > 0.0 else 0.0
    return data | {"steps_per_second": round(rate)}


def print_summary(
    record: Record, seconds: float, title: str, out: Path | None, names: list[str]
) -> None:
    """Summary of a run and what was written to `out`, for people."""
    from spatialops.view.record import summary_rows

    rows = summary_rows(record)
    steps = int(record.metadata["steps"])
    speed = (
        f"{_rounded(steps / seconds):,} steps per second, simulated in {seconds:.2f} s"
        if steps
        else "nothing to do"
    )
    rows = {"steps": rows.pop("steps"), "speed": speed, **rows}
    click.echo(title)
    print_rows(rows, out, names)


def print_rows(rows: Mapping[str, str], out: Path | None, names: list[str]) -> None:
    """Rows of a summary, and the files that were written to `out`, if any."""
    for label, text in rows.items():
        click.echo(f"  {label:<21}{text}")
    if out is None:
        click.echo("Nothing was written; --out DIR keeps the record, a 3-D replay and figures.")
        return
    click.echo(f"Written to {out}:")
    for name in names:
        click.echo(f"  {name:<21}{(out / name).stat().st_size / 1e6:.2f} MB")


def _rounded(value: float) -> int:
    """Three significant digits."""
    return int(float(f"{value:.3g}"))
