"""Stages of the stepping loop: kernels that are compiled apart, and called where their code lies.

Numba copies whatever a kernel calls into it and optimises all of that again. With the narrow phase
in every part of the loop that looks at contacts, compiling took 260 s. A stage is compiled once:
its callers know a symbol, which LLVM resolves when it links them, and hand over the address of the
tables instead of the several hundred numbers they are made of. That costs nothing measurable (a
step of the free 12-link pendulum takes 2 us either way).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import TypeVar, cast

import numba
from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, register_model

from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.jit import COMPILED, kernel

Function = TypeVar("Function", bound=Callable[..., object])
Tables = TypeVar("Tables")

_NUMBERS = {"float": types.float64, "int": types.int64, "bool": types.boolean}  # by annotation
_ADDRESS = ir.PointerType(ir.IntType(8))


def stage(function: Function) -> Function:
    """Compile a function of the tables, and of one number at most, apart from its callers."""
    if not COMPILED:
        return function
    made = Stage(function)

    def alone(context: CompilerObject, t: CompilerObject) -> CompilerObject:
        return made.typed(t)

    def with_number(
        context: CompilerObject, t: CompilerObject, x: CompilerObject
    ) -> CompilerObject:
        return made.typed(t)

    call = with_number if made.numbers else alone
    call.__name__ = function.__name__
    callable_in_kernels = intrinsic(call)
    callable_in_kernels.stage = made
    return cast(Function, callable_in_kernels)


def entered(function: Function) -> Function:
    """Compile a function that Python calls with the tables, and that runs stages with `refer`."""
    return cast(Function, _Entered(function)) if COMPILED else function


class Stage:
    """One stage: its kernel, and the symbol under which callers find it."""

    def __init__(self, function: Callable[..., object]) -> None:
        self.py_func = function
        self.name = f"{function.__module__}.{function.__qualname__}"
        self.label = function.__name__.replace("_", " ")
        self.numbers = [
            _NUMBERS[p.annotation]
            for p in list(inspect.signature(function).parameters.values())[1:]
        ]
        self._kernel: CompilerObject = kernel(function)
        self._signatures: dict[CompilerObject, CompilerObject] = {}

    def compile(self, reference: Reference) -> CompilerObject:
        """Compile the stage, after all that it calls, or read it from the cache; its signature."""
        if reference not in self._signatures:
            arguments = (reference, *self.numbers)
            made = compile_after_stages(self.py_func, self._kernel, arguments, reference)
            binding.add_symbol(
                self.name, made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
            )
            self._signatures[reference] = made.signature
        return self._signatures[reference]

    def leads_to(self, other: Stage) -> bool:
        """Whether it calls another stage, by itself or through others."""
        return any(callee is other or callee.leads_to(other) for callee in called(self.py_func))

    def typed(self, reference: Reference) -> CompilerObject:
        """What Numba asks of an intrinsic: a signature, and what emits the call."""
        return self.compile(reference), self._emit

    def _emit(
        self,
        context: CompilerObject,
        builder: CompilerObject,
        signature: CompilerObject,
        arguments: CompilerObject,
    ) -> CompilerObject:
        kind = context.call_conv.get_function_type(signature.return_type, signature.args)
        target = cgutils.get_or_insert_function(builder.module, kind, self.name)
        calls = context.call_conv
        status, result = calls.call_function(
            builder, target, signature.return_type, signature.args, arguments
        )
        with cgutils.if_unlikely(
            builder, status.is_error
        ):  # only ever with NUMBA_BOUNDSCHECK: kernels do not raise
            calls.return_status_propagate(builder, status)
        return result


def stage_of(function: Callable[..., object]) -> Stage:
    """What `stage` made of a function."""
    made: Stage = cast(CompilerObject, function).stage
    return made


class _Entered:
    """A kernel that is loaded once all stages are: LLVM gives up on symbols unknown to it."""

    def __init__(self, function: Callable[..., object]) -> None:
        self.py_func = function
        self._kernel: CompilerObject = kernel(function)

    def __call__(self, t: CompilerObject) -> CompilerObject:
        if not self._kernel.overloads:
            tables = numba.typeof(t)
            compile_after_stages(self.py_func, self._kernel, (tables,), Reference(tables))
        return self._kernel(t)


def compile_after_stages(
    function: Callable[..., object],
    kernel: CompilerObject,
    arguments: tuple[CompilerObject, ...],
    reference: Reference,
) -> CompilerObject:
    """Compile a kernel once all stages are loaded that it calls; what Numba knows of its code.

    Shipped code is bound to its stages already.
    """
    if not kernel._cache.is_shipped(arguments):
        for callee in called(function):
            callee.compile(reference)
    kernel.compile(arguments)
    return kernel.overloads[arguments]


def called(function: Callable[..., object]) -> Iterator[Stage]:
    """Stages that a function calls, by itself or through other kernels."""
    seen, todo = {function}, [function]
    while todo:
        caller: CompilerObject = todo.pop()
        for name in caller.__code__.co_names:
            item = caller.__globals__.get(name)
            if made := getattr(item, "stage", None):
                yield made
            elif (inner := getattr(item, "py_func", None)) and inner not in seen:
                seen.add(inner)
                todo.append(inner)


def below(*functions: Callable[..., object]) -> list[Stage]:
    """All stages that functions call, by themselves or through others, callees first."""
    found: list[Stage] = []
    for function in functions:
        for made in called(getattr(function, "py_func", function)):
            found += [item for item in (*below(made.py_func), made) if item not in found]
    return found


class Reference(types.Type):
    """Numba's type of the address of a named tuple of arrays; a field is read where it is used."""

    def __init__(self, table: CompilerObject) -> None:
        self.table = table
        super().__init__(name=f"Reference({table})")


