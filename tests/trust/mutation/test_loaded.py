"""Faults in what is loaded: another code in the same functions, and tests that then fail."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.trust import mutate
from tests.trust.mutation.loaded import Place, loaded_functions, place_of, put_in
from tests.trust.mutation.mutants import ROOT, Fault, mutants

FILE = "tests/trust/mutate.py"


def faults(name: str) -> list[tuple[Fault, Place]]:
    """Those of a function of the command itself."""
    found = [Fault(FILE, item) for item in mutants((ROOT / FILE).read_text())]
    places = [(fault, place_of(FILE, fault.mutant)) for fault in found]
    return [(fault, place) for fault, place in places if place is not None and place.name == name]


def test_a_function_gets_a_fault_wherever_it_was_imported_to() -> None:
    from tests.trust.mutate import interval

    fault, place = next(pair for pair in faults("interval") if pair[0].mutant.old == "+")
    functions = loaded_functions()[(ROOT / FILE).resolve(), place]
    whole = interval.__code__
    right = interval(81, 263)
    put_in(fault, place, functions)
    try:
        assert interval(81, 263) != right
        assert mutate.interval is interval
    finally:
        for function in functions:
            function.__code__ = whole
    assert interval(81, 263) == right


def test_methods_are_functions_and_limits_of_a_module_are_not() -> None:
    assert faults("Judge._sound")
    limits = [item for item in mutants((ROOT / FILE).read_text()) if item.old == "8.0"]
    assert limits
    assert all(place_of(FILE, item) is None for item in limits)


@pytest.mark.slow
def test_the_command_finds_what_tests_notice() -> None:
    """One of the first five is the length of unit vectors, which are checked everywhere."""
    command = ["-m", "tests.trust.mutate", "--lots", "1", "--n", "5", "contact/friction.py"]
    ended = subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, timeout=600.0
    )
    assert "of 5 noticed" in ended.stdout
    assert "noticed by tests/contact/test_friction.py::" in ended.stdout
    assert ended.returncode in (0, 1)
