"""The replay page: its structure and, where there is a browser, that it runs and draws."""

from __future__ import annotations

import base64
import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spatialops.errors import RecordError
from spatialops.view.replay import Curves, write_replay

FRAMES, BODIES = 31, 12
FLOOR = {"kind": "half_space", "point": [0, 0, 0], "normal": [0, 0, 2], "name": "floor"}
WALL = {"kind": "half_space", "point": [4, 0, 0], "normal": [-1, 0, 0], "name": "wall"}


def pendulum() -> dict[str, Any]:
    """A chain of 12 spheres that swings over a floor and touches a wall."""
    times = np.linspace(0.0, 1.5, FRAMES)
    angle = 1.2 * np.cos(3.0 * times)
    along = 0.3 * (np.arange(BODIES) + 0.5)
    positions = np.zeros((FRAMES, BODIES, 3))
    positions[..., 0] = np.sin(angle)[:, None] * along
    positions[..., 2] = 3.9 - np.cos(angle)[:, None] * along
    quaternions = np.zeros((FRAMES, BODIES, 4))
    quaternions[..., 1] = np.sin(-angle / 2)[:, None]
    quaternions[..., 3] = np.cos(angle / 2)[:, None]
    contacts = [np.zeros((0, 7)) for _ in times]
    contacts[0] = np.array([[3.3, 0, 2.6, -900, 0, 80, 1], [0.2, 0, 0, 3, 0, 40, 0]])
    shapes = [{"kind": "sphere", "radius": 0.15, "name": f"link {i}"} for i in range(BODIES)]
    return {
        "times": times,
        "shapes": shapes,
        "positions": positions,
        "quaternions": quaternions,
        "contacts": contacts,
        "fixtures": [FLOOR, WALL],
        "title": "Pendulum",
    }


STEADY = Curves("imu", "m/s^2", ("ax", "ay"), np.full((FRAMES, 2), 9.81))


def five_frames() -> tuple[Any, Any]:
    """Poses of five bodies that stand still."""
    return np.zeros((FRAMES, 5, 3)), np.tile([0.0, 0.0, 0.0, 2.0], (FRAMES, 5, 1))


def payload(page: Path) -> dict[str, Any]:
    found = re.search(
        r'<script type="application/json" id="replay-data">(.*?)</script>',
        page.read_text(),
        re.DOTALL,
    )
    assert found
    result: dict[str, Any] = json.loads(found[1])
    return result


def unpack(text: str, kind: str = "<f4") -> np.ndarray[Any, Any]:
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def test_page_holds_the_motion(tmp_path: Path) -> None:
    motion = pendulum()
    page = write_replay(tmp_path / "deep" / "a.html", **motion)
    data = payload(page)
    np.testing.assert_allclose(unpack(data["times"]), motion["times"], rtol=1e-6)
    np.testing.assert_allclose(
        unpack(data["positions"]), motion["positions"].ravel(), rtol=1e-6, atol=1e-6
    )
    np.testing.assert_allclose(
        unpack(data["quaternions"]), motion["quaternions"].ravel(), atol=1e-6
    )
    assert unpack(data["counts"], "<u4").tolist() == [2] + [0] * (FRAMES - 1)
    np.testing.assert_allclose(unpack(data["contacts"]), motion["contacts"][0].ravel(), rtol=1e-6)
    np.testing.assert_allclose(data["fixtures"][0]["normal"], [0, 0, 1])
    low, high = np.array(data["bounds"])
    np.testing.assert_allclose(low, motion["positions"].min(axis=(0, 1)) - 0.15)
    np.testing.assert_allclose(high, motion["positions"].max(axis=(0, 1)) + 0.15)
    assert [path.name for path in page.parent.iterdir()] == ["a.html"]


