"""Options that several commands take."""

from __future__ import annotations

from pathlib import Path

import click

json_option = click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print a summary as JSON on standard output, nothing else.",
)
no_progress = click.option("--no-progress", is_flag=True, help="Show no progress bars.")
out_option = click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder for the files that are written; made if missing.",
)
record_argument = click.argument("record", type=click.Path(exists=True, path_type=Path))
file_argument = click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
one_file = click.Path(dir_okay=False, path_type=Path)
packages_option = click.option(
    "--package",
    "packages",
    multiple=True,
    metavar="NAME=DIR",
    help="Where a package of package:// is; may be repeated.",
)


def package_map(packages: tuple[str, ...]) -> dict[str, str]:
    """Folders of packages by name, of options NAME=DIR.

    Raises
    ------
    click.BadParameter
        For something else.
    """
    result = {}
    for text in packages:
        name, equals, folder = text.partition("=")
        if not (name and equals and folder):
            raise click.BadParameter(f"expected NAME=DIR, got {text!r}", param_hint="--package")
        result[name] = folder
    return result
