"""Commands that are loaded when they are called, and whose errors are one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NamedTuple

import click

from spatialops.errors import SpatialOpsError

_INTERRUPTED = 130


class Entry(NamedTuple):
    """A command: where it is defined, a line of help, and the extra that it needs, if any."""

    place: str  # "module:name"
    help: str
    extra: str = ""


class LazyGroup(click.Group):
    """A group whose commands are named in a table and loaded one at a time.

    Parameters
    ----------
    entries : mapping of str to Entry
        Commands by name.
    **options
        Of `click.Group`.
    """

    def __init__(self, *, entries: Mapping[str, Entry], **options: Any) -> None:
        super().__init__(**options)
        self.entries = dict(entries)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of that name, loaded."""
        entry = self.entries.get(name)
        if entry is None:
            return None
        module, _, attribute = entry.place.partition(":")
        try:
            command: click.Command = getattr(import_module(module), attribute)
        except ModuleNotFoundError as error:
            if not entry.extra:
                raise
            hint = f"install spatialops[{entry.extra}]"
            raise click.ClickException(f"{name} cannot be loaded: {error}; {hint}") from error
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it; a name with a slip is told what may have been meant."""
        if args[0] not in self.entries and not ctx.resilient_parsing:
            near = get_close_matches(args[0], self.entries, n=1)
            if near:
                ctx.fail(f"No such command {args[0]!r}; did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table, without loading anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self.entries.items()])


class Commands(LazyGroup):
    """The outermost group: what goes wrong inside becomes one line and an exit status."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: object,
    ) -> click.Context:
        """Read the arguments; help is written meanwhile."""
        with _in_one_line():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command."""
        _open_streams()
        with _in_one_line():
            return super().invoke(ctx)


@contextmanager
def _in_one_line() -> Iterator[None]:
    """Make what goes wrong in the block one line and an exit status."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo("\nInterrupted; files that were not finished have been removed.", err=True)
        raise click.exceptions.Exit(_INTERRUPTED) from None
    except SpatialOpsError as error:
        raise click.ClickException(one_line(error)) from error
    except BrokenPipeError:
        raise  # the reader went away: click ends silently
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise click.ClickException(f"{where}{error.strerror or one_line(error)}") from error


def _open_streams() -> None:
    """Streams that were closed by who calls lead nowhere, and nothing else is opened as one."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115


def one_line(error: BaseException) -> str:
    """What an error says, or what it is."""
    return " ".join(str(error).split()) or type(error).__name__
