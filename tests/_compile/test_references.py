"""Tables by their address: kernels read from it what they would be handed over."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import pytest

from spatialops._compile.apart import late, types
from spatialops._compile.jit import kernel
from spatialops._compile.references import Reference, refer
from spatialops._compile.stage import part_of

pytestmark = pytest.mark.compiled


class Inner(NamedTuple):
    numbers: np.ndarray
    count: int


class Outer(NamedTuple):
    values: np.ndarray
    inner: Inner
    factor: float


class Holder(NamedTuple):
    tables: Outer
    shift: float


TABLES = Reference(numba.typeof(Outer(np.zeros(1), Inner(np.zeros(1), 1), 1.0)))
HOLDER = types.NamedTuple([TABLES, types.float64], Holder)


def made() -> Outer:
    return Outer(np.arange(3.0), Inner(np.full(2, 5.0), 2), 10.0)


@kernel
def summed(tables):
    inner = tables.inner
    total = 0.0
    for k in range(inner.count):
        total += inner.numbers[k]
    return tables.factor * total + tables.values[2]


@late(TABLES)
def by_address(tables: Outer) -> float:
    tables.values[2] += 1.0
    return summed(tables)


@late(HOLDER)
def held_with(holder: Holder) -> float:
    return by_address(holder.tables) + holder.shift


@kernel
def through_address(values, numbers):
    tables = refer(Outer(values, Inner(numbers, numbers.size), 10.0))
    return by_address(tables) + summed(tables)


def test_fields_and_those_of_tables_within_are_read_where_they_are() -> None:
    tables = made()
    assert through_address(tables.values, tables.inner.numbers) == 103.0 + 103.0
    assert tables.values[2] == 3.0


def test_tables_are_put_on_the_stack_for_a_kernel_apart_that_takes_their_address() -> None:
    tables = made()
    assert by_address(tables) == 103.0
    assert held_with(Holder(tables, 0.5)) == 104.5
    assert tables.values[2] == 4.0


def test_an_address_is_one_word() -> None:
    results = 2  # addresses that come before the arguments
    assert len(part_of(by_address)._in_c._argtypes_) == results + 1
    assert len(part_of(held_with)._in_c._argtypes_) == results + 2


def test_other_tables_are_refused() -> None:
    with pytest.raises(numba.TypingError):
        by_address(made().inner)
