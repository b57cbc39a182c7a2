"""What goes without any extra: tried where nothing but the package's own requirements is found."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

# Modules that are of an extra as a whole, and say so when they are imported.
OF_EXTRAS = {"gym", "interop.jax", "interop.mujoco", "interop.pinocchio", "interop.torch"}

HIDE = """
import sys
from importlib.machinery import PathFinder

allowed = sys.stdlib_module_names | set({allowed!r})


class Plain(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        known = name.partition(".")[0] in allowed
        return super().find_spec(name, path, target) if known else None


sys.meta_path[sys.meta_path.index(PathFinder)] = Plain
"""

IMPORT_ALL = """
import json
from importlib import import_module
from pkgutil import walk_packages

import spatialops

missed = {}
for module in walk_packages(spatialops.__path__, "spatialops.", onerror=lambda name: None):
    if not module.name.endswith("__main__"):
        try:
            import_module(module.name)
        except ImportError as error:
            missed[module.name.removeprefix("spatialops.")] = str(error)
print(json.dumps(missed))
"""

COMMANDS = """
from spatialops import _marks
from spatialops.cli import main

_marks.is_warm = lambda **_: True
for line in {lines!r}:
    try:
        main(line.split())
    except SystemExit as end:
        print("status", end.code, flush=True)
"""

TEXTURED = """ply
format ascii 1.0
element vertex 3
property float x
property float y
property float z
property float s
property float t
element face 1
property list uchar int vertex_indices
end_header
0 0 0 0 0
1 0 0 1 0
0 1 0 0 1
3 0 1 2
"""

READ_TEXTURED = """
from spatialops.collision.mesh_files import read_pieces

[piece] = read_pieces("triangle.ply")
print(piece.faces, piece.color)
"""


def required(names: list[str]) -> set[str]:
    """Distributions that these requirements bring, without any extra."""
    found: set[str] = set()
    while names:
        text = names.pop()
        name = re.match(r"[\w.-]+", text)[0].lower().replace("_", "-")
        if name in found or "extra ==" in text:
            continue
        found.add(name)
        try:
            names += requires(name) or []
        except PackageNotFoundError:  # of another system or Python
            continue
    return found


def plain(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code where modules of other distributions are not found."""
    wanted = required(list(PROJECT["dependencies"]))
    allowed = [
        module
        for module, owners in packages_distributions().items()
        if wanted & {owner.lower().replace("_", "-") for owner in owners}
    ]
    assert "numba" in allowed
    assert not {"matplotlib", "PIL", "pytest"} & set(allowed)
    allowed.append("spatialops")
    done = subprocess.run(
        [sys.executable, "-c", HIDE.format(allowed=allowed) + code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_all_modules_but_those_of_extras_are_imported(tmp_path: Path) -> None:
    missed = json.loads(plain(IMPORT_ALL, tmp_path).stdout)
    assert set(missed) == OF_EXTRAS
    assert all("pip install spatialops[" in said for said in missed.values())


def test_meshes_with_coordinates_of_textures_are_read(tmp_path: Path) -> None:
    """Which trimesh gives to Pillow."""
    (tmp_path / "triangle.ply").write_text(TEXTURED)
    assert plain(READ_TEXTURED, tmp_path).stdout.startswith("[[0 1 2]] (0.4")


@pytest.mark.compiled
def test_the_lines_of_the_readme_run(tmp_path: Path) -> None:
    [lines] = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
    assert "collisions" in plain(lines, tmp_path).stdout
    assert (tmp_path / "balls.html").stat().st_size > 100_000


@pytest.mark.compiled
def test_commands_simulate_and_replay_and_say_what_figures_need(tmp_path: Path) -> None:
    lines = [
        "pendulum --links 3 --duration 0.1 --no-progress --out run",
        "replay run/record.npz --out again.html",
        "plot run/record.npz --out energy.png",
        "replay run/record.npz --video run.gif",
    ]
    done = plain(COMMANDS.format(lines=lines), tmp_path)
    assert re.findall("status (.)", done.stdout) == ["0", "0", "1", "1"]
    assert re.findall(r"(.*): figures and videos need .*spatialops\[plots\]", done.stderr) == [
        "Left out",
        "Error",
        "Error",
    ]
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")}
    assert files == {"run/record.npz", "run/replay.html", "again.html"}