@register_model(Reference)
class _AddressModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: CompilerObject, kind: CompilerObject) -> None:
        super().__init__(manager, kind, _ADDRESS)


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    key = Reference

    def generic_resolve(self, reference: Reference, name: str) -> CompilerObject:
        table = reference.table
        return table[table.fields.index(name)] if name in table.fields else None


@lower_getattr_generic(Reference)  # type: ignore[untyped-decorator]
def _field(
    context: CompilerObject,
    builder: CompilerObject,
    reference: Reference,
    address: CompilerObject,
    name: str,
) -> CompilerObject:
    table = reference.table
    whole = builder.bitcast(address, context.get_value_type(table).as_pointer())
    return _loaded(builder, _part(builder, whole, table.fields.index(name)))


def _loaded(builder: CompilerObject, address: CompilerObject) -> CompilerObject:
    """What describes an array, read so that LLVM need not do it again while the loop runs."""
    kind = address.type.pointee
    if not isinstance(kind, ir.Aggregate):
        number = builder.load(address)
        number.set_metadata("invariant.load", builder.module.add_metadata([]))
        return number
    whole = ir.Constant(kind, ir.Undefined)
    for k in range(len(kind)):
        whole = builder.insert_value(whole, _loaded(builder, _part(builder, address, k)), k)
    return whole


def _part(builder: CompilerObject, address: CompilerObject, k: int) -> CompilerObject:
    return builder.gep(address, [ir.Constant(ir.IntType(32), i) for i in (0, k)], inbounds=True)


def _refer(context: CompilerObject, tables: CompilerObject) -> CompilerObject:
    def put(
        context: CompilerObject,
        builder: CompilerObject,
        signature: CompilerObject,
        arguments: CompilerObject,
    ) -> CompilerObject:
        return builder.bitcast(cgutils.alloca_once_value(builder, arguments[0]), _ADDRESS)

    return Reference(tables)(tables), put


def refer(tables: Tables) -> Tables:
    """Address of the tables, good until the caller returns."""
    return tables


if COMPILED:
    refer = intrinsic(_refer)
