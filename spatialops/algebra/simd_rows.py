"""Six numbers in a register: spatial vectors, and symmetric 6 x 6 matrices of six registers.

A spatial vector (moment, force) has its halves in lanes 0 to 2 and 4 to 6, so that one half of a
register holds each, and zeros in lanes 3 and 7. What a formula wants of other lanes is shuffled
there: on one link at a time that takes half the instructions of one number after the other, and
fewer wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

from spatialops._arrays import Array
from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.jit import COMPILED, inlined
from spatialops.algebra.simd import LANES, REGISTER, WIDTH, Lanes, load, place_in, store, storing

Six: TypeAlias = tuple[Lanes, Lanes, Lanes, Lanes, Lanes, Lanes]

_PLACES = ir.VectorType(ir.IntType(32), WIDTH)
_HALF = ir.VectorType(ir.DoubleType(), 4)
_BESIDE_ZEROS = ir.Constant(_PLACES, list(range(WIDTH)))
_NOTHING = ir.Constant(REGISTER, ir.Undefined)


def _of_one(*places: int) -> Callable[[Lanes], Lanes]:
    """A function that takes these lanes of a register."""
    if not COMPILED:
        return lambda value: value[list(places)]
    mask = ir.Constant(_PLACES, places)

    @intrinsic  # type: ignore[untyped-decorator]
    def picked(context: CompilerObject, value: CompilerObject) -> CompilerObject:
        def generate(
            context: CompilerObject,
            build: CompilerObject,
            kinds: CompilerObject,
            values: CompilerObject,
        ) -> CompilerObject:
            return build.shuffle_vector(values[0], _NOTHING, mask)

        return LANES(LANES), generate

    return picked


def _of_two(*places: int) -> Callable[[Lanes, Lanes], Lanes]:
    """A function that takes these lanes of two registers, those of the second from 8 on."""
    if not COMPILED:
        return lambda first, second: np.concatenate((first, second))[list(places)]
    mask = ir.Constant(_PLACES, places)

    @intrinsic  # type: ignore[untyped-decorator]
    def picked(
        context: CompilerObject, first: CompilerObject, second: CompilerObject
    ) -> CompilerObject:
        def generate(
            context: CompilerObject,
            build: CompilerObject,
            kinds: CompilerObject,
            values: CompilerObject,
        ) -> CompilerObject:
            return build.shuffle_vector(*values, mask)

        return LANES(LANES, LANES), generate

    return picked


@intrinsic  # type: ignore[untyped-decorator]
def _load_half(
    context: CompilerObject, table: CompilerObject, row: CompilerObject, column: CompilerObject
) -> CompilerObject:
    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        place = build.bitcast(place_in(context, build, kinds, values), _HALF.as_pointer())
        half = build.load(place, align=8)
        return build.shuffle_vector(half, ir.Constant(_HALF, [0.0] * 4), _BESIDE_ZEROS)

    return LANES(table, types.intp, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def _store_half(
    context: CompilerObject,
    table: CompilerObject,
    row: CompilerObject,
    column: CompilerObject,
    value: CompilerObject,
) -> CompilerObject:
    return types.void(table, types.intp, types.intp, LANES), storing(4)


def load_half(table: Array, row: int, column: int) -> Lanes:
    """Four numbers, and four zeros."""
    return np.concatenate((table[row, column : column + 4], np.zeros(4)))


def store_half(table: Array, row: int, column: int, value: Lanes) -> None:
    """Put the first four lanes there."""
    table[row, column : column + 4] = value[:4]


@overload(load_half, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_load_half(
    table: CompilerObject, row: CompilerObject, column: CompilerObject
) -> CompilerObject:
    return lambda table, row, column: _load_half(table, row, column)


@overload(store_half, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_store_half(
    table: CompilerObject, row: CompilerObject, column: CompilerObject, value: CompilerObject
) -> CompilerObject:
    return lambda table, row, column, value: _store_half(table, row, column, value)


_SPREAD = [_of_one(*[lane] * WIDTH) for lane in (0, 1, 2, 4, 5, 6)]
_spread0, _spread1, _spread2, _spread3, _spread4, _spread5 = _SPREAD
# Halves turned: (y, z, x) and (z, x, y); of forces, in the place of moments.
_once = _of_one(1, 2, 0, 3, 5, 6, 4, 7)
_twice = _of_one(2, 0, 1, 3, 6, 4, 5, 7)
_force_once = _of_one(5, 6, 4, 3, 5, 6, 4, 7)
_force_twice = _of_one(6, 4, 5, 3, 6, 4, 5, 7)
# Rows of [[J, h~], [h~^T, m 1]] from (xx, xy, xz, yy, yz, zz of J, m, 0) and (h, 0, -h, 0).
_row0 = _of_two(0, 1, 2, 7, 7, 14, 9, 7)
_row1 = _of_two(1, 3, 4, 7, 10, 7, 12, 7)
_row2 = _of_two(2, 4, 5, 7, 13, 8, 7, 7)
_row3 = _of_two(7, 10, 13, 7, 6, 7, 7, 7)
_row4 = _of_two(14, 7, 8, 7, 7, 6, 7, 7)
_row5 = _of_two(9, 12, 7, 7, 7, 7, 6, 7)


@inlined
def rigid_rows(second: Lanes, center: Lanes) -> Six:
    """Spatial inertia of (xx, xy, xz, yy, yz, zz, mass, 0) and first moments (h, 0, -h, 0)."""
    return (
        _row0(second, center),
        _row1(second, center),
        _row2(second, center),
        _row3(second, center),
        _row4(second, center),
        _row5(second, center),
    )


@inlined
def spreads(a: Lanes) -> Six:
    """The six numbers of a vector, each in all lanes."""
    return _spread0(a), _spread1(a), _spread2(a), _spread3(a), _spread4(a), _spread5(a)


@inlined
def force_moment(r: Lanes, a: Lanes) -> Lanes:
    """(r x f, 0) of a = (n, f) and r = (r, 0)."""
    return _once(r) * _force_twice(a) - _twice(r) * _force_once(a)


@inlined
def sum_of_rows(a: Six, b: Six) -> Six:
    """Row by row."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


