"""The wheel holds the package and nothing else, the source distribution all of a clone."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import numba
import pytest

from tools.machine_code import LEVEL

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NEEDED = 77  # of setuptools, as pyproject.toml says
LARGEST = 3_000_000  # bytes of a wheel
CLUTTER = ("__pycache__", ".pyc", ".egg-info")

BUILD = "import setuptools.build_meta as b; b.build_sdist('dist'); b.build_wheel('dist')"


def tracked() -> list[str]:
    """Files of the repository; links and what lies behind them count as files of their own."""
    done = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip("not a clone")
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources."""
    if int(version("setuptools").split(".")[0]) < NEEDED:
        pytest.skip(f"setuptools {NEEDED} or newer is needed")
    copy = tmp_path_factory.mktemp("sources") / "spatialops"
    for name in [*tracked(), "spatialops/contact", "spatialops/collision", "spatialops/models"]:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        if not (copy / name).exists():
            shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
    return copy


@pytest.fixture(scope="module")
def dist(copy: Path) -> Path:
    """A folder with both distributions, built without network from a copy of the sources."""
    subprocess.run([sys.executable, "-c", BUILD], cwd=copy, check=True, capture_output=True)
    return copy / "dist"


@pytest.mark.slow
def test_the_source_distribution_is_all_of_a_clone(dist: Path) -> None:
    [path] = dist.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert not sorted(set(tracked()) - names)


@pytest.mark.slow
def test_tests_of_the_source_distribution_find_all_that_they_need(
    dist: Path, tmp_path: Path
) -> None:
    """What they import, and the files that they are made of."""
    [path] = dist.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path, filter="data")
    [unpacked] = tmp_path.iterdir()
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests"]
    alone = {**os.environ, "PYTHONPATH": str(unpacked)}
    done = subprocess.run(collect, cwd=unpacked, env=alone, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
    assert int(re.search(r"(\d+) tests collected", done.stdout)[1]) > 10_000


@pytest.mark.slow
def test_the_wheel_is_the_package_and_nothing_else(dist: Path) -> None:
    [path] = dist.glob("*.whl")
    assert path.name.endswith("-py3-none-any.whl")  # one for all platforms
    assert path.stat().st_size < LARGEST
    names = {name for name in zipfile.ZipFile(path).namelist() if ".dist-info/" not in name}
    expected = {
        str(file.relative_to(ROOT))
        for folder in ("", "contact", "collision", "models")
        for file in (ROOT / "spatialops" / folder).rglob("*")
        if file.is_file() and not any(part in str(file) for part in CLUTTER)
    }
    assert names == expected


@pytest.mark.slow
def test_the_wheel_imports_and_simulates(dist: Path, tmp_path: Path) -> None:
    [path] = dist.glob("*.whl")
    zipfile.ZipFile(path).extractall(tmp_path)
    code = "import spatialops as so; print(so.__file__); so.models.pendulum(2).scene()"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(str(tmp_path))


@pytest.mark.slow
@pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("cc") is None, reason="cc links it for x86-64"
)
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_a_wheel_with_machine_code_compiles_nothing(copy: Path, tmp_path: Path) -> None:
    """Minutes, unless `make wheel` has compiled these sources before."""
    work = ROOT / "build" / "machine_code"
    make = [sys.executable, "-m", "tools.machine_code", "--work", str(work)]
    here = {**os.environ, "PYTHONPATH": ""}
    subprocess.run(make, cwd=copy, env=here, check=True, capture_output=True)
    code = "import setuptools.build_meta as b; b.build_wheel('compiled')"
    subprocess.run([sys.executable, "-c", code], cwd=copy, check=True, capture_output=True)
    shutil.rmtree(copy / "spatialops" / "_compile" / "shipped")
    [path] = (copy / "compiled").glob("*-linux_x86_64.whl")
    zipfile.ZipFile(path).extractall(tmp_path)
    alone = {**os.environ, "PYTHONPATH": str(tmp_path), "SPATIALOPS_CACHE_DIR": "/dev/null/none"}
    steps = [sys.executable, str(ROOT / "tests" / "_compile" / "first_steps.py")]
    done = subprocess.run(steps, cwd=tmp_path, env=alone, capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert found["compiled"] == []
    assert found["contacts"] > 0
    assert found["memory after the first step, MB"] < 160.0
    level = {**LEVEL, "PYTHONPATH": str(copy), "SPATIALOPS_CACHE_DIR": str(work)}
    again = subprocess.run(
        steps, cwd=copy, env={**os.environ, **level}, capture_output=True, text=True
    )
    assert json.loads(again.stdout)["results"] == found["results"]  # of Numba's own code


def named(requirements: list[str]) -> dict[str, str]:
    """Bounds of versions by the names that conda has."""
    renamed = {"matplotlib": "matplotlib-base"}  # without windows of its own
    parts = (re.match(r"([\w-]+)(.*)", item).groups() for item in requirements)
    return {renamed.get(name, name): bounds for name, bounds in parts}


def test_the_conda_recipe_asks_for_what_the_package_asks_for() -> None:
    recipe = (ROOT / "conda" / "recipe.yaml").read_text()
    listed = re.compile(r"^  (\w+):\n((?:    - .*\n)+)", re.MULTILINE)
    asked = {
        kind: dict(re.findall(r"- ([\w-]+) (\S+)", items)) for kind, items in listed.findall(recipe)
    }
    python = {"python": PROJECT["requires-python"]}
    assert asked["run"] == named(PROJECT["dependencies"]) | python
    assert asked["run_constraints"] == named(PROJECT["optional-dependencies"]["plots"])
    assert f'version: "{PROJECT["version"]}"' in recipe


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_make_installs_what_the_package_asks_for_and_what_draws(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    subprocess.run(["make", "--silent", "build/needs.txt"], cwd=tmp_path, check=True)
    lines = (tmp_path / "build" / "needs.txt").read_text().splitlines()
    assert lines == PROJECT["dependencies"] + PROJECT["optional-dependencies"]["plots"]


def test_workflows_run_what_there_is() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    workflows = list((ROOT / ".github" / "workflows").glob("*.yml"))
    assert {path.stem for path in workflows} >= {"ci", "newest", "wheels"}
    for path in workflows:
        text = path.read_text()
        assert "\t" not in text
        named = set(re.findall(r"run: make ([a-z-]+)", text))
        assert named <= targets, path.name
        folders = re.findall(r"pytest .*?(tests/.*)", text)
        assert all((ROOT / folder).is_dir() for line in folders for folder in line.split())
