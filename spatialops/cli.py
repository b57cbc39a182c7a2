"""The command `spatialops`. Modules that compute are loaded by the command that needs them."""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spatialops import __version__
from spatialops.errors import SpatialOpsError

if TYPE_CHECKING:
    from spatialops.simulation.record import Record
    from spatialops.simulation.simulator import Simulator

_INTEGRATORS = ("moreau", "semi-implicit", "rk4")
_KINDS = ("motion", "frames", "energy", "contacts")
_INTERRUPTED = 130

_file = click.Path(dir_okay=False, path_type=Path)
_record = click.argument("record", type=click.Path(exists=True, dir_okay=False, path_type=Path))
_json = click.option(
    "--json", "as_json", is_flag=True, help="Print a summary as JSON on standard output, nothing else."
)
_no_progress = click.option("--no-progress", is_flag=True, help="Show no progress bars.")


class _Commands(click.Group):
    """Commands whose errors are one line and whose interruption is silent."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("\nInterrupted; files that were not finished have been removed.", err=True)
            raise click.exceptions.Exit(_INTERRUPTED) from None
        except SpatialOpsError as error:
            raise click.ClickException(_one_line(error)) from error
        except BrokenPipeError:
            raise  # the reader went away: click ends silently
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            raise click.ClickException(f"{where}{error.strerror or _one_line(error)}") from error


@click.group("spatialops", cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="spatialops")
def main() -> None:
    """Rigid-body dynamics with contact, friction and impact in minimal coordinates.

    Start with: spatialops pendulum --out out/pendulum
    """


@main.command(short_help="Simulate the multi-link pendulum among floor and wall.")
@click.option("--links", type=click.IntRange(min=1), default=12, show_default=True, help="Number of links.")
@click.option(
    "--duration", type=click.FloatRange(min=0), default=3.0, show_default=True, help="Simulated time in seconds."
)
@click.option(
    "--dt", type=click.FloatRange(min=0, min_open=True), default=1e-4, show_default=True, help="Time step in seconds."
)
@click.option("--integrator", type=click.Choice(_INTEGRATORS), default="moreau", show_default=True, help="Smooth part.")
@click.option(
    "--n-f", "--directions", "n_f", type=int, default=4, show_default=True, help="Directions of polyhedral friction."
)
@click.option(
    "--record-every",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Record the state every so many steps; contacts and impacts always.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder for the record, the figures and the 3-D replay; made if missing.",
)
@_no_progress
@_json
def pendulum(
    links: int,
    duration: float,
    dt: float,
    integrator: str,
    n_f: int,
    record_every: int,
    out: Path | None,
    no_progress: bool,
    as_json: bool,
) -> None:
    """Simulate the multi-link pendulum that swings into a floor and a wall.

    Equal spheres of 1 kg on pins, 12 m long in all, hang 10 m above the floor, 4 m from the wall, and start 45 degrees
    to the left at 1 rad/s. With --out, writes record.npz, motion.png, frames.png, energy.png, contacts.png and
    replay.html (open it in a browser).
    """
    from spatialops.contact.formulations.operational_space import OperationalSpace
    from spatialops.models.pendulum import pendulum as model
    from spatialops.simulation.simulator import Simulator

    scene = model(links).scene()
    simulator = Simulator(scene, formulation=OperationalSpace(n_f=n_f), dt=dt, integrator=integrator)
    with _finished_files(out) as scratch:
        _warm_up(not no_progress)
        record, seconds = _timed_run(simulator, duration, record_every, not no_progress)
        names = _write_all(record, scratch, f"Pendulum of {links} links", not no_progress) if scratch else []
    files = {name: str(out / name) for name in names} if out else {}
    if as_json:
        about = {"links": links, "dt": dt, "integrator": integrator, "n_f": n_f, "seconds": seconds, "files": files}
        _print_json(_run_summary(record, seconds) | about)
    else:
        _print_summary(record, seconds, f"Pendulum of {links} links, {duration:.4g} s", out, names)


@main.command(short_help="Compile all kernels now, once a version.")
@click.option("--force", is_flag=True, help="Go through all kernels even if they are known to be compiled.")
@_no_progress
@_json
def precompile(force: bool, no_progress: bool, as_json: bool) -> None:
    """Compile all kernels now (a minute or two, once a version), so that nothing has to wait for them later."""
    from spatialops import _jit
    from spatialops.precompile import precompile as compile_all

    begin = time.perf_counter()
    count = compile_all(progress=not no_progress, force=force)
    seconds = time.perf_counter() - begin
    if as_json:
        _print_json({"compiled": count, "seconds": seconds, "cache": str(_jit.cache_directory())})
    elif count:
        click.echo(f"{count} parts compiled in {seconds:.1f} s, kept in {_jit.cache_directory()}")
    else:
        click.echo(f"Nothing to compile: all kernels are in {_jit.cache_directory()}")


@main.command(short_help="Write a 3-D replay of a saved record.")
@_record
@click.option("--out", type=_file, metavar="FILE", required=True, help="The page to write, .html.")
@click.option("--rate", type=float, default=60.0, show_default=True, help="Frames a second of simulated time.")
@_json
def replay(record: Path, out: Path, rate: float, as_json: bool) -> None:
    """Write a page that replays a saved RECORD (record.npz) in 3-D in a browser."""
    from spatialops.simulation.record import load_record

    _print_file(load_record(record).replay(out, rate=rate), as_json)


@main.command()
@_record
@click.option("--kind", type=click.Choice(_KINDS), default="motion", show_default=True, help="What to draw.")
@click.option("--out", type=_file, metavar="FILE", required=True, help="The figure to write: .png, .svg or .pdf.")
@_json
def plot(record: Path, kind: str, out: Path, as_json: bool) -> None:
    """Draw a saved RECORD (record.npz)."""
    from spatialops.simulation.record import load_record

    _print_file(load_record(record).plot(out, kind), as_json)


@main.command(context_settings={"ignore_unknown_options": True, "help_option_names": []}, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def bench(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Measure speed side by side with Pinocchio and MuJoCo."""
    try:
        from spatialops.bench.command import bench as command
    except ModuleNotFoundError as error:
        raise click.ClickException(f"the benchmarks cannot be loaded: {error}; install spatialops[bench]") from error
    with command.make_context("bench", list(arguments), parent=context.parent) as inner:
        command.invoke(inner)


