"""Parts of a register: some of eight numbers, and the sum of all of them.

Rows of other lengths than eight end within a register. What lies behind them is neither read nor
written (masked loads and stores), so that they may stand side by side, and end where memory does.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from spatialops._arrays import Array
from spatialops._compile.compiler_object import CompilerObject
from spatialops.algebra.simd import LANES, REGISTER, WIDTH, Lanes, zeros
from spatialops.algebra.simd_blocks import ORDINALS, everywhere, store_where

_TRUTHS = ir.VectorType(ir.IntType(1), WIDTH)
_WHICH = ir.VectorType(ir.IntType(32), WIDTH)
_ALIGN = ir.Constant(ir.IntType(32), 8)
_NOTHING = ir.Constant(REGISTER, [0.0] * WIDTH)


def _place(
    context: CompilerObject, build: CompilerObject, kinds: CompilerObject, values: CompilerObject
) -> CompilerObject:
    """Address of line[first] as that of a register."""
    line = context.make_array(kinds.args[0])(context, build, values[0])
    place = cgutils.get_item_pointer(context, build, kinds.args[0], line, [values[1]])
    return build.bitcast(place, REGISTER.as_pointer())


def _before(build: CompilerObject, count: CompilerObject) -> CompilerObject:
    """Which lanes are the first so many."""
    return build.icmp_signed("<", ORDINALS, everywhere(build, count))


def _read(
    context: CompilerObject,
    build: CompilerObject,
    kinds: CompilerObject,
    values: CompilerObject,
    wanted: CompilerObject,
) -> CompilerObject:
    """The wanted lanes from line[first] on, and zeros."""
    place = _place(context, build, kinds, values)
    shape = ir.FunctionType(REGISTER, [place.type, _ALIGN.type, _TRUTHS, REGISTER])
    read = cgutils.get_or_insert_function(build.module, shape, f"llvm.masked.load.v{WIDTH}f64.p0")
    return build.call(read, [place, _ALIGN, wanted, _NOTHING])


@intrinsic  # type: ignore[untyped-decorator]
def _load_first(
    context: CompilerObject, line: CompilerObject, first: CompilerObject, count: CompilerObject
) -> CompilerObject:
    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        return _read(context, build, kinds, values, _before(build, values[2]))

    return LANES(line, types.intp, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def _load_part(
    context: CompilerObject,
    line: CompilerObject,
    first: CompilerObject,
    low: CompilerObject,
    high: CompilerObject,
) -> CompilerObject:
    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        behind = build.not_(_before(build, values[2]))
        return _read(context, build, kinds, values, build.and_(behind, _before(build, values[3])))

    return LANES(line, types.intp, types.intp, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def _store_first(
    context: CompilerObject,
    line: CompilerObject,
    first: CompilerObject,
    count: CompilerObject,
    value: CompilerObject,
) -> CompilerObject:
    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        place = _place(context, build, kinds, values)
        store_where(build, values[3], place, _before(build, values[2]))
        return context.get_dummy_value()

    return types.void(line, types.intp, types.intp, LANES), generate


@intrinsic  # type: ignore[untyped-decorator]
def _total(context: CompilerObject, value: CompilerObject) -> CompilerObject:
    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        left, width = values[0], WIDTH
        while width > 1:
            width //= 2
            halves = [
                build.shuffle_vector(
                    left,
                    ir.Constant(left.type, ir.Undefined),
                    ir.Constant(ir.VectorType(ir.IntType(32), width), list(half)),
                )
                for half in (range(width), range(width, 2 * width))
            ]
            left = build.fadd(*halves)
        return build.extract_element(left, ir.Constant(ir.IntType(32), 0))

    return types.float64(value), generate


def _paired(
    build: CompilerObject, left: CompilerObject, right: CompilerObject, size: int
) -> CompilerObject:
    """Sums of neighbouring parts of so many lanes, of two registers side by side."""
    early = [i for i in range(2 * WIDTH) if i // size % 2 == 0]
    halves = [
        build.shuffle_vector(left, right, ir.Constant(_WHICH, [i + add for i in early]))
        for add in (0, size)
    ]
    return build.fadd(*halves)


@intrinsic  # type: ignore[untyped-decorator]
def _totals(
    context: CompilerObject, a: CompilerObject, b: CompilerObject, c: CompilerObject
) -> CompilerObject:
    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        first = _paired(build, values[0], values[1], 4)
        second = _paired(build, values[2], values[2], 4)
        fourth = _paired(build, first, second, 2)
        return _paired(build, fourth, fourth, 1)

    return LANES(LANES, LANES, LANES), generate


@intrinsic  # type: ignore[untyped-decorator]
def _with_lane(
    context: CompilerObject, value: CompilerObject, place: CompilerObject, number: CompilerObject
) -> CompilerObject:
    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        return build.insert_element(values[0], values[2], values[1])

    return LANES(LANES, types.intp, types.float64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _lane(context: CompilerObject, value: CompilerObject, place: CompilerObject) -> CompilerObject:
    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        return build.extract_element(values[0], values[1])

    return types.float64(LANES, types.intp), generate


def load_first(line: Array, first: int, count: int) -> Lanes:
    """Lanes from line[first : first + count], at most eight, and zeros; no more is read."""
    lanes = zeros()
    few = min(max(count, 0), WIDTH)
    lanes[:few] = line[first : first + few]
    return lanes


def load_part(line: Array, first: int, low: int, high: int) -> Lanes:
    """Lanes `low` to `high` of those from line[first] on, and zeros; no more is read.

    Both may lie outside, and so may line[first] where `low` does not.
    """
    lanes = zeros()
    begin, end = max(low, 0), min(high, WIDTH)
    if begin < end:
        lanes[begin:end] = line[first + begin : first + end]
    return lanes


def store_first(line: Array, first: int, count: int, value: Lanes) -> None:
    """Put the first `count` lanes, at most eight, at line[first]; no more is written."""
    few = min(max(count, 0), WIDTH)
    line[first : first + few] = value[:few]


def total(value: Lanes) -> float:
    """Sum of the lanes, halves first: of the same bits whatever the registers."""
    left = value
    while left.size > 1:
        left = left[: left.size // 2] + left[left.size // 2 :]
    return float(left[0])


def totals(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """Totals of three in the first three lanes, of the same bits, for the price of hardly two."""
    lanes = zeros()
    lanes[:3] = [total(part) for part in (a, b, c)]
    return lanes


def with_lane(value: Lanes, place: int, number: float) -> Lanes:
    """The lanes with this number in the place of one of them."""
    lanes = value.copy()
    lanes[place] = number
    return lanes


def lane(value: Lanes, place: int) -> float:
    """One of the lanes."""
    return float(value[place])


@overload(load_first, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_load_first(
    line: CompilerObject, first: CompilerObject, count: CompilerObject
) -> CompilerObject:
    return lambda line, first, count: _load_first(line, first, count)


@overload(load_part, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_load_part(
    line: CompilerObject, first: CompilerObject, low: CompilerObject, high: CompilerObject
) -> CompilerObject:
    return lambda line, first, low, high: _load_part(line, first, low, high)


@overload(store_first, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_store_first(
    line: CompilerObject, first: CompilerObject, count: CompilerObject, value: CompilerObject
) -> CompilerObject:
    return lambda line, first, count, value: _store_first(line, first, count, value)


@overload(total, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_total(value: CompilerObject) -> CompilerObject:
    return lambda value: _total(value)


@overload(totals, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_totals(a: CompilerObject, b: CompilerObject, c: CompilerObject) -> CompilerObject:
    return lambda a, b, c: _totals(a, b, c)


@overload(with_lane, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_with_lane(
    value: CompilerObject, place: CompilerObject, number: CompilerObject
) -> CompilerObject:
    return lambda value, place, number: _with_lane(value, place, number)


@overload(lane, inline="always", strict=False)  # type: ignore[untyped-decorator]
def _compiled_lane(value: CompilerObject, place: CompilerObject) -> CompilerObject:
    return lambda value, place: _lane(value, place)
