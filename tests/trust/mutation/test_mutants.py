"""The faults that mutation puts in: each is another program, and only what it says."""

from __future__ import annotations

import ast

import pytest

from tests.trust.mutate import interval, sources
from tests.trust.mutation.harmless import HARMLESS
from tests.trust.mutation.mutants import ROOT, lots_of, mutants

SOURCE = """
LIMIT = 1e-9  # 2.0 < 3.0

def f(x: float = 0.0) -> float:
    \"\"\"Text with 1.0 + 2.0.\"\"\"
    if x > LIMIT and -x <= 2.5:
        raise ValueError(f"{x + 1.0}")
    return x * 3 + (x
        - 1)  # - here
"""


def test_faults_are_where_they_should_be() -> None:
    found = [(item.line, item.old, item.new) for item in mutants(SOURCE)]
    assert found == [
        (2, "1e-9", "(1e-9 / 1e3)"),
        (2, "1e-9", "(1e3 * 1e-9)"),
        (6, ">", ">="),
        (6, "and", "or"),
        (6, "-", "+"),
        (6, "<=", "<"),
        (6, "2.5", "(1e3 * 2.5)"),
        (6, "2.5", "(2.5 / 1e3)"),
        (8, "*", "/"),
        (8, "+", "-"),
        (8, "-", "+"),
    ]


def test_each_is_another_program() -> None:
    whole = ast.dump(ast.parse(SOURCE))
    for item in mutants(SOURCE):
        assert ast.dump(ast.parse(item.source(SOURCE))) != whole


def test_letters_of_several_bytes_move_nothing() -> None:
    source = 'found = "\u00e9\u00e9", 1.0 < 2\n'
    assert [item.source(source) for item in mutants(source) if item.old == "<"] == [
        source.replace("<", "<=")
    ]


def test_the_nearest_tests_come_first_and_none_twice() -> None:
    lots = lots_of("contact/lcp/lemke.py")
    assert lots[0] == ["tests/contact/lcp/test_lemke.py"]
    assert all(name.startswith("tests/contact/lcp/") for name in lots[1])
    assert all(name.startswith("tests/contact/") for name in lots[-1])
    assert len({name for lot in lots for name in lot}) == sum(map(len, lots))
    assert all(lots_of(path) for path in sources())


@pytest.mark.parametrize("path", HARMLESS)
def test_what_is_said_to_be_harmless_is_a_fault_of_today(path: str) -> None:
    source = (ROOT / path).read_text()
    lines = {item.changed_line(source) for item in mutants(source)}
    assert {line for line, _ in HARMLESS[path]} <= lines


def test_the_interval_is_wilsons() -> None:
    """Example of R. G. Newcombe, Statistics in Medicine 17 (1998), table I: 81 of 263."""
    assert interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert interval(0, 0) == (0.0, 1.0)
