"""`python -m tests.paper_calls` finds rows of docs/papers.md whose tests do not run their code."""

from tests.paper_calls import missed, named_tests
from tests.test_papers import ROOT, Row

TEST = "tests/test_papers.py::test_numbers"
WHERE = "`tests/test_papers.py::Row`, `tests/test_files.py`"
ROW = Row("[J]", "1", "a thing", WHERE, f"`{TEST}`", "by hand")


def test_a_function_that_no_test_enters_is_found():
    here, other = (str(ROOT / "tests" / name) for name in ("test_papers.py", "test_files.py"))
    assert named_tests(ROW) == [TEST]
    assert missed(ROW, {}) == ["tests/test_papers.py::Row", "tests/test_files.py"]
    assert missed(ROW, {TEST: [[here, "numbers"], [here, "Rows"]]}) == missed(ROW, {})
    entered = [[here, "Row.paper"], [other, "anything"]]
    assert missed(ROW, {TEST: entered}) == []
    assert missed(ROW, {"tests/test_papers.py::test_another": entered}) == missed(ROW, {})
