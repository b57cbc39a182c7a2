"""Arrays that do not fit, to every public function: refused in words, or the right answer."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import SpatialOpsError
from tests.trust.array_calls import EXEMPT, calls, public_functions, public_methods

CALLS = calls()
ARGUMENTS = [(name, argument) for name, call in CALLS.items() for argument in call.arrays]

WRONG: dict[str, Callable[[Any], Any]] = {
    "short": lambda x: x[:-1],
    "long": lambda x: np.concatenate([x, x]),
    "empty": lambda x: x[:0],
    "deeper": lambda x: x[None],
    "flat": lambda x: x.reshape(-1)[:1].reshape(()),
    "complex": lambda x: x + 1j,
    "text": lambda x: np.full(x.shape, "a"),
    "objects": lambda x: np.full(x.shape, {}),
    "one word": lambda x: "text",
    "table": lambda x: {"a": 1},
}
SAME: dict[str, Callable[[Any], Any]] = {
    "list": lambda x: x.tolist(),
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "backwards": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "Fortran": lambda x: np.asfortranarray(x),
    "big-endian": lambda x: x.astype(">f8"),
    "read-only": lambda x: _read_only(x),
    "objects of floats": lambda x: x.astype(object),
}


# Python's math raises where a kernel's overflows.
BAD = (np.nan, np.inf, None, pytest.param(1e308, marks=pytest.mark.compiled))


def _read_only(x: Any) -> Any:
    copy = x.copy()
    copy.flags.writeable = False
    return copy


def with_argument(name: str, argument: str, change: Callable[[Any], Any]) -> object:
    call = CALLS[name]
    return call.function(**{**call.arguments, argument: change(call.arguments[argument])})


def arrays_of(result: object) -> list[Any]:
    """All numbers in a result, in their order."""
    if isinstance(result, (float, int, np.ndarray)):
        return [np.asarray(result, dtype=float)]
    if dataclasses.is_dataclass(result):
        result = [getattr(result, item.name) for item in dataclasses.fields(result)]
    if isinstance(result, (list, tuple)):
        return [found for item in result for found in arrays_of(item)]
    return []


def test_every_public_function_is_tried_or_left_out_for_a_reason() -> None:
    names = {name for name, _ in public_functions()} | set(public_methods())
    solvers = {name for name in names if name.endswith(".solve")}  # by `solve`, which checks
    assert names - solvers - CALLS.keys() - EXEMPT.keys() == set()
    assert EXEMPT.keys() <= names
    assert not EXEMPT.keys() & CALLS.keys()


@pytest.mark.parametrize("name", CALLS)
def test_right_arguments_are_taken(name: str) -> None:
    call = CALLS[name]
    given = inspect.signature(call.function).parameters
    assert set(call.arrays) <= set(given)
    call.function(**call.arguments)


@pytest.mark.parametrize("how", WRONG)
@pytest.mark.parametrize(("name", "argument"), ARGUMENTS)
def test_what_does_not_fit_is_refused(name: str, argument: str, how: str) -> None:
    if (name, argument, how) == ("decompression", "restitution", "flat"):
        return  # one number for all contacts
    with pytest.raises(SpatialOpsError):
        with_argument(name, argument, WRONG[how])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "bad", [np.nan, np.inf, None, pytest.param(1e308, marks=pytest.mark.compiled)]
)
@pytest.mark.parametrize(("name", "argument"), ARGUMENTS)
def test_what_is_no_number_is_refused_or_seen_in_the_result(
    name: str, argument: str, bad: float | None
) -> None:
    with np.errstate(all="ignore"):
        try:
            result = with_argument(name, argument, lambda x: np.full(x.shape, bad))
        except SpatialOpsError:
            return
    if bad == 1e308:  # a number, which may not matter
        return
    call = CALLS[name]
    expected = call.function(**call.arguments)
    pairs = zip(arrays_of(result), arrays_of(expected), strict=True)
    differs = any(not np.array_equal(a, b) for a, b in pairs)
    assert differs, "it changed nothing"


@pytest.mark.parametrize("how", SAME)
@pytest.mark.parametrize(("name", "argument"), ARGUMENTS)
def test_what_holds_the_same_numbers_gives_the_same(name: str, argument: str, how: str) -> None:
    call = CALLS[name]
    expected = arrays_of(call.function(**call.arguments))
    result = arrays_of(with_argument(name, argument, SAME[how]))
    assert expected or isinstance(call.function(**call.arguments), so.Loop)
    for a, b in zip(result, expected, strict=True):
        assert np.array_equal(a, b, equal_nan=True)
