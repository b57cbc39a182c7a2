"""Eight numbers at a time: a type whose operators work on a whole vector register.

Formulas of `vectors` take lanes in place of numbers as they are, and then do eight links for the
price of one. LLVM splits lanes where registers are shorter. Without compilation they are NumPy
arrays of eight.
"""

from __future__ import annotations

import operator
from typing import Any, ClassVar, TypeAlias

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typeconv import Conversion
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, overload, register_model

from spatialops._arrays import Array
from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.jit import inlined
from spatialops.algebra.pages import zeroed

WIDTH = 8

# Eight numbers: to kernels a register, without compilation an array. Formulas of `vectors` take
# them where they say float, which mypy must not mind.
Lanes: TypeAlias = Any
LanesVec3: TypeAlias = tuple[Lanes, Lanes, Lanes]
LanesSym3: TypeAlias = tuple[Lanes, Lanes, Lanes, Lanes, Lanes, Lanes]

REGISTER = ir.VectorType(ir.DoubleType(), WIDTH)
_NUMBER = ir.IntType(32)


class _Lanes(types.Type):
    """Numba's type of eight floats in a register."""

    def can_convert_from(self, context: CompilerObject, other: CompilerObject) -> CompilerObject:
        """A float becomes lanes where a variable is one here and the other there."""
        return Conversion.promote if other == types.float64 else None


LANES = _Lanes("Lanes")


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: CompilerObject, kind: CompilerObject) -> None:
        super().__init__(manager, kind, REGISTER)


def _picked(build: CompilerObject, value: CompilerObject, places: list[int]) -> CompilerObject:
    """The lanes of `value` at `places`."""
    mask = ir.Constant(ir.VectorType(_NUMBER, len(places)), places)
    return build.shuffle_vector(value, ir.Constant(REGISTER, ir.Undefined), mask)


def wide(build: CompilerObject, value: CompilerObject) -> CompilerObject:
    """A float in all lanes; lanes as they are."""
    if value.type == REGISTER:
        return value
    first = build.insert_element(
        ir.Constant(REGISTER, ir.Undefined), value, ir.Constant(_NUMBER, 0)
    )
    return _picked(build, first, [0] * WIDTH)


