"""What notebooks show of objects: small tables, in the colours of their theme."""

from __future__ import annotations

import html
from collections.abc import Mapping


def html_table(title: str, rows: Mapping[str, object]) -> str:
    """A title over rows of a name and a value, as text."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{html.escape(str(name))}</th>"
        f"<td style='text-align:left'>{html.escape(str(value))}</td></tr>"
        for name, value in rows.items()
    )
    caption = f"<caption style='text-align:left'>{html.escape(title)}</caption>"
    return f"<table style='min-width:18em'>{caption}<tbody>{cells}</tbody></table>"


def html_of_text(text: str) -> str:
    """A repr of a first line and rows "name: value" as such a table."""
    title, *lines = text.splitlines()
    rows = (line.strip().partition(": ") for line in lines)
    return html_table(title, {name: value for name, _, value in rows})
