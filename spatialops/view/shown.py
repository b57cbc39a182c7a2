"""A replay inside a notebook."""

from __future__ import annotations

from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from spatialops._arrays import whole
from spatialops.view.record import replay_record

if TYPE_CHECKING:
    from spatialops.simulation.records.record import Record


class ShownReplay:
    """A page that notebooks show in a frame: it needs no server and stays in the saved notebook.

    Parameters
    ----------
    record : Record
        What to show.
    rate : float
        Frames a second.
    title : str
        Title of the page.
    height : int
        Of the frame, pixels.
    """

    def __init__(self, record: Record, *, rate: float, title: str, height: int) -> None:
        self.height = whole(height, "height", low=100)
        with TemporaryDirectory() as folder:
            path = replay_record(record, Path(folder) / "replay.html", rate=rate, title=title)
            self.page = path.read_text()

    def __repr__(self) -> str:
        return f"a replay of {len(self.page) // 1024} kB, which notebooks show"

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.page)}" width="100%" height="{self.height}" '
            'style="border:0" title="Replay in 3-D" loading="lazy"></iframe>'
        )
