"""Words of memory, and functions of C, in compiled code: for machine code that reads objects."""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from spatialops._compile.compiler_object import CompilerObject

_WORD = ir.IntType(64)
_INT = ir.IntType(32)


def _place(build: CompilerObject, values: CompilerObject, kind: CompilerObject) -> CompilerObject:
    return build.inttoptr(build.add(values[0], values[1]), kind.as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def load(
    context: CompilerObject, address: CompilerObject, offset: CompilerObject
) -> CompilerObject:
    """The word some bytes behind an address."""

    def generate(
        context: CompilerObject,
        build: CompilerObject,
        signature: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        return build.load(_place(build, values, _WORD))

    return types.int64(types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def load_int(
    context: CompilerObject, address: CompilerObject, offset: CompilerObject
) -> CompilerObject:
    """The int of C some bytes behind an address."""

    def generate(
        context: CompilerObject,
        build: CompilerObject,
        signature: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        return build.sext(build.load(_place(build, values, _INT)), _WORD)

    return types.int64(types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def store(
    context: CompilerObject, address: CompilerObject, offset: CompilerObject, value: CompilerObject
) -> CompilerObject:
    def generate(
        context: CompilerObject,
        build: CompilerObject,
        signature: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        build.store(values[2], _place(build, values, _WORD))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def room(context: CompilerObject, count: CompilerObject) -> CompilerObject:
    """Address of some words on the stack."""
    size = count.literal_value

    def generate(
        context: CompilerObject,
        build: CompilerObject,
        signature: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        with build.goto_entry_block():
            room = build.alloca(_WORD, size=ir.Constant(_WORD, size))
        return build.ptrtoint(room, _WORD)

    return types.int64(count), generate


@intrinsic  # type: ignore[untyped-decorator]
def call(
    context: CompilerObject, function: CompilerObject, arguments: CompilerObject
) -> CompilerObject:
    """Call a function of C with words."""

    def generate(
        context: CompilerObject,
        build: CompilerObject,
        signature: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        words = cgutils.unpack_tuple(build, values[1])
        kind = ir.FunctionType(_WORD, [_WORD] * len(words))
        return build.call(build.inttoptr(values[0], kind.as_pointer()), words)

    return types.int64(function, arguments), generate


@intrinsic  # type: ignore[untyped-decorator]
def new_float(
    context: CompilerObject, function: CompilerObject, bits: CompilerObject
) -> CompilerObject:
    """`PyFloat_FromDouble` of the number that a word is the bits of."""

    def generate(
        context: CompilerObject,
        build: CompilerObject,
        signature: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        double = ir.DoubleType()
        kind = ir.FunctionType(_WORD, [double])
        function = build.inttoptr(values[0], kind.as_pointer())
        return build.call(function, [build.bitcast(values[1], double)])

    return types.int64(types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def new_array(
    context: CompilerObject,
    function: CompilerObject,
    kind: CompilerObject,
    ndim: CompilerObject,
    shape: CompilerObject,
    number: CompilerObject,
) -> CompilerObject:
    """`PyArray_New` without strides, memory, flags or an owner."""

    def generate(
        context: CompilerObject,
        build: CompilerObject,
        signature: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        takes = [_WORD, _INT, _WORD, _INT, _WORD, _WORD, _INT, _INT, _WORD]
        zeros = [ir.Constant(kind, 0) for kind in takes]
        ndim, number = (build.trunc(item, _INT) for item in (values[2], values[4]))
        given = [values[1], ndim, values[3], number, *zeros[4:]]
        function = build.inttoptr(values[0], ir.FunctionType(_WORD, takes).as_pointer())
        return build.call(function, given)

    return types.int64(*[types.int64] * 5), generate


@intrinsic  # type: ignore[untyped-decorator]
def enter(
    context: CompilerObject, function: CompilerObject, arguments: CompilerObject
) -> CompilerObject:
    """Call what an entry point was compiled to; its status, or -1 where it failed."""

    def generate(
        context: CompilerObject,
        build: CompilerObject,
        signature: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        status = cgutils.alloca_once_value(build, ir.Constant(_WORD, 0))
        error = ir.IntType(8).as_pointer()
        raised = cgutils.alloca_once_value(build, cgutils.get_null_value(error))
        takes = [_WORD.as_pointer(), error.as_pointer(), error]
        kind = ir.FunctionType(_INT, takes)
        target = build.inttoptr(values[0], kind.as_pointer())
        given = [status, raised, build.inttoptr(values[1], error)]
        failed = build.icmp_signed("!=", build.call(target, given), ir.Constant(_INT, 0))
        return build.select(failed, ir.Constant(_WORD, -1), build.load(status))

    return types.int64(types.int64, types.int64), generate