def test_page_needs_nothing_from_outside(tmp_path: Path) -> None:
    text = write_replay(tmp_path / "a.html", **pendulum()).read_text()
    assert set(re.findall(r"""(?:\s|^)(?:src|href)\s*=\s*["']([^"']*)["']""", text)) <= {"data:,"}
    addresses = set(re.findall(r"https?://[\w.]+", text))
    assert addresses <= {"http://www.w3.org"}  # a namespace's name, never fetched
    assert "Content-Security-Policy" in text
    assert "default-src 'none'" in text
    assert "Permission is hereby granted" in text  # the licence travels with the code
    assert "{{" not in text.split("<script>")[0]


def test_texts_cannot_break_out(tmp_path: Path) -> None:
    evil = "</script><script>alert('x')</script><!-- {{app}} &amp;"
    page = write_replay(
        tmp_path / "a.html",
        **{**pendulum(), "title": evil, "summary": {evil: evil, "drift": 1 / 3}},
    )
    assert "alert('x')</script>" not in page.read_text().replace("&#x27;", "'")
    data = payload(page)
    assert data["title"] == evil
    assert data["summary"] == [[evil, evil], ["drift", "0.333333"]]


def test_all_shapes_and_default_colors(tmp_path: Path) -> None:
    shapes: list[dict[str, Any]] = [
        {"kind": "sphere", "radius": 1},
        {"kind": "box", "size": [1, 2, 3], "color": "#Abcdef"},
        {"kind": "capsule", "radius": 0.5, "length": 2.0},
        {"kind": "cylinder", "radius": 3, "length": 8},
    ]
    turns = np.full((1, 4, 4), 3.0)
    scenery = [
        {"kind": "box", "size": [1, 1, 1], "position": [9, 9, 9], "quaternion": [0, 0, 0, 2]}
    ]
    page = write_replay(
        tmp_path / "a.html",
        times=[0],
        shapes=shapes,
        positions=np.zeros((1, 4, 3)),
        quaternions=turns,
        fixtures=scenery,
    )
    data = payload(page)
    colors = [shape["color"] for shape in data["shapes"]]
    assert colors[1] == "#Abcdef"
    assert all(re.fullmatch("#[0-9a-fA-F]{6}", color) for color in colors)
    np.testing.assert_allclose(unpack(data["quaternions"]), 0.5)
    assert data["bounds"] == [[-5.0] * 3, [5.0] * 3]
    assert data["fixtures"][0]["quaternion"] == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"times": [0.0]}, "positions must have shape"),
        ({"times": []}, "at least one frame"),
        ({"times": np.linspace(1, 0, FRAMES)}, "must not decrease"),
        ({"times": np.full(FRAMES, np.nan)}, "times must be finite"),
        ({"positions": "here"}, "array of numbers"),
        ({"positions": np.full((FRAMES, BODIES, 3), np.inf)}, "positions must be finite"),
        ({"quaternions": np.zeros((FRAMES, BODIES, 4))}, "quaternions must not be zero"),
        ({"shapes": []}, "at least one frame and one body"),
        ({"shapes": [{"kind": "torus"}] * BODIES}, r"shapes\[0\] has kind 'torus'"),
        ({"shapes": [{"kind": "sphere"}] * BODIES}, "without radius"),
        ({"shapes": [{"kind": "sphere", "radius": -1}] * BODIES}, "must be positive"),
        ({"shapes": [{"kind": "box", "size": [1, 2]}] * BODIES}, r"size must have shape \(3\)"),
        ({"shapes": [{"kind": "sphere", "radius": 1, "color": "red"}] * BODIES}, "#rrggbb"),
        ({"contacts": [np.zeros((0, 7))]}, "one array for each of the 31 frames"),
        ({"contacts": [np.zeros((1, 6))] * FRAMES}, r"contacts\[0\] must have shape"),
        ({"contacts": [np.full((1, 7), 2.0)] * FRAMES}, "last column"),
        ({"frames": (np.zeros((FRAMES, 5)), np.zeros((FRAMES, 5, 4)))}, "positions of frames"),
        ({"frames": (np.zeros((FRAMES, 5, 3)), np.zeros((FRAMES, 5, 4)))}, "must not be zero"),
        ({"curves": [STEADY._replace(labels=("ax",))]}, r"curves\[0\].values must have shape"),
        ({"fixtures": [{"kind": "half_space", "point": [0, 0, 0]}]}, "without point or normal"),
        ({"fixtures": [{**FLOOR, "normal": [0, 0, 0]}]}, "normal must not be zero"),
    ],
)
def test_wrong_input_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        write_replay(tmp_path / "a.html", **{**pendulum(), **change})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"kind": "mesh", "faces": [[0, 1, 2]]}, "without vertices or faces"),
        ({"kind": "mesh", "vertices": np.eye(3), "faces": [[0, 1, 3]]}, "from 0 to 2"),
        ({"kind": "cone", "radius": 1.0}, "without length"),
        ({"kind": "ellipsoid", "semi_axes": [1.0, 0.0, 1.0]}, "must be positive"),
    ],
)
def test_wrong_bodies_are_named(tmp_path: Path, shape: dict[str, Any], message: str) -> None:
    motion = {**pendulum(), "shapes": [shape] * BODIES}
    with pytest.raises(RecordError, match=message):
        write_replay(tmp_path / "a.html", **motion)


