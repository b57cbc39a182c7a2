"""Memory that is asked for before it is needed.

Of trees that are larger than the cache a sweep waits for memory wherever the processor does not
guess how it goes on: towards smaller addresses, in numbers that lie at large distances, and where
what is written was not read. Forward dynamics of 100 000 links takes twice the time so.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

from spatialops._arrays import Array, IntArray
from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.jit import inlined
from spatialops.algebra.simd import WIDTH, place_in

_KIND, _BYTES = ir.IntType(32), ir.IntType(8).as_pointer()
_READ, _WRITE, _KEPT, _DATA = (ir.Constant(_KIND, kind) for kind in (0, 1, 3, 1))


def _asking(purpose: CompilerObject) -> CompilerObject:
    """Code that asks for memory to read, or to write."""

    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        shape = ir.FunctionType(ir.VoidType(), [_BYTES, _KIND, _KIND, _KIND])
        function = build.module.declare_intrinsic("llvm.prefetch", [_BYTES], shape)
        place = build.bitcast(place_in(context, build, kinds, values), _BYTES)
        build.call(function, [place, purpose, _KEPT, _DATA])
        return context.get_dummy_value()

    return generate


@intrinsic  # type: ignore[untyped-decorator]
def _to_read(
    context: CompilerObject, table: CompilerObject, row: CompilerObject, column: CompilerObject
) -> CompilerObject:
    return types.void(table, types.intp, types.intp), _asking(_READ)


@intrinsic  # type: ignore[untyped-decorator]
def _to_write(
    context: CompilerObject, table: CompilerObject, row: CompilerObject, column: CompilerObject
) -> CompilerObject:
    return types.void(table, types.intp, types.intp), _asking(_WRITE)


def prefetch(table: Array | IntArray, row: int, column: int) -> None:
    """Ask for the cache line of table[row, column], which need not exist; changes nothing."""


def prefetch_own(table: Array | IntArray, row: int, column: int) -> None:
    """The same to write to it: a line that is only read would have to be written back."""


@overload(prefetch, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_prefetch(
    table: CompilerObject, row: CompilerObject, column: CompilerObject
) -> CompilerObject:
    return lambda table, row, column: _to_read(table, row, column)


@overload(prefetch_own, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_prefetch_own(
    table: CompilerObject, row: CompilerObject, column: CompilerObject
) -> CompilerObject:
    return lambda table, row, column: _to_write(table, row, column)


@inlined
def prefetch_rows(table: Array, eight: int, row: int, count: int, k: int) -> None:
    """Link k's share of `count` rows of a striped table's eight, from `row` on.

    Eight links one after the other ask for all of them: a processor keeps only so many requests.
    """
    if 0 <= eight < table.shape[0]:
        column = WIDTH * (row + (k & 7))
        for i in range(count // WIDTH):
            prefetch(table, eight, column + WIDTH * WIDTH * i)
        if (k & 7) < count % WIDTH:
            prefetch(table, eight, column + WIDTH * (count - count % WIDTH))
