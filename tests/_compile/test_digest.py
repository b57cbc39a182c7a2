"""The digest of a kernel: it differs where the machine code would, and nowhere else."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from spatialops._compile import digest

pytestmark = pytest.mark.compiled

SOURCES = {
    "spatialops_numbers": "FACTOR = 2.0\nOTHER = 3.0\n",
    "kernels": """
        from __future__ import annotations

        from typing import NamedTuple

        import spatialops._compile.digest as digest
        import spatialops_numbers as at
        from spatialops._compile.jit import inlined, kernel
        from spatialops._compile.stage import stage

        LIMIT = (1.0, 2.0)

        class Pair(NamedTuple):
            first: float
            second: float

        @inlined
        def helper(x: float) -> float:
            return x + LIMIT[1]

        @stage
        def apart(values) -> float:
            return 4.0 * values[0]

        @kernel
        def caller(values, scale: float = 1.5) -> float:
            pair = Pair(scale, at.FACTOR)
            return helper(values[0]) * pair.first + pair.second + apart(values)

        print(digest.digest(caller.py_func))
        """,
}


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The digest of a kernel after an edit of its sources, found in a process of its own."""

    def ask(old: str = "", new: str = "") -> str:
        for name, text in SOURCES.items():
            assert not old or any(old in source for source in SOURCES.values())
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(text.replace(old, new or old)))
        # Without -B kept bytecode is taken for that of an edit of the same second and size.
        done = subprocess.run(
            [sys.executable, "-B", "-c", OURS + "import kernels"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    return ask


# A module counts as ours by the first part of its name.
OURS = """
import spatialops._compile.digest as digest
ours = digest._is_ours
digest._is_ours = lambda module: ours(module) or module == "spatialops_numbers"
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x + LIMIT[1]", "x - LIMIT[1]"),
        ("LIMIT = (1.0, 2.0)", "LIMIT = (1.0, 2.5)"),
        ("FACTOR = 2.0", "FACTOR = 2"),
        ("scale: float = 1.5", "scale: float = 1.0"),
        ("    second: float", "    second: float\n            third: float = 0.0"),
        ("def apart(values) -> float", "def apart(values) -> int"),
        ("        @inlined", "        @kernel"),
    ],
)
def test_what_changes_the_code_changes_it(told, old: str, new: str) -> None:
    assert told(old, new) != told()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = (1.0, 2.0)", "# said again\n        LIMIT = (1.0, 2.0)"),
        ("OTHER = 3.0", "OTHER = 4.0"),
        ("4.0 * values[0]", "5.0 * values[0]"),  # a stage is another's business
    ],
)
def test_what_does_not_leaves_it(told, old: str, new: str) -> None:
    assert told(old, new) == told()


def test_it_is_the_same_in_every_process(told) -> None:
    assert told() == told()


def test_what_is_neither_a_number_nor_a_kernel_counts_with_its_file() -> None:
    from spatialops.algebra import simd

    assert digest.file_digest(simd.__file__).hex() in digest._described(simd.load)
    assert digest._described(len) == "builtins.len"


def test_code_for_a_type_of_ours_counts_with_the_files_that_say_how_it_is_used() -> None:
    import numba

    from spatialops.algebra import lane_arrays, lane_logic, simd

    kind = lane_arrays._LaneArray(numba.float64[:, ::1])
    for module in (lane_arrays, lane_logic, simd):
        assert digest.file_digest(module.__file__).hex() in digest.described_type(kind)
    assert digest.described_type(numba.float64[::1]) == str(numba.float64[::1])