@pytest.mark.parametrize("name", ["a.txt", "a", "a.html.gz"])
def test_a_page_ends_as_a_page_does(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecordError, match=r"ends in \.html or \.htm"):
        write_replay(tmp_path / name, **pendulum())
    assert list(tmp_path.iterdir()) == []


def test_bodies_are_as_many_as_shapes_where_nobody_says_otherwise(tmp_path: Path) -> None:
    assert payload(write_replay(tmp_path / "a.html", **pendulum()))["bodies"] == BODIES
    page = write_replay(tmp_path / "a.HTM", **pendulum(), frames=five_frames())
    assert payload(page)["bodies"] == 5


def test_unwritable_place_is_reported_and_left_clean(tmp_path: Path) -> None:
    (tmp_path / "a.html").mkdir()
    with pytest.raises(RecordError, match="cannot be written"):
        write_replay(tmp_path / "a.html", **pendulum())
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def browse(address: str, scratch: Path, *arguments: str) -> str:
    chromium = shutil.which("chromium")
    assert chromium
    flags = ["--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader"]
    flags += [
        "--enable-unsafe-swiftshader",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
    ]
    flags += [
        "--disable-component-update",
        "--disable-sync",
        "--virtual-time-budget=3000",
        "--window-size=900,600",
    ]
    command = [chromium, *flags, f"--user-data-dir={scratch}", *arguments, address]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


needs_browser = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="chromium is not installed"
)


@needs_browser
def test_page_runs_and_draws(tmp_path: Path) -> None:
    page = write_replay(tmp_path / "a.html", **pendulum())
    shot = tmp_path / "shot.png"
    address = page.as_uri() + "#t=0.5"
    dom = browse(address, tmp_path / "profile", "--dump-dom", f"--screenshot={shot}")
    if not shot.exists():  # some versions do only the first of the two
        browse(address, tmp_path / "profile", f"--screenshot={shot}")
    assert 'data-ready="true"' in dom
    assert f'data-frames="{FRAMES}"' in dom
    assert "data-error" not in dom
    assert ">0.500 s " in dom
    assert "frame 11<" in dom
    from matplotlib.image import imread

    # The middle of the picture lies between the cards: a blank scene would have a few colours
    # there.
    middle = (imread(shot)[100:450, 250:650, :3] * 255).astype(int)
    assert len(np.unique(middle.reshape(-1, 3), axis=0)) > 200
    assert middle.std() > 5


def bodies_of_every_kind() -> dict[str, Any]:
    """Three frames with one body of each kind in a row over a floor."""
    corners = [[0, 0, 0], [0.4, 0, 0], [0, 0.4, 0], [0, 0, 0.4]]
    shapes: list[dict[str, Any]] = [
        {"kind": "sphere", "radius": 0.2},
        {"kind": "box", "size": [0.4, 0.3, 0.2]},
        {"kind": "capsule", "radius": 0.1, "length": 0.3},
        {"kind": "cylinder", "radius": 0.2, "length": 0.4},
        {"kind": "cone", "radius": 0.2, "length": 0.4},
        {"kind": "ellipsoid", "semi_axes": [0.3, 0.2, 0.1]},
        {
            "kind": "mesh",
            "vertices": corners,
            "faces": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        },
    ]
    positions = np.zeros((3, len(shapes), 3))
    positions[..., 0], positions[..., 2] = 0.6 * np.arange(len(shapes)), 0.3
    quaternions = np.zeros((3, len(shapes), 4))
    quaternions[..., 3] = 1.0
    return {
        "times": [0.0, 0.5, 1.0],
        "shapes": shapes,
        "positions": positions,
        "quaternions": quaternions,
    }


