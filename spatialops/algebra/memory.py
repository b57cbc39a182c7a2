"""Parts of a buffer, by name: tables whose entries lie there one after the other.

NumPy's `reshape` asks of any array whether its entries lie so, and takes 50 ns for it, of which a
solver that names ten tables for every problem would spend more time than on a small problem's rows.
"""

from __future__ import annotations

import math
from typing import TypeVar

from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import _Intrinsic
from numba.np.arrayobj import populate_array

from spatialops._arrays import Array, IntArray
from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.jit import COMPILED, merged

Numbers = TypeVar("Numbers", Array, IntArray)


def _typed(
    context: CompilerObject, buffer: CompilerObject, at: CompilerObject, shape: CompilerObject
) -> CompilerObject:
    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        held = context.make_array(kinds.args[0])(context, build, values[0])
        lengths = [
            context.cast(build, value, kind, types.intp)
            for value, kind in zip(cgutils.unpack_tuple(build, values[2]), kinds.args[2].types)
        ]
        strides = [held.itemsize]
        for length in lengths[:0:-1]:
            strides.insert(0, build.mul(strides[0], length))
        made = context.make_array(kinds.return_type)(context, build)
        populate_array(
            made,
            data=build.gep(held.data, [values[1]]),
            shape=lengths,
            strides=strides,
            itemsize=held.itemsize,
            meminfo=held.meminfo,
            parent=held.parent,
        )
        return impl_ret_borrowed(context, build, kinds.return_type, made._getvalue())

    kind = types.Array(buffer.dtype, len(shape), "C")
    return kind(buffer, types.intp, shape), generate


class _TableIn(_Intrinsic):  # type: ignore[misc]
    """Callable from Python too, where what kernels name is made for examples."""

    def __call__(self, buffer: Numbers, at: int, shape: tuple[int, ...]) -> Numbers:
        return _reshaped(buffer, at, shape)


def _reshaped(buffer: Numbers, at: int, shape: tuple[int, ...]) -> Numbers:
    return buffer[at : at + math.prod(shape)].reshape(shape)


def table_in(buffer: Numbers, at: int, shape: tuple[int, ...]) -> Numbers:
    """A table of that shape in a buffer, from entry `at` on; not checked against the end."""
    return _reshaped(buffer, at, shape)


if COMPILED:
    table_in = _TableIn("table_in", _typed)
    table_in._register()


@merged
def matrix(buffer: Numbers, at: int, rows: int, columns: int) -> Numbers:
    """So many rows and columns of a buffer, from entry `at` on."""
    return table_in(buffer, at, (rows, columns))
