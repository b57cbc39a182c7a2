"""What all figures have in common: how they begin, look and are written, and who draws them.

Matplotlib, and Pillow for videos, come with the extra `plots` and are loaded with the first figure.
"""

from __future__ import annotations

import io
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from spatialops._files import checked_path
from spatialops.errors import MissingLibraryError, RecordError
from spatialops.view.replay import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart by all common kinds of colour vision; line styles repeat the
# distinction.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
STYLES: tuple[str | tuple[int, tuple[int, ...]], ...] = (
    "-",
    "--",
    "-.",
    ":",
    (0, (5, 1, 1, 1, 1, 1)),
)
_FORMATS = (".png", ".svg", ".pdf")


class Look(TypedDict):
    """How a curve is drawn, as `Axes.plot` takes it."""

    color: str
    label: str
    linewidth: float


def require_plots() -> None:
    """Refuse to draw without the extra `plots`.

    Raises
    ------
    MissingLibraryError
        Without Matplotlib or Pillow.
    """
    try:
        for library in ("PIL", "matplotlib"):  # the second needs the first
            import_module(library)
    except ImportError as error:
        raise MissingLibraryError(
            "figures and videos need Matplotlib and Pillow: pip install 'spatialops[plots]'"
        ) from error


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, sizes in inches, drawn without a display.

    Raises
    ------
    MissingLibraryError
        Without the extra `plots`.
    """
    require_plots()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def dressed(axes: Axes) -> None:
    """The look of all figures over time."""
    axes.grid(color="#dfe5ec", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.01)


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write a whole figure, or none of it; png, svg or pdf by its suffix."""
    suffix = checked_path(path).suffix.lower()
    if suffix not in _FORMATS:
        raise RecordError(f"a figure ends in {', '.join(_FORMATS)}, not {suffix!r}")
    buffer = io.BytesIO()
    figure.savefig(buffer, format=suffix[1:], dpi=160)
    return write_whole(path, buffer.getvalue())
