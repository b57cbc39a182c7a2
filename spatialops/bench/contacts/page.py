"""The rows as a table of a page, and as plots over the number of contacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spatialops._files import save_text
from spatialops.bench.contacts.report import ContactRow, verdict
from spatialops.bench.measure import BenchError
from spatialops.view.figures import new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOTTED = ("lying chain", "moving chain", "balls", "boxes", "tower", "wall")  # over contacts
TIMES, RATIOS = "contacts_times.png", "contacts_ratios.png"
BEGIN, END = "<!-- figures: made by `spatialops bench` -->", "<!-- end of figures -->"
_OURS, _PEER = "#0b6fa4", "#b5541c"


def table(rows: Sequence[ContactRow]) -> str:
    """All rows in Markdown."""
    head = (
        "| scene | ours us | MuJoCo us | ratio [quartiles] | bar | contacts, ours / MuJoCo "
        "| residual | penetration m, ours / MuJoCo | pivoted, ladder | notes |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    )
    return head + "".join(f"{_cells(row)}\n" for row in rows)


def _cells(row: ContactRow) -> str:
    if row.status == "left out":
        return f"| {row.case} | | | | left out | | | | | {_escaped(row.note)} |"
    if not row.steps:
        return f"| {row.case} | | | | {verdict(row)} | | | | | {_escaped(row.note)} |"
    ratio = f"{row.ratio.median:.3g} [{row.ratio.lower:.3g}, {row.ratio.upper:.3g}]"
    cells = (
        row.case,
        f"{1e6 * row.ours.median:.4g}",
        f"{1e6 * row.peer.median:.4g}",
        ratio,
        verdict(row),
        f"{row.contacts:.4g} / {row.peer_contacts:.4g}",
        f"{row.residual:.1e}",
        f"{row.depth:.0e} / {row.peer_depth:.0e}",
        f"{row.pivoted}, {row.fallbacks} of {row.solves}",
        _escaped(row.note),
    )
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    return text.replace("|", "/").replace("\n", " ")


def draw(rows: Sequence[ContactRow], folder: Path) -> list[Path]:
    """Times and ratios over the number of contacts; the files that were written."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, panel in ((TIMES, _times), (RATIOS, _ratios)):
        figure = new_figure(9.6, 5.6)
        panels = figure.subplots(2, 3, sharey=name == RATIOS).ravel()
        for axes, family in zip(panels, PLOTTED, strict=True):
            axes.set_title(family, fontsize="medium")
            axes.set(xscale="log", yscale="log")
            shown = [row for row in rows if row.family == family and row.contacts > 0.0]
            panel(axes, shown)
            counts = [round(row.contacts) for row in shown]
            axes.set_xticks(counts, list(map(str, counts)), rotation=30, fontsize="small")
            axes.set_xticks([], minor=True)
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter("")
        _label(figure, name)
        save_figure(figure, folder / name)
        made.append(folder / name)
    return made


def _label(figure: Figure, name: str) -> None:
    figure.supxlabel("contacts", fontsize="medium")
    text = "time of a step [us]" if name == TIMES else "ours / MuJoCo"
    figure.supylabel(text, fontsize="medium")


def _times(axes: Axes, rows: Sequence[ContactRow]) -> None:
    """Both times, with quartiles."""
    x = [row.contacts for row in rows]
    for label, color, times in (
        ("ours", _OURS, [row.ours for row in rows]),
        ("MuJoCo", _PEER, [row.peer for row in rows]),
    ):
        axes.plot(x, [1e6 * t.median for t in times], "o-", color=color, label=label, ms=3)
        low, high = [1e6 * t.lower for t in times], [1e6 * t.upper for t in times]
        axes.fill_between(x, low, high, color=color, alpha=0.2, linewidth=0.0)
    if rows:
        axes.legend(frameon=False, fontsize="small")


def _ratios(axes: Axes, rows: Sequence[ContactRow]) -> None:
    """The ratio, 1 and its bar; a cross where a step was not solved or time ran out."""
    axes.axhline(1.0, color="#c3ccd6", linewidth=0.9)
    axes.plot([r.contacts for r in rows], [r.ratio.median for r in rows], "o-", color=_OURS, ms=3)
    bad = [row for row in rows if row.misses not in ("", "time")]
    axes.plot([r.contacts for r in bad], [r.ratio.median for r in bad], "x", color=_PEER)
    for row in rows[:1]:
        if row.bar is not None:
            axes.axhline(row.bar, color="#5b6b7d", linestyle=":", linewidth=0.9)


def around_marks(path: Path) -> tuple[str, str]:
    """What a page has before its first mark and behind its second one.

    Raises
    ------
    BenchError
        For a page without the marks.
    """
    text = path.read_text() if path.exists() else ""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise BenchError(f"{path}: the page needs the marks {BEGIN!r} and {END!r}, once each")
    before, rest = text.split(BEGIN)
    return before, rest.split(END)[1]


def write_page(path: Path, rows: Sequence[ContactRow], about: Mapping[str, object]) -> None:
    """Put table and plots into a page, between its two marks; plots go to `images` beside it.

    Raises
    ------
    BenchError
        For a page without the marks.
    """
    before, after = around_marks(path)
    draw(rows, path.parent / "images")
    missed = [row for row in rows if not row.passed]
    counted = [row for row in rows if row.bar is not None and row.status != "left out"]
    middle = (
        f"\n{', '.join(f'{key} {value}' for key, value in about.items())}.\n\n"
        f"{len(counted) - len(missed)} of {len(counted)} bars met.\n\n{table(rows)}\n"
        f"![times over contacts](images/{TIMES})\n\n![ratios over contacts](images/{RATIOS})\n"
    )
    save_text(path, f"{before}{BEGIN}{middle}{END}{after}")
