"""Draw the pictures of the teaching pages and of the README anew: `make pictures`.

Figures are those that the pages' own code writes. The moving picture is the 3-D replay of the
README's pendulum, photographed in a browser without a screen.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

import spatialops as so

DOCS = Path(__file__).resolve().parent
PAGES = {
    "first-simulation.md": {"ball.png": "ball_energy.png"},
    "your-robot.md": {"push.png": "push.png"},
    "laws-in-pictures.md": {"laws.png": "laws.png"},
    **{page.name: {"law.png": f"{page.stem}.png"} for page in sorted(DOCS.glob("law-*.md"))},
}
LINKS = 12
SECONDS = 2.4
FRAMES = 40
WINDOW = (960, 720)  # of the browser
SIZE = (600, 450)  # of the picture
COLORS = 128
BARE = "<style>#cards, #dock, #triad, #scale-note { display: none !important }</style></head>"


def draw_figures(folder: Path) -> None:
    """Run the pages' code in a folder and keep the figures."""
    os.chdir(folder)
    for page, figures in PAGES.items():
        code = re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.S | re.M)
        exec("\n".join(code), {"__name__": "__main__"})
        for written, kept in figures.items():
            shutil.copy(folder / written, DOCS / "images" / kept)


def draw_moving_picture(folder: Path) -> None:
    """A GIF of the pendulum that swings into a floor and a wall."""
    record = so.Simulator(so.models.pendulum(LINKS).scene()).run(duration=SECONDS)
    page = record.replay(folder / "replay.html", rate=FRAMES / SECONDS)
    page.write_text(page.read_text().replace("</head>", BARE, 1))
    first, *others = photographs(folder)
    first.save(
        DOCS / "images" / "pendulum.gif",
        save_all=True,
        append_images=others,
        duration=int(1000 * SECONDS / FRAMES),
        loop=0,
        optimize=True,
    )


def photographs(folder: Path) -> Iterator[Image.Image]:
    """The replay at times that follow one another."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("a browser is needed: chromium or google-chrome")
    picture = folder / "frame.png"
    for k in range(FRAMES):
        time = k * SECONDS / FRAMES
        subprocess.run(
            [
                browser,
                *("--headless=new", "--no-sandbox", "--hide-scrollbars"),
                *("--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
                f"--window-size={WINDOW[0]},{WINDOW[1]}",
                f"--screenshot={picture}",
                f"file://{folder}/replay.html#view=free&t={time}",
            ],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        image = Image.open(picture).convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
        yield image.quantize(COLORS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)


def main() -> None:
    """All of them."""
    with tempfile.TemporaryDirectory() as folder:
        draw_figures(Path(folder))
        draw_moving_picture(Path(folder))


if __name__ == "__main__":
    main()
