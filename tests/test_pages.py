"""Every page does what it shows: its code runs, its links hold, the site leads to it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOP = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CONVENTIONS.md"]
NOTEBOOKS = sorted(f"docs/notebooks/{path.name}" for path in (ROOT / "docs/notebooks").glob("*.md"))
DOCS = sorted([*(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")), *NOTEBOOKS])
BLOCK = re.compile(r"^```(?:python|\{code-cell\} python3)\n(.*?)^```", re.DOTALL | re.MULTILINE)
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.DOTALL | re.MULTILINE)
TARGETS = re.compile(r"\]\(([^)#\s]+)[^)]*\)|<img [^>]*src=\"([^\"]+)\"")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)

# Kilobytes: a moving picture may have more.
LARGEST = {".png": 250, ".gif": 2000}


def blocks(page: str) -> list[str]:
    """The Python of a page."""
    return BLOCK.findall((ROOT / page).read_text())


def with_code() -> list[object]:
    """Pages that have Python; those that simulate need compiled kernels to end soon."""
    pages = [page for page in ["README.md", *DOCS] if blocks(page)]
    return [
        pytest.param(page, marks=pytest.mark.compiled)
        if "Simulator(" in "".join(blocks(page))
        else page
        for page in pages
    ]


def test_there_are_notebooks_with_a_picture_and_their_replay() -> None:
    """Eight; what nothing moves in has no replay."""
    assert len(NOTEBOOKS) == 8
    for page in NOTEBOOKS:
        text = "".join(blocks(page))
        assert "plt.show()" in text, page
        assert ".show(" in text.replace("plt.show(", "") or page.endswith("formulations.md"), page


@pytest.mark.parametrize("page", with_code())
def test_the_code_of_a_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    """Block after block, as a reader would, in one session."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}  # dataclasses look their module up
    for number, block in enumerate(blocks(page)):
        exec(compile(block, f"{page}, block {number}", "exec"), names)


@pytest.mark.parametrize("page", with_code())
def test_a_page_that_draws_says_what_to_install(page: str) -> None:
    if re.search(r"matplotlib|record\.plot\(|\.video\(", "".join(blocks(page))):
        assert "[plots]" in (ROOT / page).read_text()


def test_the_page_of_extras_has_them_all() -> None:
    text = (ROOT / "docs/start.md").read_text()
    rows = re.findall(r"^\| (`.*?) \|", text[text.index("## Extras") :], re.MULTILINE)
    shown = set(re.findall(r"`(\w+)`", "".join(rows)))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert shown == set(project["optional-dependencies"]) - {"test", "docs", "dev"}


@pytest.mark.parametrize("page", [*TOP, *DOCS])
def test_links_within_the_repository_hold(page: str) -> None:
    text = (ROOT / page).read_text()
    for link, picture in TARGETS.findall(BLOCK.sub("", text)):
        target = link or picture
        if "://" not in target and not target.startswith("mailto:"):
            assert ((ROOT / page).parent / target).exists(), f"{page} points to {target}"


@pytest.mark.parametrize("page", [*TOP, *DOCS])
def test_links_to_headings_hold(page: str) -> None:
    """Anchors are made as GitHub and the site make them: lower case, hyphens, no marks."""
    text = (ROOT / page).read_text()
    for target, anchor in re.findall(r"\]\(([\w./-]*\.md)?#([^)]+)\)", text):
        there = (ROOT / page).parent / target if target else ROOT / page
        anchors = {
            re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
            for heading in HEADING.findall(there.read_text())
        }
        assert anchor in anchors, f"{page} points to {target}#{anchor}"


def test_the_site_leads_to_every_page() -> None:
    """A missing page needs its name in the toctree of docs/guide.md, or of one beside it."""
    entries = [
        f"docs/{entry}.md"
        for page in DOCS
        for tree in TOCTREE.findall((ROOT / page).read_text())
        for entry in tree.split()
        if not entry.startswith(":") and entry != "api/index"
    ]
    assert sorted(entries) == sorted({*DOCS} - {"docs/index.md"})


def test_pictures_are_small() -> None:
    for picture in (ROOT / "docs" / "images").iterdir():
        assert picture.stat().st_size < 1000 * LARGEST[picture.suffix], picture.name


@pytest.mark.parametrize(
    ("prefix", "library"), [("so.", "spatialops"), ("mj", "mujoco"), ("pin.", "pinocchio")]
)
def test_names_side_by_side_exist(prefix: str, library: str) -> None:
    """Functions that docs/coming-from.md names, in the library that they are said to be in."""
    module = pytest.importorskip(library)
    text = (ROOT / "docs" / "coming-from.md").read_text()
    table = text[: text.index("## Conventions")]
    names = set(re.findall(rf"`{re.escape(prefix)}(\w+)", table))
    assert len(names) >= 8
    own = prefix if prefix == "mj" else ""
    assert not sorted(name for name in names if not hasattr(module, own + name))
