"""What the README shows runs as shown, and what it points to is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


@pytest.mark.compiled
@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_python_block_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS[number], f"README.md, block {number}", "exec"), {"__name__": "readme"})


def test_there_are_python_blocks() -> None:
    assert BLOCKS


@pytest.mark.parametrize("document", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_links_within_the_repository_hold(document: str) -> None:
    text = (ROOT / document).read_text()
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text) + re.findall(
        r"<img [^>]*src=\"([^\"]+)\"", text
    ):
        if "://" not in target:
            assert (ROOT / target).exists(), f"{document} points to {target}"


def test_make_targets_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"\bmake ([a-z-]+)", README)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_pictures_are_small() -> None:
    for picture in (ROOT / "docs" / "images").glob("*.png"):
        assert picture.stat().st_size < 250_000
