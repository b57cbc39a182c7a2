"""Vectors and tables of which every entry is eight numbers: one mechanism, eight states of it.

Kernels that are written for numbers take them as they are, and do for eight environments what they
do for one, operation by operation. What has the same value in all of them stays a table of
numbers.
"""

from __future__ import annotations

import operator
from typing import TypeAlias

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import (
    intrinsic,
    lower_builtin,
    make_attribute_wrapper,
    models,
    overload_attribute,
    register_model,
)

from spatialops._arrays import Array
from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.digest import file_digest
from spatialops._compile.jit import COMPILED
from spatialops.algebra import lane_logic, simd
from spatialops.algebra.lane_logic import EightNumbers
from spatialops.algebra.simd import LANES, REGISTER, WIDTH, Lanes, wide

LaneArray: TypeAlias = (
    Lanes  # kernels say that they take arrays of numbers, which mypy must not mind
)

# What machine code for these types is made of, beside the kernels that are compiled for them.
_SOURCES = [file_digest(file).hex() for file in (__file__, lane_logic.__file__, simd.__file__)]


class _LaneArray(types.Type):
    """Numba's type of a vector or table of lanes: the array (..., 8) under it."""

    sources = _SOURCES

    def __init__(self, values: CompilerObject) -> None:
        self.values = values
        super().__init__(f"LaneArray({values})")


@register_model(_LaneArray)
class _LaneArrayModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: CompilerObject, kind: CompilerObject) -> None:
        super().__init__(manager, kind, [("values", kind.values)])


make_attribute_wrapper(_LaneArray, "values", "values")


@overload_attribute(_LaneArray, "size", inline="always", strict=False)  # type: ignore[untyped-decorator]
def _size(lanes: CompilerObject) -> CompilerObject:
    return lambda lanes: lanes.values.size // WIDTH


@overload_attribute(_LaneArray, "shape", inline="always", strict=False)  # type: ignore[untyped-decorator]
def _shape(lanes: CompilerObject) -> CompilerObject:
    return lambda lanes: lanes.values.shape


def _address(
    context: CompilerObject,
    build: CompilerObject,
    kind: CompilerObject,
    array: CompilerObject,
    index: list[CompilerObject],
) -> CompilerObject:
    """Where the entry of an array at an index is, which must not be negative."""
    held = context.make_array(kind)(context, build, array)
    shapes = cgutils.unpack_tuple(build, held.shape, kind.ndim)
    strides = cgutils.unpack_tuple(build, held.strides, kind.ndim)
    checked = context.enable_boundscheck
    data, layout = held.data, kind.layout
    return cgutils.get_item_pointer2(
        context, build, data, shapes, strides, layout, index, boundscheck=checked
    )


def _index(
    context: CompilerObject, build: CompilerObject, kind: CompilerObject, value: CompilerObject
) -> list[CompilerObject]:
    """An integer or a tuple of them as a list."""
    kinds, values = [kind], [value]
    if isinstance(kind, types.BaseTuple):  # type: ignore[attr-defined]
        kinds, values = list(kind.types), cgutils.unpack_tuple(build, value)
    return [context.cast(build, one, of, types.intp) for one, of in zip(values, kinds, strict=True)]


def _lanes_at(
    context: CompilerObject,
    build: CompilerObject,
    kind: CompilerObject,
    lanes: CompilerObject,
    index: list[CompilerObject],
) -> CompilerObject:
    """Where the lanes at an index are."""
    held = cgutils.create_struct_proxy(kind)(context, build, lanes)
    index = [*index, context.get_constant(types.intp, 0)]
    place = _address(context, build, kind.values, held.values, index)
    return build.bitcast(place, ir.PointerType(REGISTER))


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: CompilerObject, kws: CompilerObject) -> CompilerObject:
        if isinstance(args[0], _LaneArray):
            return signature(LANES, *args)
        return None


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: CompilerObject, kws: CompilerObject) -> CompilerObject:
        if not isinstance(args[0], _LaneArray):
            return None
        value = LANES if args[2] == LANES else types.float64
        return signature(types.void, args[0], args[1], value)


@lower_builtin(operator.getitem, _LaneArray, types.Type)  # type: ignore[untyped-decorator]
def _get(
    context: CompilerObject, build: CompilerObject, kinds: CompilerObject, values: CompilerObject
) -> CompilerObject:
    index = _index(context, build, kinds.args[1], values[1])
    return build.load(_lanes_at(context, build, kinds.args[0], values[0], index), align=8)


@lower_builtin(operator.setitem, _LaneArray, types.Type, types.Type)  # type: ignore[untyped-decorator]
def _set(
    context: CompilerObject, build: CompilerObject, kinds: CompilerObject, values: CompilerObject
) -> CompilerObject:
    index = _index(context, build, kinds.args[1], values[1])
    place = _lanes_at(context, build, kinds.args[0], values[0], index)
    build.store(wide(build, values[2]), place, align=8)
    return context.get_dummy_value()


@intrinsic  # type: ignore[untyped-decorator]
def _lanes_of(context: CompilerObject, values: CompilerObject) -> CompilerObject:
    def generate(
        context: CompilerObject,
        build: CompilerObject,
        kinds: CompilerObject,
        arguments: CompilerObject,
    ) -> CompilerObject:
        made = cgutils.create_struct_proxy(kinds.return_type)(context, build)
        made.values = arguments[0]
        return made._getvalue()

    return _LaneArray(values)(values), generate


class _Interpreted:
    """A lane array without compilation."""

    def __init__(self, values: Array) -> None:
        self._values = values
        self.size = values.size // WIDTH
        self.shape = values.shape

    def __getitem__(self, place: int | tuple[int, int]) -> Lanes:
        return self._values[place].copy().view(EightNumbers)

    def __setitem__(self, place: int | tuple[int, int], value: Lanes) -> None:
        self._values[place] = value


def lanes_of(values: Array) -> LaneArray:
    """An array (..., 8) as a vector or table of lanes."""
    return _Interpreted(values)


if COMPILED:
    lanes_of = _lanes_of
