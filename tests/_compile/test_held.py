"""Tables that are described once: what kernels find at their address is what Numba hands over."""

from __future__ import annotations

import pickle
from typing import NamedTuple

import numpy as np
import pytest

from spatialops._arrays import Array, IntArray
from spatialops._compile import held

pytestmark = pytest.mark.compiled


class Several(NamedTuple):
    values: Array
    names: IntArray
    table: Array
    nothing: Array


class Others(NamedTuple):
    values: Array


class Pace(NamedTuple):
    period: float
    steps: int


def several() -> Several:
    return Several(np.arange(3.0), np.arange(2), np.ones((4, 5)), np.zeros((0, 8)))


@held.held
def sum_up(t: Several, more: Array) -> int:
    total = t.names[1] + t.table.shape[0] * t.table.shape[1] + t.nothing.shape[0]
    return int(total + t.values[2] + t.table[3, 4] + more[0])


@held.held
def stretched(t: Several, factor: float, pace: Pace) -> float:
    return float(factor * pace.period * pace.steps + t.values[0])


def test_whole_numbers_of_the_first_call_do_not_cut_those_of_the_next() -> None:
    tables = several()
    kept = held.Held(tables)
    assert stretched(kept.address, 1, Pace(2, 3)) == 6.0
    assert stretched(kept.address, 0.5, Pace(0.5, 3)) == 0.75


def test_kernels_read_what_is_held() -> None:
    tables = several()
    kept = held.Held(tables)
    assert sum_up(kept.address, np.full(1, 100.0)) == 1 + 20 + 2 + 1 + 100
    tables.table[3, 4] = 7.0
    assert sum_up(kept.address, np.full(1, 100.0)) == 1 + 20 + 2 + 7 + 100


def test_an_array_is_described_as_numba_does() -> None:
    tables = several()
    words = [word for item in tables for word in held._words_of(item)]
    assert held.Held(tables)._block.tolist() == words


def test_where_numpy_keeps_it_elsewhere_python_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = several()
    block = held.Held(tables)._block
    monkeypatch.setattr(held, "FAULTS", ["numbers of an array"])
    assert held.Held(tables)._block.tolist() == block.tolist()


def test_copies_from_elsewhere_are_of_the_same_type() -> None:
    held.Held(several())
    held.Held(pickle.loads(pickle.dumps(several())))


@pytest.mark.parametrize(
    "changed",
    [
        {"values": np.arange(3)},
        {"values": np.zeros((3, 1))},
        {"values": np.arange(6.0)[::2]},
        {"table": np.ones((4, 5), order="F")},
        {"table": np.frombuffer(bytes(160)).reshape(4, 5)},
        {"names": np.arange(2.0)},
        {"nothing": np.zeros((0, 8, 1))},
    ],
)
def test_tables_of_another_type_are_refused(changed: dict[str, Array]) -> None:
    held.Held(several())
    with pytest.raises(TypeError, match="of another type"):
        held.Held(several()._replace(**changed))


def test_numbers_of_eight_bytes_are_held() -> None:
    with pytest.raises(TypeError, match="eight bytes"):
        held.Held(Others(np.zeros(2, dtype=np.float32)))
