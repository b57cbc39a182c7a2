"""`spatialops precompile`: compile all kernels."""

from __future__ import annotations

import time

import click

from spatialops.cli.options import json_option, no_progress
from spatialops.cli.output import print_json


@click.command()
@click.option(
    "--force", is_flag=True, help="Go through all kernels even if they are known to be compiled."
)
@no_progress
@json_option
def precompile(force: bool, no_progress: bool, as_json: bool) -> None:
    """Compile all kernels now, once a version: a few minutes that nothing waits for later."""
    from spatialops._compile import shipped_code
    from spatialops._compile.cache import cache_directory
    from spatialops.precompile import precompile as compile_all

    begin = time.perf_counter()
    count = compile_all(progress=not no_progress, force=force)
    seconds = time.perf_counter() - begin
    folder = cache_directory()
    place = None if folder is None else str(folder)
    if as_json:
        shipped = shipped_code.reason_against() or "used"
        print_json({"compiled": count, "seconds": seconds, "cache": place, "shipped": shipped})
    elif shipped_code.library() is not None:
        click.echo(
            f"Nothing to compile: the wheel has brought all kernels, for {shipped_code.LEVEL}"
        )
    elif place is None:
        click.echo(
            f"{count} parts compiled in {seconds:.1f} s and lost with this process: no folder for "
            "them is safe; set SPATIALOPS_CACHE_DIR to one that is yours alone"
        )
    elif count:
        click.echo(f"{count} parts compiled in {seconds:.1f} s, kept in {place}")
    else:
        click.echo(f"Nothing to compile: all kernels are in {place}")
