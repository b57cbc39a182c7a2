"""The faults that mutation puts in: each is another program, and only what it says."""

from __future__ import annotations

import ast

from tests.trust.mutants import mutants

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
