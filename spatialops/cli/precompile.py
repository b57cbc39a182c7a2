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
    """Compile all kernels now, once a version: a minute or two that nothing waits for later."""
    from spatialops._compile import jit
    from spatialops.precompile import precompile as compile_all

    begin = time.perf_counter()
    count = compile_all(progress=not no_progress, force=force)
    seconds = time.perf_counter() - begin
    if as_json:
        print_json({"compiled": count, "seconds": seconds, "cache": str(jit.cache_directory())})
    elif count:
        click.echo(f"{count} parts compiled in {seconds:.1f} s, kept in {jit.cache_directory()}")
    else:
        click.echo(f"Nothing to compile: all kernels are in {jit.cache_directory()}")