@inlined
def minus_product(P: Six, a: Six, b: Lanes) -> Six:
    """P - a b*, of the numbers of `a` in all lanes."""
    return (
        P[0] - a[0] * b,
        P[1] - a[1] * b,
        P[2] - a[2] * b,
        P[3] - a[3] * b,
        P[4] - a[4] * b,
        P[5] - a[5] * b,
    )


@inlined
def shifted_rows(P: Six, lever: tuple[Lanes, Lanes, Lanes], r: Lanes) -> Six:
    """phi P phi* for the lever r, in all lanes and as a vector: rows, then columns."""
    x, y, z = lever
    once, twice = _once(r), _twice(r)
    a = P[0] + y * P[5] - z * P[4]
    b = P[1] + z * P[3] - x * P[5]
    c = P[2] + x * P[4] - y * P[3]
    return (
        a + once * _force_twice(a) - twice * _force_once(a),
        b + once * _force_twice(b) - twice * _force_once(b),
        c + once * _force_twice(c) - twice * _force_once(c),
        P[3] + once * _force_twice(P[3]) - twice * _force_once(P[3]),
        P[4] + once * _force_twice(P[4]) - twice * _force_once(P[4]),
        P[5] + once * _force_twice(P[5]) - twice * _force_once(P[5]),
    )


@inlined
def load_rows(table: Array, k: int, column: int) -> Six:
    """Six registers one after the other."""
    return (
        load(table, k, column),
        load(table, k, column + WIDTH),
        load(table, k, column + 2 * WIDTH),
        load(table, k, column + 3 * WIDTH),
        load(table, k, column + 4 * WIDTH),
        load(table, k, column + 5 * WIDTH),
    )


@inlined
def store_rows(table: Array, k: int, column: int, P: Six) -> None:
    """Put them there."""
    store(table, k, column, P[0])
    store(table, k, column + WIDTH, P[1])
    store(table, k, column + 2 * WIDTH, P[2])
    store(table, k, column + 3 * WIDTH, P[3])
    store(table, k, column + 4 * WIDTH, P[4])
    store(table, k, column + 5 * WIDTH, P[5])
