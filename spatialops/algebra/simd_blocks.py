"""Blocks of eight by eight numbers in registers: transposed, cut and stored in tables."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from spatialops._arrays import Array
from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.jit import inlined
from spatialops.algebra.simd import LANES, REGISTER, WIDTH, Lanes, load1, place_in

Block: TypeAlias = tuple[Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes]

_BLOCK = types.UniTuple(LANES, WIDTH)  # type: ignore[attr-defined]
_NUMBER = ir.IntType(32)
_WORD = ir.IntType(64)
ORDINALS = ir.Constant(ir.VectorType(_WORD, WIDTH), list(range(WIDTH)))


def _shuffled(
    build: CompilerObject, a: CompilerObject, b: CompilerObject, places: list[int]
) -> CompilerObject:
    mask = ir.Constant(ir.VectorType(_NUMBER, WIDTH), places)
    return build.shuffle_vector(a, b, mask)


def everywhere(build: CompilerObject, value: CompilerObject) -> CompilerObject:
    """An integer in all lanes."""
    kind = ir.VectorType(_WORD, WIDTH)
    first = build.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(_NUMBER, 0))
    mask = ir.Constant(ir.VectorType(_NUMBER, WIDTH), [0] * WIDTH)
    return build.shuffle_vector(first, ir.Constant(kind, ir.Undefined), mask)


def store_where(
    build: CompilerObject, lanes: CompilerObject, place: CompilerObject, kept: CompilerObject
) -> None:
    """Write the lanes that are kept, and nothing else."""
    shape = ir.FunctionType(ir.VoidType(), [REGISTER, place.type, _NUMBER, kept.type])
    store = cgutils.get_or_insert_function(build.module, shape, f"llvm.masked.store.v{WIDTH}f64.p0")
    build.call(store, [lanes, place, ir.Constant(_NUMBER, 8), kept])


@intrinsic  # type: ignore[untyped-decorator]
def _transposed(context: CompilerObject, block: CompilerObject) -> CompilerObject:
    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        """Exchange single entries, then pairs, then fours, of rows that lie as far apart."""
        rows = cgutils.unpack_tuple(build, values[0])
        for step in (1, 2, 4):
            low = [i for i in range(WIDTH) if not i & step]
            upper = [i if i in low else i - step + WIDTH for i in range(WIDTH)]
            lower = [place + step for place in upper]
            for i in low:
                a, b = rows[i], rows[i + step]
                rows[i] = _shuffled(build, a, b, upper)
                rows[i + step] = _shuffled(build, a, b, lower)
        return context.make_tuple(build, _BLOCK, rows)

    return _BLOCK(_BLOCK), generate


@intrinsic  # type: ignore[untyped-decorator]
def _between(
    context: CompilerObject, value: CompilerObject, low: CompilerObject, high: CompilerObject
) -> CompilerObject:
    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        above = build.icmp_signed(">=", ORDINALS, everywhere(build, values[1]))
        below = build.icmp_signed("<=", ORDINALS, everywhere(build, values[2]))
        zeros = ir.Constant(REGISTER, [0.0] * WIDTH)
        return build.select(build.and_(above, below), values[0], zeros)

    return LANES(LANES, types.intp, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def _store_block(
    context: CompilerObject,
    table: CompilerObject,
    row: CompilerObject,
    column: CompilerObject,
    block: CompilerObject,
    height: CompilerObject,
    width: CompilerObject,
) -> CompilerObject:
    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        kept = build.icmp_signed("<", ORDINALS, everywhere(build, values[5]))
        pointer = ir.PointerType(REGISTER)
        for i, lanes in enumerate(cgutils.unpack_tuple(build, values[3])):
            with build.if_then(build.icmp_signed("<", ir.Constant(_WORD, i), values[4])):
                at_row = [values[0], build.add(values[1], ir.Constant(_WORD, i)), values[2]]
                place = build.bitcast(place_in(context, build, kinds, at_row), pointer)
                store_where(build, lanes, place, kept)
        return context.get_dummy_value()

    return types.void(table, types.intp, types.intp, _BLOCK, types.intp, types.intp), generate


def transposed(block: Block) -> Block:
    """Columns of a block as rows."""
    a, b, c, d, e, f, g, h = np.stack(block, axis=1)
    return a, b, c, d, e, f, g, h


def between(value: Lanes, low: int, high: int) -> Lanes:
    """Lanes low to high, and zeros; both may lie outside."""
    ordinals = np.arange(WIDTH)
    return np.where((ordinals >= low) & (ordinals <= high), value, 0.0)


def store_block(table: Array, row: int, column: int, block: Block, height: int, width: int) -> None:
    """Put the first `height` rows, `width` numbers of each (eight if more), from an entry on."""
    rows, columns = min(height, WIDTH), min(width, WIDTH)
    table[row : row + rows, column : column + columns] = np.stack(block)[:rows, :columns]


@overload(transposed, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_transposed(block: CompilerObject) -> CompilerObject:
    return lambda block: _transposed(block)


@overload(between, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_between(
    value: CompilerObject, low: CompilerObject, high: CompilerObject
) -> CompilerObject:
    return lambda value, low, high: _between(value, low, high)


@overload(store_block, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_store_block(
    table: CompilerObject,
    row: CompilerObject,
    column: CompilerObject,
    block: CompilerObject,
    height: CompilerObject,
    width: CompilerObject,
) -> CompilerObject:
    return lambda table, row, column, block, height, width: _store_block(
        table, row, column, block, height, width
    )


@inlined
def load_block(table: Array, row: int, eight: int) -> Block:
    """Numbers `row` to `row + 7` of eight links in a striped table."""
    return (
        load1(table, row, eight),
        load1(table, row + 1, eight),
        load1(table, row + 2, eight),
        load1(table, row + 3, eight),
        load1(table, row + 4, eight),
        load1(table, row + 5, eight),
        load1(table, row + 6, eight),
        load1(table, row + 7, eight),
    )


@inlined
def sum_of_blocks(a: Block, b: Block) -> Block:
    """Entry by entry."""
    return (
        a[0] + b[0],
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3],
        a[4] + b[4],
        a[5] + b[5],
        a[6] + b[6],
        a[7] + b[7],
    )