@main.command(context_settings={"ignore_unknown_options": True, "help_option_names": []}, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def compare(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Compare all formulations of a contact problem: sizes, agreement, timings."""
    from spatialops.compare.command import command

    with command.make_context("compare", list(arguments), parent=context.parent) as inner:
        command.invoke(inner)


@main.command(short_help="Solve a stored contact or complementarity problem.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--formulation", default="os", show_default=True, help="nmc, mc, rmc, os, nmc/os or trinkle.")
@click.option("--solver", default="auto", show_default=True, help="auto, lemke, principal-pivoting, newton, ...")
@click.option("--directions", "--n-f", "n_f", type=int, default=4, show_default=True, help="Friction directions.")
@_json
def solve(file: Path, formulation: str, solver: str, n_f: int, as_json: bool) -> None:
    """Solve a problem that was saved (ContactProblem.save, MixedLCP.save), with any formulation and solver.

    Exits with status 1 where it is not solved.
    """
    from spatialops.compare.stored import solve_file

    summary = solve_file(file, formulation, solver, n_f)
    if as_json:
        _print_json(summary)
    else:
        for key, value in summary.items():
            click.echo(f"  {key:<21}{value}")
    if not summary["solved"]:
        raise click.exceptions.Exit(1)


_packages = click.option(
    "--package",
    "packages",
    multiple=True,
    metavar="NAME=DIR",
    help="Where a package of package:// is; may be repeated.",
)


@main.command(short_help="Show what a robot file holds.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--floating-base", is_flag=True, help="Give the root of a URDF a free joint.")
@_packages
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Folder for a picture, robot.png."
)
@_json
def inspect(file: Path, floating_base: bool, packages: tuple[str, ...], out: Path | None, as_json: bool) -> None:
    """Show the tree of a URDF or MJCF FILE, its masses, limits and shapes, and what could not be taken over."""
    from spatialops.io import build, read
    from spatialops.view.robot import draw_robot, robot_data, robot_text

    description = read(file, packages=_package_map(packages))
    moves = bool(description.moving_joints) or floating_base
    model = build(description, floating_base=floating_base) if moves else None
    with _finished_files(out) as scratch:
        if scratch and model is not None:
            q = model.neutral()
            for joint, values in description.start.items():
                q[model.q_slice(joint)] = values
            draw_robot(description, model, q, scratch / "robot.png")
    picture = None if out is None or model is None else str(out / "robot.png")
    if as_json:
        _print_json(robot_data(description, model) | {"picture": picture})
        return
    for line in robot_text(description, model):
        click.echo(line)
    if picture:
        click.echo(f"Written: {picture}")


@main.command(short_help="Drop a robot on a floor.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--duration", type=click.FloatRange(min=0), default=1.0, show_default=True, help="Simulated time, s.")
@click.option(
    "--dt", type=click.FloatRange(min=0, min_open=True), default=1e-3, show_default=True, help="Time step, s."
)
@click.option("--height", type=float, default=0.05, show_default=True, help="Lowest point above the floor, m.")
@click.option("--friction", type=click.FloatRange(min=0), default=0.5, show_default=True, help="Of the floor.")
@click.option("--fixed-base", is_flag=True, help="Fix the root of a URDF to the world.")
@click.option("--strict", is_flag=True, help="Refuse damaged or missing shapes; otherwise they are left out.")
@click.option("--record-every", type=click.IntRange(min=1), default=5, show_default=True, help="Steps a record.")
@_packages
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Folder for record, figures, replay."
)
@_no_progress
@_json
def simulate(
    file: Path,
    duration: float,
    dt: float,
    height: float,
    friction: float,
    fixed_base: bool,
    strict: bool,
    record_every: int,
    packages: tuple[str, ...],
    out: Path | None,
    no_progress: bool,
    as_json: bool,
) -> None:
    """Drop the robot of a URDF or MJCF FILE on a floor, without torques, and simulate it.

    The root of a URDF is set free; a MJCF file says itself what is. Limits of joints are not enforced.
    """
    from spatialops.io import read
    from spatialops.simulation.drop import raised, steadied
    from spatialops.simulation.load import scene_of
    from spatialops.simulation.simulator import Simulator

    description, note = steadied(read(file, packages=_package_map(packages)), dt)
    urdf = not fixed_base and file.suffix.lower() == ".urdf"
    grounded = any(spec.kind == "half_space" and spec.collides for spec in description.shapes)
    floor = False if grounded else friction
    scene = scene_of(description, floating_base=urdf, floor=floor, self_collision=not urdf, strict=strict)
    scene.state = raised(scene, height)
    simulator = Simulator(scene, dt=dt)
    scene.warnings += (note,) if note else ()
    for text in scene.warnings:
        click.echo(f"Warning: {text}", err=True)
    with _finished_files(out) as scratch:
        _warm_up(not no_progress)
        record, seconds = _timed_run(simulator, duration, record_every, not no_progress)
        names = _write_all(record, scratch, description.name, not no_progress) if scratch else []
    if as_json:
        files = {name: str(out / name) for name in names} if out else {}
        about = {"name": description.name, "dt": dt, "seconds": seconds, "geoms": len(scene.geoms), "files": files}
        _print_json(_run_summary(record, seconds) | about | {"warnings": list(scene.warnings)})
    else:
        _print_summary(record, seconds, f"{description.name}, {duration:.4g} s", out, names)


def _package_map(packages: tuple[str, ...]) -> dict[str, str]:
    result = {}
    for text in packages:
        name, equals, folder = text.partition("=")
        if not (name and equals and folder):
            raise click.BadParameter(f"expected NAME=DIR, got {text!r}", param_hint="--package")
        result[name] = folder
    return result


def _warm_up(progress: bool) -> None:
    """Have the stepping loop compiled and say so where it takes a while."""
    from spatialops.precompile import is_warm
    from spatialops.precompile import precompile as compile_all

    if is_warm(loop_only=True):
        return
    click.echo("Compiling the kernels: once for this version, a minute or two.", err=True)
    begin = time.perf_counter()
    compile_all(progress=progress, loop_only=True)
    click.echo(f"Compiled in {time.perf_counter() - begin:.0f} s.", err=True)


def _timed_run(simulator: Simulator, duration: float, record_every: int, progress: bool) -> tuple[Record, float]:
    """The record and the seconds that simulating took, loading and compiling left out."""
    simulator.run(duration=simulator.dt)  # loads the kernels
    if progress:
        import tqdm  # noqa: F401
    begin = time.perf_counter()
    record = simulator.run(duration=duration, record_every=record_every, progress=progress)
    return record, time.perf_counter() - begin


def _write_all(record: Record, folder: Path, title: str, progress: bool) -> list[str]:
    """Write the record, the figures and the replay; returns the names of the files."""
    from tqdm import tqdm

    from spatialops.view.record import replay_record

    names = ["record.npz", *(f"{kind}.png" for kind in _KINDS), "replay.html"]
    with tqdm(names, desc="writing", unit="file", leave=False, disable=None if progress else True) as bar:
        for name in bar:
            bar.set_postfix_str(name)
            if name == "record.npz":
                record.save(folder / name)
            elif name == "replay.html":
                replay_record(record, folder / name, title=title)
            else:
                record.plot(folder / name, Path(name).stem)
    return names


@contextmanager
def _finished_files(out: Path | None) -> Iterator[Path | None]:
    """A folder to write in, whose files come to `out` all together when everything has worked, or not at all."""
    if out is None:
        yield None
        return
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    out.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".writing-", dir=out) as name:
            yield Path(name)
            for file in sorted(Path(name).iterdir()):
                os.replace(file, out / file.name)
    except BaseException:
        with suppress(OSError):
            for folder in made:
                folder.rmdir()
        raise


def _run_summary(record: Record, seconds: float) -> dict[str, Any]:
    from spatialops.view.record import most_contacts

    data = record.summary()
    rate = data["steps"] / seconds if seconds > 0.0 else 0.0
    return data | {"contacts_max": most_contacts(record), "steps_per_second": round(rate)}


def _print_summary(record: Record, seconds: float, title: str, out: Path | None, names: list[str]) -> None:
    from spatialops.view.record import summary_rows

    rows = summary_rows(record)
    steps = int(record.metadata["steps"])
    speed = (
        f"{_rounded(steps / seconds):,} steps per second, simulated in {seconds:.2f} s" if steps else "nothing to do"
    )
    rows = {"steps": rows.pop("steps"), "speed": speed, **rows}
    click.echo(title)
    for label, text in rows.items():
        click.echo(f"  {label:<21}{text}")
    if out is None:
        click.echo("Nothing was written; --out DIR keeps the record, figures and a 3-D replay.")
        return
    click.echo(f"Written to {out}:")
    for name in names:
        click.echo(f"  {name:<21}{(out / name).stat().st_size / 1e6:.2f} MB")


def _print_file(path: Path, as_json: bool) -> None:
    if as_json:
        _print_json({"file": str(path), "bytes": path.stat().st_size})
    else:
        click.echo(f"Written: {path}")


def _print_json(data: dict[str, Any]) -> None:
    click.echo(json.dumps({key: _plain(value) for key, value in data.items()}, indent=2))


def _plain(value: Any) -> Any:
    """Nine significant digits are more than anything here means; no minus zero, no NaN."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.9g}") + 0.0 if math.isfinite(value) else None


def _rounded(value: float) -> int:
    """Three significant digits."""
    return int(float(f"{value:.3g}"))


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


if __name__ == "__main__":
    main(prog_name="spatialops")
