"""What kernels ask of single numbers, for eight at a time.

Kernels that take lanes where they say float may use a number as a default of what are lanes
elsewhere, its sign, and comparisons. `<`, `>` and `==` of lanes and a number ask whether it
is so in all lanes. `less` and its likes ask each: 1.0 or 0.0, which `where` takes.
"""

from __future__ import annotations

import math
import operator
from typing import ClassVar

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import lower_cast
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin

from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.jit import COMPILED
from spatialops.algebra.simd import LANES, REGISTER, WIDTH, Lanes, wide

_ONES = ir.Constant(REGISTER, [1.0] * WIDTH)
_ZEROS = ir.Constant(REGISTER, [0.0] * WIDTH)
_MASK = ir.IntType(WIDTH)  # a bit for each lane


@lower_cast(types.float64, LANES)  # type: ignore[untyped-decorator]
def _everywhere(
    context: CompilerObject,
    build: CompilerObject,
    source: CompilerObject,
    target: CompilerObject,
    value: CompilerObject,
) -> CompilerObject:
    return wide(build, value)


def _define(
    python: CompilerObject, result: CompilerObject, *kinds: CompilerObject
) -> CompilerObject:
    """A decorator: how a function or operator of Python is lowered for lanes."""

    @infer_global(python)
    class Signature(ConcreteTemplate):  # type: ignore[misc]
        cases: ClassVar[list[CompilerObject]] = [signature(result, *kinds)]

    return lower_builtin(python, *kinds)


def _define_negative() -> None:
    def lower(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        return build.fneg(values[0], flags=["contract"])

    _define(operator.neg, LANES, LANES)(lower)


def _define_of_each(python: CompilerObject) -> None:
    """A function of the library, lane by lane."""

    def lower(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        kind = context.typing_context.resolve_value_type(python)
        alone = kind.get_call_type(context.typing_context, (types.float64,), {})
        function = context.get_function(kind, alone)
        result = values[0]
        for i in range(WIDTH):
            place = ir.Constant(ir.IntType(32), i)
            one = function(build, [build.extract_element(values[0], place)])
            result = build.insert_element(result, one, place)
        return result

    _define(python, LANES, LANES)(lower)


def _define_of_all(python: CompilerObject, predicate: str) -> None:
    """A comparison that is true where it is so in all lanes."""

    def lower(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        return _all(build, build.fcmp_ordered(predicate, values[0], wide(build, values[1])))

    _define(python, types.boolean, LANES, types.float64)(lower)


def _all(build: CompilerObject, bits: CompilerObject) -> CompilerObject:
    whole = ir.Constant(_MASK, (1 << WIDTH) - 1)
    return build.icmp_unsigned("==", build.bitcast(bits, _MASK), whole)


def _bits(build: CompilerObject, truth: CompilerObject) -> CompilerObject:
    return build.fcmp_unordered("!=", truth, _ZEROS)


def _comparing(predicate: str) -> CompilerObject:
    """A function of two that says of each lane whether it is so."""

    @intrinsic  # type: ignore[untyped-decorator]
    def compare(context: CompilerObject, a: CompilerObject, b: CompilerObject) -> CompilerObject:
        def generate(
            context: CompilerObject,
            build: CompilerObject,
            kinds: CompilerObject,
            values: CompilerObject,
        ) -> CompilerObject:
            left, right = (wide(build, value) for value in values)
            return build.select(build.fcmp_ordered(predicate, left, right), _ONES, _ZEROS)

        return LANES(a, b), generate

    return compare


def _define_root() -> None:
    def lower(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        return _roots_of(build, values[0])

    _define(math.sqrt, LANES, LANES)(lower)


def _roots_of(build: CompilerObject, lanes: CompilerObject) -> CompilerObject:
    shape = ir.FunctionType(REGISTER, [REGISTER])
    name = f"llvm.sqrt.v{WIDTH}f64"
    return build.call(cgutils.get_or_insert_function(build.module, shape, name), [lanes])


_define_negative()
_define_root()
_define_of_each(math.sin)
_define_of_each(math.cos)
_define_of_all(operator.lt, "<")
_define_of_all(operator.gt, ">")
_define_of_all(operator.eq, "==")


@intrinsic  # type: ignore[untyped-decorator]
def _where(
    context: CompilerObject, truth: CompilerObject, a: CompilerObject, b: CompilerObject
) -> CompilerObject:
    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        left, right = (wide(build, value) for value in values[1:])
        return build.select(_bits(build, values[0]), left, right)

    return LANES(truth, a, b), generate


@intrinsic  # type: ignore[untyped-decorator]
def _root(context: CompilerObject, a: CompilerObject) -> CompilerObject:
    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        return _roots_of(build, values[0])

    return LANES(a), generate


class EightNumbers(np.ndarray[tuple[int, ...], np.dtype[np.float64]]):
    """Lanes without compilation: a comparison is true where it is so in all of them."""

    def __gt__(self, other: float) -> bool:  # type: ignore[override]
        return bool(np.all(np.asarray(self) > other))

    def __lt__(self, other: float) -> bool:  # type: ignore[override]
        return bool(np.all(np.asarray(self) < other))

    def __eq__(self, other: object) -> bool:
        return bool(np.all(np.asarray(self) == other))

    __hash__ = None


def less(a: Lanes, b: Lanes) -> Lanes:
    """1.0 where a < b, else 0.0; NaN is not less."""
    return (np.asarray(a) < np.asarray(b)).astype(float).view(EightNumbers)


def where(truth: Lanes, a: Lanes, b: Lanes) -> Lanes:
    """Lanes of `a` where `truth` is not 0.0, else of `b`."""
    chosen = np.where(np.asarray(truth) != 0.0, np.asarray(a), np.asarray(b))
    return chosen.view(EightNumbers)


def root(a: Lanes) -> Lanes:
    """Square roots."""
    return np.sqrt(a)


if COMPILED:
    root = _root
    less = _comparing("<")
    where = _where
