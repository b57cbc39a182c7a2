"""What the README says of commands and scenes is true; test_pages.py runs its code."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_there_are_python_blocks() -> None:
    assert re.search(r"^```python$", README, re.MULTILINE)


def test_make_targets_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"\bmake ([a-z-]+)", README)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_ratios_to_mujoco_are_those_of_the_page() -> None:
    """Every scene of the README's table, as docs/contacts.md has it, rounded."""
    page = (ROOT / "docs" / "contacts.md").read_text()
    shown = re.findall(r"(?<=\| )([a-z][\w ,:-]*?) \| (\d+) \| ([\d.]+)(?= \|)", README)
    assert len(shown) == 24
    for scene, contacts, ratio in shown:
        row = next(line for line in page.splitlines() if line.startswith(f"| {scene} |"))
        cells = row.split(" | ")
        assert round(float(cells[5].split()[0])) == int(contacts), scene
        assert abs(float(cells[3].split()[0]) / float(ratio) - 1.0) < 0.05, scene  # two digits