@needs_browser
def test_every_kind_of_body_is_drawn(tmp_path: Path) -> None:
    """Every body changes the picture: without it, it is another one."""
    from matplotlib.image import imread

    motion, pictures = bodies_of_every_kind(), []
    ground = {**motion["shapes"][-1], "position": [0, 1, 0], "quaternion": [0, 0, 0, 1]}
    for hidden in (None, 4, 5, 6):
        moved = motion["positions"].copy()
        if hidden is not None:
            moved[:, hidden, 1] += 0.5
        page = write_replay(
            tmp_path / f"{hidden}.html", **{**motion, "positions": moved}, fixtures=[FLOOR, ground]
        )
        shot = tmp_path / f"{hidden}.png"
        dom = browse(page.as_uri(), tmp_path / "profile", "--dump-dom", f"--screenshot={shot}")
        if not shot.exists():
            browse(page.as_uri(), tmp_path / "profile", f"--screenshot={shot}")
        assert 'data-ready="true"' in dom
        assert "data-error" not in dom
        pictures.append(imread(shot)[..., :3])
    assert all(np.abs(other - pictures[0]).max() > 0.1 for other in pictures[1:])


@needs_browser
def test_clock_and_keys_work(tmp_path: Path) -> None:
    page = write_replay(tmp_path / "a.html", **pendulum())
    script = """
      const seen = [], note = () => seen.push(window.replay.frame);
      const press = (key) => { dispatchEvent(new KeyboardEvent("keydown", { key })); note(); };
      window.replay.seek(7); note();
      ["ArrowRight", "ArrowLeft", "End", "Home", "4", "t", "c", "]"].forEach(press);
      window.replay.play();
      const data = document.body.dataset;
      setTimeout(() => { data.seen = seen; data.end = window.replay.frame; }, 2500);
    """
    page.write_text(page.read_text().replace("</body>", f"<script>{script}</script></body>"))
    dom = browse(page.as_uri(), tmp_path / "profile", "--dump-dom")
    assert 'data-seen="7,8,7,30,0,0,0,0,0"' in dom
    found = re.search(r'data-end="(\d+)"', dom)
    assert found
    assert int(found[1]) > 0


@needs_browser
def test_page_without_webgl_says_so(tmp_path: Path) -> None:
    page = write_replay(tmp_path / "a.html", **pendulum())
    dom = browse(page.as_uri(), tmp_path / "profile", "--dump-dom", "--disable-3d-apis")
    assert 'data-ready="false"' in dom
    assert 'id="failure">' in dom


def browse_with(
    page: Path, script: str, scratch: Path, size: tuple[int, int], *flags: str
) -> dict[str, Any]:
    """What a script returns that runs in a page of the given size (px) once it is ready.

    The page stands in a frame, for a headless window is never as narrow as a phone.
    """
    tell = f"setTimeout(async () => parent.postMessage(await ({script})(), '*'), 500);"
    page.write_text(page.read_text().replace("</body>", f"<script>{tell}</script></body>"))
    frame = page.with_name("frame.html")
    frame.write_text(
        '<meta name="color-scheme" content="light dark">'
        f'<iframe src="{page.name}" width="{size[0]}" height="{size[1]}" style="border:0"></iframe>'
        "<script>onmessage = (e) => { document.body.dataset.told = JSON.stringify(e.data); };"
        "</script>"
    )
    found = re.search(r'data-told="([^"]*)"', browse(frame.as_uri(), scratch, "--dump-dom", *flags))
    assert found
    told: dict[str, Any] = json.loads(html.unescape(found[1]))
    return told


