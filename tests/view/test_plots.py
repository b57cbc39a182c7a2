"""The overview figures: written whole, in the format asked for, refused where arrays do not fit."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from spatialops.errors import RecordError
from spatialops.view import plots

T = np.linspace(0.0, 2.0, 41)
CHAIN = np.stack(
    [np.stack([i * np.sin(T), 0 * T, 4 - i * np.cos(T)], axis=-1) for i in (1.0, 2.0, 3.0)], axis=1
)
FIXTURES = [
    {"kind": "half_space", "point": [0, 0, 0], "normal": [0, 0, 1]},
    {"kind": "half_space", "point": [4, 0, 0], "normal": [-1, 0, 0]},
    {"kind": "half_space", "point": [0, 1, 0], "normal": [0, 1, 0]},
    {"kind": "box", "size": [1, 1, 1]},
]
FIGURES: dict[str, tuple[Callable[..., Path], dict[str, Any]]] = {
    "height": (
        plots.height_and_velocity,
        {
            "times": T,
            "curves": {"exact": (np.cos(T), -np.sin(T)), "soft": (T, T)},
            "impacts": [0.5, 1.0],
        },
    ),
    "frames": (
        plots.frames,
        {"times": T, "positions": CHAIN, "radii": [0.2, 0.3, 0.4], "fixtures": FIXTURES},
    ),
    "energies": (plots.energies, {"times": T, "kinetic": T, "potential": 2 - T}),
    "contacts": (
        plots.contacts,
        {"times": T, "count": T > 1, "penetration": 0 * T, "residual": 1e-12 * T},
    ),
}


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """Collect the figures that are saved."""
    figures: list[Figure] = []
    save = Figure.savefig

    def spy(self: Figure, *arguments: Any, **options: Any) -> None:
        figures.append(self)
        save(self, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", spy)
    return figures


@pytest.mark.parametrize("name", FIGURES)
def test_figure_is_written(tmp_path: Path, name: str) -> None:
    draw, data = FIGURES[name]
    target = tmp_path / "deep" / f"{name}.png"
    assert draw(target, **data) == target
    assert target.read_bytes().startswith(b"\x89PNG")
    assert target.stat().st_size > 5000
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_format_follows_suffix(tmp_path: Path, suffix: str, start: bytes) -> None:
    draw, data = FIGURES["energies"]
    assert draw(tmp_path / f"e{suffix}", **data).read_bytes().startswith(start)


def test_axes_say_what_and_in_which_unit(tmp_path: Path, drawn: list[Figure]) -> None:
    for draw, data in FIGURES.values():
        draw(tmp_path / "a.png", **data)
    for i in (0, 2, 3):
        assert drawn[i].axes[-1].get_xlabel() == "time [s]"
    assert [axes.get_ylabel() for axes in drawn[0].axes] == [
        "height [m]",
        "vertical velocity [m/s]",
    ]
    legend = drawn[0].axes[0].get_legend()
    assert legend
    assert [text.get_text() for text in legend.get_texts()] == ["exact", "soft", "impact"]


def test_a_curve_is_named_where_nothing_else_is_drawn(tmp_path: Path, drawn: list[Figure]) -> None:
    plots.height_and_velocity(tmp_path / "a.png", times=T, curves={"tip": (T, T)})
    legend = drawn[0].axes[0].get_legend()
    assert legend
    assert [text.get_text() for text in legend.get_texts()] == ["tip"]


@pytest.mark.parametrize(
    ("residual", "limits"),
    [([1.2e-16, 2.3e-15, 0.0], (1e-16, 1e-14)), ([0.0, 1e-12, 0.0], (1e-12, 1e-11))],
)
def test_logarithmic_axes_show_whole_decades(
    tmp_path: Path, drawn: list[Figure], residual: list[float], limits: tuple[float, float]
) -> None:
    sizes = {"count": [0, 1, 1], "penetration": [0.0, 0.0, 0.0], "residual": residual}
    plots.contacts(tmp_path / "a.png", times=[0.0, 1.0, 2.0], **sizes)
    _, nothing, lower = drawn[0].axes
    np.testing.assert_allclose(lower.get_ylim(), limits)
    assert all(label.get_text() == "" for label in lower.get_yticklabels(minor=True))
    assert list(nothing.get_yticks()) == [0.0]  # no scale for what is zero throughout


def test_frames_show_evenly_spaced_panels(tmp_path: Path, drawn: list[Figure]) -> None:
    plots.frames(
        tmp_path / "a.png",
        times=T,
        positions=CHAIN,
        radii=0.2,
        fixtures=FIXTURES,
        columns=3,
        count=5,
    )
    titles = [axes.get_title() for axes in drawn[0].axes]
    assert titles == ["t = 0.000 s", "t = 0.500 s", "t = 1.000 s", "t = 1.500 s", "t = 2.000 s"]
    left, right = drawn[0].axes[0].get_xlim()
    bottom, _ = drawn[0].axes[0].get_ylim()
    assert bottom < 0 < right
    assert right > 4
    assert left < CHAIN[..., 0].min()


def test_frames_of_a_single_moment(tmp_path: Path, drawn: list[Figure]) -> None:
    plots.frames(tmp_path / "a.png", times=[0.0], positions=CHAIN[:1], radii=0.2)
    assert len(drawn[0].axes) == 1


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("height", {"curves": {}}, "at least one"),
        ("height", {"curves": {"a": (T, T[1:])}}, "velocities of 'a' must have shape"),
        ("energies", {"kinetic": np.full(41, np.nan)}, "kinetic must be finite"),
        ("energies", {"times": []}, "at least one time"),
        ("frames", {"radii": [1.0]}, "radii must have shape"),
        ("frames", {"columns": 0}, "one column"),
        ("contacts", {"count": [1]}, "count must have shape"),
    ],
)
def test_wrong_input_is_named(
    tmp_path: Path, name: str, change: dict[str, Any], message: str
) -> None:
    draw, data = FIGURES[name]
    with pytest.raises(RecordError, match=message):
        draw(tmp_path / "a.png", **{**data, **change})
    assert list(tmp_path.iterdir()) == []


def test_unknown_format_is_refused(tmp_path: Path) -> None:
    draw, data = FIGURES["energies"]
    with pytest.raises(RecordError, match=r"not '\.gif'"):
        draw(tmp_path / "a.gif", **data)


def test_import_is_light() -> None:
    modules = "spatialops.view.plots, spatialops.view.replay"
    code = f"import sys, {modules}; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
