"""Figures of the comparison of formulations."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from spatialops.view.figures import COLORS, new_figure, save_figure


def times_over_links(
    path: str | os.PathLike[str], curves: Mapping[str, tuple[Sequence[int], Sequence[float]]]
) -> Path:
    """Total times (us) over numbers of links, log-log; labels that end in "lemke" are dashed."""
    figure = new_figure(7.2, 4.8)
    axes = figure.subplots()
    axes.grid(color="#dfe5ec", linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)
    names = list(dict.fromkeys(label.split(",")[0] for label in curves))
    for label, (counts, times) in curves.items():
        color = COLORS[names.index(label.split(",")[0]) % len(COLORS)]
        style = "--" if label.endswith("lemke") else "-"
        axes.plot(
            counts, times, marker="o", markersize=3.5, color=color, linestyle=style, label=label
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    counts = sorted({count for some, _ in curves.values() for count in some})
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.minorticks_off()
    axes.set_xlabel("links")
    axes.set_ylabel("assemble + solve + recover [us]")
    axes.legend(fontsize=8, ncols=2)
    return save_figure(figure, path)
