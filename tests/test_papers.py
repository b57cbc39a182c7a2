"""docs/papers.md has a row for all that the papers number, and what its rows name exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PAGE = "docs/papers.md"
HEAD = ["what", "says", "where", "test", "reached"]
ROMAN = {"I": 1, "II": 2, "III": 3}

# How far each paper numbers what it numbers.
LAST = {
    "[J]": {"equation": 69, "lemma": 1, "table": 2, "figure": 6},
    "[D]": {
        "equation": 57,
        "lemma": 1,
        "theorem": 1,
        "algorithm": 2,
        "table": 3,
        "figure": 2,
    },
}
LINES = {("[J]", 59): 4}  # equations of which every line has a row of its own

EQUATIONS = re.compile(r"(\d+)[a-z]?(?:-(\d+)[a-z]?)?(?:, line (\d+))?")
OTHERS = re.compile(r"(algorithm|figure|lemma|table|theorem) (\d+|I+)")
NAMED = re.compile(r"`([\w./-]+\.py)(?:::([\w.]+))?`")
LINKED = re.compile(r"\]\(([\w./-]+\.md)\)")
FIGURE = re.compile(r"(?<![\w.])\d+(?:\.\d+(?:e-?\d+)?|e-?\d+)(?![\w.])")


class Row(NamedTuple):
    """A row of a table, and the paper whose table it is."""

    paper: str
    what: str
    says: str
    where: str
    test: str
    reached: str


def rows_of(text: str) -> list[Row]:
    """All rows of the tables with the head `HEAD`, under the headings of their papers."""
    paper, inside = "", False
    found: list[Row] = []
    for line in text.splitlines():
        if line.startswith("## "):
            paper = line[3:].strip()
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or cells == HEAD:
            inside = cells == HEAD
        elif inside and not set(line) <= set("|- "):
            if len(cells) != len(HEAD):
                raise ValueError(f"{len(cells)} cells instead of {len(HEAD)}: {line}")
            found.append(Row(paper, *cells))
    return found


def numbers(what: str) -> tuple[str, range]:
    """Kind and numbers of what a row is about."""
    if found := EQUATIONS.fullmatch(what):
        first = int(found[1])
        return "equation", range(first, int(found[2] or first) + 1)
    if found := OTHERS.fullmatch(what):
        number = ROMAN.get(found[2]) or int(found[2])
        return found[1], range(number, number + 1)
    raise ValueError(f"no number of an equation, algorithm, table or figure: {what!r}")


def missing(rows: list[Row], paper: str) -> list[str]:
    """What the paper numbers and no row has, lines of `LINES` included; what it has too much."""
    given = [numbers(row.what) for row in rows if row.paper == paper]
    have = {(kind, number) for kind, several in given for number in several}
    want = {(kind, i) for kind, last in LAST[paper].items() for i in range(1, last + 1)}
    wrong = [f"{kind} {i}" for kind, i in sorted(want ^ have)]
    cells = {row.what for row in rows if row.paper == paper}
    for (of, equation), count in LINES.items():
        lines = [f"{equation}, line {i}" for i in range(1, count + 1) if of == paper]
        wrong += [line for line in lines if line not in cells]
    return wrong


def faults(row: Row) -> list[str]:
    """What a row names that is not there, and columns that say nothing."""
    wrong: list[str] = []
    for path, name in NAMED.findall(" ".join(row)):
        wrong += [] if has(path, name) else [f"{path}::{name}" if name else path]
    for target in LINKED.findall(" ".join(row)):
        wrong += [] if (ROOT / "docs" / target).exists() else [target]
    if not NAMED.search(row.where):
        wrong += [] if row.where.startswith("not built: ") else [f"where: {row.where!r}"]
    elif not row.reached:
        wrong.append("reached: nothing")
    if row.where.count(".py") and not any(name for _, name in NAMED.findall(row.where)):
        wrong.append("where: a file, and nothing in it")
    tests = NAMED.findall(row.test)
    if not tests:
        wrong += [] if row.test == "none" else [f"test: {row.test!r}"]
    wrong += [f"no test: {name}" for _, name in tests if not name.startswith("test_")]
    return wrong


def invented(row: Row) -> list[str]:
    """Figures with a point or an exponent that stand in no test and no page that the row names."""
    texts = [source(path, name) for path, name in NAMED.findall(f"{row.test} {row.reached}")]
    texts += [(ROOT / "docs" / target).read_text() for target in LINKED.findall(row.reached)]
    stands = set(FIGURE.findall("\n".join(texts)))
    return [figure for figure in FIGURE.findall(row.reached) if figure not in stands]


def source(path: str, name: str) -> str:
    """The text of a test and of what it may use in its file: all but the other tests."""
    text = (ROOT / path).read_text()
    lines = text.splitlines()
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    for node in functions:
        if node.name.startswith("test_") and node.name != name and node.end_lineno:
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            lines[first - 1 : node.end_lineno] = [""] * (node.end_lineno - first + 1)
    return "\n".join(lines)


def has(path: str, name: str) -> bool:
    """Whether a file exists and, by its syntax, what is called `name` in it: `Class.method`, ..."""
    names = defined(path)
    return names is not None and (not name or name in names)


@cache
def defined(path: str) -> frozenset[str] | None:
    """Functions, classes, their members and variables of a file; None where there is no file."""
    file = ROOT / path
    if not file.is_file():
        return None
    return frozenset(names_in(ast.parse(file.read_text()).body, ""))


def names_in(body: list[ast.stmt], within: str) -> set[str]:
    """Names that statements define, those in classes with the class before them."""
    found: set[str] = set()
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(within + node.name)
        if isinstance(node, ast.ClassDef):
            found |= names_in(node.body, f"{within}{node.name}.")
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        found |= {within + target.id for target in targets if isinstance(target, ast.Name)}
    return found


ROWS = rows_of((ROOT / PAGE).read_text())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.paper} {row.what}")
def test_what_a_row_names_exists(row):
    assert row.says
    assert faults(row) == []
    assert invented(row) == []


@pytest.mark.parametrize("paper", LAST)
def test_every_number_has_a_row(paper):
    assert missing(ROWS, paper) == []


def test_no_row_stands_outside_a_paper_or_twice():
    assert {row.paper for row in ROWS} == set(LAST)
    seen = [(row.paper, row.what) for row in ROWS]
    assert len(seen) == len(set(seen))


# --------------------------------------------------------------------------- the parser can fail

CODE = "`tests/test_papers.py::Row.paper`"
GOOD = Row("[J]", "1", "a thing", CODE, "`tests/test_papers.py::test_numbers`", "by hand")


def test_a_good_row_has_no_fault():
    assert faults(GOOD) == []
    assert faults(GOOD._replace(where="not built: for a reason", test="none", reached="")) == []


@pytest.mark.parametrize(
    ("column", "cell", "said"),
    [
        ("where", "`tests/no_such_file.py::Row`", "tests/no_such_file.py::Row"),
        ("where", "`tests/test_papers.py::Row.gone`", "tests/test_papers.py::Row.gone"),
        ("where", "`tests/test_papers.py::papers`", "tests/test_papers.py::papers"),
        ("where", "somewhere", "where: 'somewhere'"),
        ("where", "`tests/test_papers.py`", "where: a file, and nothing in it"),
        ("where", "not built", "where: 'not built'"),
        ("test", "`tests/test_papers.py::test_gone`", "tests/test_papers.py::test_gone"),
        ("test", "`tests/test_papers.py::missing`", "no test: missing"),
        ("test", "`tests/test_papers.py`", "no test: "),
        ("test", "", "test: ''"),
        ("reached", "", "reached: nothing"),
        ("reached", "as in [a page](nowhere.md)", "nowhere.md"),
    ],
)
def test_a_wrong_name_is_found(column, cell, said):
    assert faults(GOOD._replace(**{column: cell})) == [said]


def test_a_figure_that_stands_nowhere_is_found():
    own = "`tests/test_papers.py::test_a_figure_that_stands_nowhere_is_found`"
    absent = "e-".join(("7", "77"))  # not written out, else it would stand here
    row = GOOD._replace(test=own)
    assert invented(row._replace(reached="to 1e-9, 0.25")) == []
    assert invented(row._replace(reached=f"to {absent}")) == [absent]
    assert invented(GOOD._replace(reached="to 1e-9")) == ["1e-9"]  # it stands in another test
    assert invented(GOOD._replace(reached="10.97 s ([grasp.md](grasp.md))")) == []


def test_numbers():
    assert numbers("59, line 4") == ("equation", range(59, 60))
    assert numbers("10a-10c") == ("equation", range(10, 11))
    assert numbers("13-15") == ("equation", range(13, 16))
    assert numbers("table III") == ("table", range(3, 4))
    assert numbers("algorithm 2") == ("algorithm", range(2, 3))
    for bad in ("", "equation", "table", "13-", "59, lines", "theory 1", "x 3"):
        with pytest.raises(ValueError, match="no number"):
            numbers(bad)


@pytest.mark.parametrize(
    ("paper", "gone", "said"),
    [
        ("[J]", "1", ["equation 1"]),
        ("[J]", "37a-37c", ["equation 37"]),
        ("[J]", "59, line 2", ["59, line 2"]),
        ("[J]", "69", ["equation 69"]),
        ("[J]", "figure 6", ["figure 6"]),
        ("[D]", "56-57", ["equation 56", "equation 57"]),
        ("[D]", "algorithm 2", ["algorithm 2"]),
        ("[D]", "table III", ["table 3"]),
    ],
)
def test_a_missing_number_is_found(paper, gone, said):
    kept = [row for row in ROWS if (row.paper, row.what) != (paper, gone)]
    assert len(kept) == len(ROWS) - 1
    assert missing(kept, paper) == said


def test_a_number_beyond_the_last_is_found():
    assert missing([*ROWS, GOOD._replace(what="70")], "[J]") == ["equation 70"]


def test_rows_are_those_of_the_right_tables():
    head, rule = "| what | says | where | test | reached |", "| --- | --- | --- | --- | --- |"
    other = "| slip in | printed | read |\n| --- | --- | --- |\n| 8 | a | b |"
    text = f"## [J]\n\n{head}\n{rule}\n| 1 | a | b | c | d |\n\n{other}\n"
    assert rows_of(text) == [Row("[J]", "1", "a", "b", "c", "d")]
    with pytest.raises(ValueError, match="4 cells"):
        rows_of(f"{head}\n{rule}\n| 1 | a | b | c |\n")
