"""What a picture says: its title, the time, and how long an arrow of some newtons is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spatialops._arrays import Array
from spatialops.view.figures import require_plots
from spatialops.view.pictures.look import Look

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

_LOWEST = 180  # pixels: there is no room for words in lower pictures
_LINES = 36  # of text, over the height of a picture
_STEPS = (5.0, 2.0, 1.0)


class Key(NamedTuple):
    """A force and the length of its arrow in the middle of the picture."""

    force: float  # N
    pixels: float

    @property
    def text(self) -> str:
        """With its unit."""
        return f"{self.force:g} N"


def key_of(largest: float, pixels: float) -> Key | None:
    """A round force, at most the largest, by arrows that grow with the square root of the force."""
    if not largest > 0.0:
        return None
    decade = 10.0 ** np.floor(np.log10(largest))
    force = next((step * decade for step in _STEPS if step * decade <= largest), decade)
    return Key(float(f"{force:.0e}"), float(pixels * np.sqrt(force / largest)))


class Caption:
    """Words over pictures of one size.

    Parameters
    ----------
    size : (int, int)
        Width and height, pixels.
    look : Look
        The colours.
    title : str
        In the upper left corner; empty for none.
    key : Key or None
        Of the arrows, in the lower right corner.
    """

    def __init__(self, size: tuple[int, int], look: Look, title: str, key: Key | None) -> None:
        self.width, self.height = size
        self._ink = _bytes(look.ink)
        self._green = _bytes(look.resting)
        self._title = title
        self._key = key
        self._letters = max(self.height // _LINES, 11)
        self._font = _font(self._letters) if self.height >= _LOWEST else None

    def write(self, picture: NDArray[np.uint8], time: float) -> NDArray[np.uint8]:
        """The picture (height, width, 3) with the words of a time [s] over it."""
        if self._font is None:
            return picture
        from PIL import Image, ImageDraw

        image = Image.fromarray(picture)
        pen = ImageDraw.Draw(image)
        room = self._letters
        below = self.height - room
        pen.text((room, below), f"{time:.2f} s", self._ink, self._font, "ls")
        if self._title:
            pen.text((room, room), self._title, self._ink, self._font, "lt")
        if self._key is not None:
            pen.text((self.width - room, below), self._key.text, self._ink, self._font, "rs")
            end = self.width - 2 * room - pen.textlength(self._key.text, self._font)
            self._arrow(pen, end, below - 0.35 * room, self._key.pixels)
        return np.asarray(image)

    def _arrow(self, pen: ImageDraw, end: float, row: float, length: float) -> None:
        """To the right, of a length [pixels]."""
        head = min(0.7 * self._letters, 0.5 * length)
        thick = max(self._letters // 6, 1)
        pen.line([(end - length, row), (end - head, row)], self._green, thick)
        half = 0.5 * head
        pen.polygon([(end, row), (end - head, row - half), (end - head, row + half)], self._green)


def _bytes(color: Array) -> tuple[int, int, int]:
    red, green, blue = (round(255.0 * float(part)) for part in color)
    return red, green, blue


def _font(size: int) -> FreeTypeFont:
    """The letters of the figures."""
    require_plots()
    from matplotlib import font_manager
    from PIL import ImageFont

    return ImageFont.truetype(font_manager.findfont("DejaVu Sans"), size)