_LAYOUT = """() => {
  const get = (id) => document.getElementById(id);
  const place = (element) => {
    const box = element.getBoundingClientRect();
    return [box.left, box.top, box.right, box.bottom];
  };
  const places = (names) => [...document.querySelectorAll(names)].map(place);
  return {
    size: [innerWidth, innerHeight], cards: places(".card"), dock: place(get("dock")),
    controls: places("button, label, output, select, input"),
    facts: get("facts").textContent, drawn: get("drawn").open,
  };
}"""


@needs_browser
@pytest.mark.parametrize("size", [(390, 844), (360, 640), (700, 900), (844, 390), (1400, 900)])
def test_nothing_overlaps_or_is_cut_off(tmp_path: Path, size: tuple[int, int]) -> None:
    page = write_replay(tmp_path / "a.html", **pendulum(), frames=five_frames(), curves=[STEADY])
    seen = browse_with(page, _LAYOUT, tmp_path / "profile", size)
    assert seen["size"] == list(size)
    assert seen["facts"].startswith("5 bodies \u00b7 12 shapes \u00b7 31 frames")
    shown = [box for box in seen["controls"] if box[2] > box[0]]
    assert len(shown) >= 11  # three buttons, four views, the clock, the slider, loop and speed
    for left, top, right, bottom in [*seen["cards"], *shown]:
        assert left >= 0
        assert top >= 0
        assert right <= size[0]
        assert bottom <= size[1]
    first, second = seen["cards"]
    assert first[2] <= second[0] or first[3] <= second[1]  # beside or above each other
    assert max(first[3], second[3]) <= seen["dock"][1]
    assert seen["drawn"] == (size[0] > 640)


@needs_browser
def test_lost_graphics_are_told_and_come_back(tmp_path: Path) -> None:
    page = write_replay(tmp_path / "a.html", **pendulum())
    script = """async () => {
      const get = (id) => document.getElementById(id);
      const hidden = () => ["failure", "dock"].map((id) => get(id).hidden);
      const wait = () => new Promise((done) => setTimeout(done, 200));
      const graphics = get("scene").getContext("webgl2").getExtension("WEBGL_lose_context");
      const before = hidden();
      graphics.loseContext();
      await wait();
      const lost = hidden();
      graphics.restoreContext();
      await wait();
      return { before, lost, after: hidden() };
    }"""
    seen = browse_with(page, script, tmp_path / "profile", (900, 600))
    assert seen == {"before": [True, False], "lost": [False, True], "after": [True, False]}


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_curves_frames_and_scale_follow_the_slider(tmp_path: Path, dark: bool) -> None:
    """A ramp is read at the slider, a gap is a dash, nothing is said on the console."""
    ramp = np.column_stack([np.arange(FRAMES), np.full(FRAMES, np.nan)])
    curves = [Curves("force", "N", ("left", "right"), ramp)]
    page = write_replay(tmp_path / "a.html", **pendulum(), frames=five_frames(), curves=curves)
    script = """() => {
      const get = (id) => document.getElementById(id);
      const said = [];
      console.error = console.warn = (...words) => said.push(words.join(" "));
      get("plotted").value = "0";
      get("plotted").onchange();
      get("axes").click();
      window.replay.seek(7);
      const { width, height } = get("force-key");
      const key = get("force-key").getContext("2d").getImageData(0, 0, width, height).data;
      return {
        readings: get("readings").textContent, plot: get("plot").hidden, said,
        paper: getComputedStyle(document.body).backgroundColor, key: key.some((x) => x > 0),
      };
    }"""
    flags = ["--blink-settings=preferredColorScheme=0"] if dark else []
    seen = browse_with(page, script, tmp_path / "profile", (1280, 900), *flags)
    assert seen == {
        "readings": "left 7right \u2013",
        "plot": False,
        "said": [],
        "paper": "rgb(18, 24, 31)" if dark else "rgb(237, 241, 246)",
        "key": True,
    }