def _define(python: CompilerObject, instruction: str) -> None:
    """Let an operator of Python take two lanes, or lanes and a float."""
    pairs = (LANES, LANES), (LANES, types.float64), (types.float64, LANES)

    @infer_global(python)
    class Signatures(ConcreteTemplate):  # type: ignore[misc]
        cases: ClassVar[list[CompilerObject]] = [signature(LANES, *pair) for pair in pairs]

    def lower(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        operands = [wide(build, value) for value in values]
        return getattr(build, instruction)(*operands, flags=["contract"])  # fused multiply-add

    for pair in pairs:
        lower_builtin(python, *pair)(lower)


_define(operator.add, "fadd")
_define(operator.sub, "fsub")
_define(operator.mul, "fmul")
_define(operator.truediv, "fdiv")
_define(operator.iadd, "fadd")
_define(operator.isub, "fsub")
_define(operator.imul, "fmul")


@infer_global(abs)
class _AbsoluteValue(ConcreteTemplate):  # type: ignore[misc]
    cases: ClassVar[list[CompilerObject]] = [signature(LANES, LANES)]


@lower_builtin(abs, LANES)  # type: ignore[untyped-decorator]
def _lower_abs(
    context: CompilerObject, build: CompilerObject, kinds: CompilerObject, values: CompilerObject
) -> CompilerObject:
    shape = ir.FunctionType(REGISTER, [REGISTER])
    return build.call(
        cgutils.get_or_insert_function(build.module, shape, f"llvm.fabs.v{WIDTH}f64"), values
    )


def place_in(
    context: CompilerObject,
    build: CompilerObject,
    kinds: CompilerObject,
    values: CompilerObject,
    first: int = 0,
) -> CompilerObject:
    """Address of table[row, column + first]; arguments start with table, row and column."""
    array = context.make_array(kinds.args[0])(context, build, values[0])
    place = cgutils.get_item_pointer(context, build, kinds.args[0], array, list(values[1:3]))
    return build.gep(place, [ir.Constant(_NUMBER, first)])


@intrinsic  # type: ignore[untyped-decorator]
def _load(
    context: CompilerObject, table: CompilerObject, row: CompilerObject, column: CompilerObject
) -> CompilerObject:
    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        place = build.bitcast(place_in(context, build, kinds, values), REGISTER.as_pointer())
        return build.load(place, align=8)

    return LANES(table, types.intp, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def _spread(
    context: CompilerObject, table: CompilerObject, row: CompilerObject, column: CompilerObject
) -> CompilerObject:
    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        return wide(build, build.load(place_in(context, build, kinds, values)))

    return LANES(table, types.intp, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def _zeros(context: CompilerObject) -> CompilerObject:
    return LANES(), lambda context, build, kinds, values: ir.Constant(REGISTER, [0.0] * WIDTH)


def storing(*sizes: int) -> CompilerObject:
    """Code that stores the first lanes in parts of these sizes."""

    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        first = 0
        for size in sizes:
            part = _picked(build, values[3], list(range(first, first + size)))
            place = place_in(context, build, kinds, values, first)
            build.store(part, build.bitcast(place, part.type.as_pointer()), align=8)
            first += size
        return context.get_dummy_value()

    return generate


@intrinsic  # type: ignore[untyped-decorator]
def _store(
    context: CompilerObject,
    table: CompilerObject,
    row: CompilerObject,
    column: CompilerObject,
    value: CompilerObject,
) -> CompilerObject:
    return types.void(table, types.intp, types.intp, LANES), storing(WIDTH)


@intrinsic  # type: ignore[untyped-decorator]
def _store_six(
    context: CompilerObject,
    table: CompilerObject,
    row: CompilerObject,
    column: CompilerObject,
    value: CompilerObject,
) -> CompilerObject:
    return types.void(table, types.intp, types.intp, LANES), storing(4, 2)


@intrinsic  # type: ignore[untyped-decorator]
def _stream(
    context: CompilerObject,
    table: CompilerObject,
    row: CompilerObject,
    column: CompilerObject,
    value: CompilerObject,
) -> CompilerObject:
    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        place = build.bitcast(place_in(context, build, kinds, values), REGISTER.as_pointer())
        address = build.ptrtoint(place, ir.IntType(64))
        within = build.and_(address, ir.Constant(address.type, 8 * WIDTH - 1))
        whole = build.icmp_unsigned("==", within, ir.Constant(address.type, 0))
        with build.if_else(whole, likely=True) as (past, through):
            with past:
                made = build.store(values[3], place, align=8 * WIDTH)
                yes = build.module.add_metadata([ir.Constant(_NUMBER, 1)])
                made.set_metadata("nontemporal", yes)
            with through:
                build.store(values[3], place, align=8)
        return context.get_dummy_value()

    return types.void(table, types.intp, types.intp, LANES), generate


def zeros() -> Lanes:
    """Lanes of zeros."""
    return np.zeros(WIDTH)


def load(table: Array, row: int, column: int) -> Lanes:
    """Lanes from table[row, column : column + 8]; not checked against the end."""
    return table[row, column : column + WIDTH].copy()


def spread(table: Array, row: int, column: int) -> Lanes:
    """The number table[row, column] in all lanes; indices must not be negative."""
    return np.full(WIDTH, table[row, column])


def store(table: Array, row: int, column: int, value: Lanes) -> None:
    """Put all lanes where `load` would find them."""
    table[row, column : column + WIDTH] = value


def stream(table: Array, row: int, column: int, value: Lanes) -> None:
    """Put lanes into a line of memory that is not needed soon: past the caches, without reading it.

    What is read again before other memory has filled the caches is better stored.
    """
    table[row, column : column + WIDTH] = value


def store_six(table: Array, row: int, column: int, value: Lanes) -> None:
    """Put the first six lanes there."""
    table[row, column : column + 6] = value[:6]


@overload(zeros, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_zeros() -> CompilerObject:
    return lambda: _zeros()


@overload(load, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_load(
    table: CompilerObject, row: CompilerObject, column: CompilerObject
) -> CompilerObject:
    return lambda table, row, column: _load(table, row, column)


@overload(spread, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_spread(
    table: CompilerObject, row: CompilerObject, column: CompilerObject
) -> CompilerObject:
    return lambda table, row, column: _spread(table, row, column)


@overload(store, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_store(
    table: CompilerObject, row: CompilerObject, column: CompilerObject, value: CompilerObject
) -> CompilerObject:
    return lambda table, row, column, value: _store(table, row, column, value)


@overload(stream, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_stream(
    table: CompilerObject, row: CompilerObject, column: CompilerObject, value: CompilerObject
) -> CompilerObject:
    return lambda table, row, column, value: _stream(table, row, column, value)


@overload(store_six, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_store_six(
    table: CompilerObject, row: CompilerObject, column: CompilerObject, value: CompilerObject
) -> CompilerObject:
    return lambda table, row, column, value: _store_six(table, row, column, value)


@inlined
def at(row: int, k: int) -> tuple[int, int]:
    """Where a striped table has number `row` of link k.

    Such a table has a row for every eight links, with their first numbers, their second numbers,
    and so on: everything about a link lies at distances that the compiler knows, and the same
    number of eight links in a register."""
    return k >> 3, WIDTH * row + (k & 7)


@inlined
def load1(table: Array, row: int, eight: int) -> Lanes:
    """Number `row` of eight links in a striped table."""
    return load(table, eight, WIDTH * row)


@inlined
def load3(table: Array, row: int, eight: int) -> LanesVec3:
    """Vectors of eight links."""
    return load1(table, row, eight), load1(table, row + 1, eight), load1(table, row + 2, eight)


@inlined
def load_mat3(table: Array, row: int, eight: int) -> LanesVec3:
    """Row-major matrices of eight links."""
    return load3(table, row, eight), load3(table, row + 3, eight), load3(table, row + 6, eight)


@inlined
def load_sym3(table: Array, row: int, eight: int) -> LanesSym3:
    """Symmetric matrices of eight links."""
    a, b = load3(table, row, eight), load3(table, row + 3, eight)
    return a[0], a[1], a[2], b[0], b[1], b[2]


@inlined
def store1(table: Array, row: int, eight: int, a: Lanes) -> None:
    """Put number `row` of eight links."""
    store(table, eight, WIDTH * row, a)


@inlined
def store3(table: Array, row: int, eight: int, a: LanesVec3) -> None:
    """Put vectors of eight links."""
    store1(table, row, eight, a[0])
    store1(table, row + 1, eight, a[1])
    store1(table, row + 2, eight, a[2])


@inlined
def spread1(table: Array, row: int, k: int) -> Lanes:
    """Number `row` of link k in all lanes."""
    eight, lane = at(row, k)
    return spread(table, eight, lane)


@inlined
def spread3(table: Array, row: int, k: int) -> LanesVec3:
    """A vector of link k in all lanes."""
    return spread1(table, row, k), spread1(table, row + 1, k), spread1(table, row + 2, k)


def aligned(rows: int, columns: int) -> Array:
    """A zeroed table that starts at a cache line: registers cost twice as much across two."""
    memory = zeroed(rows * columns + WIDTH)
    first = -(memory.ctypes.data // memory.itemsize) % WIDTH
    return memory[first : first + rows * columns].reshape(rows, columns)
