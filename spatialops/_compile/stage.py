"""Stages of the stepping loop: kernels apart that take the address of its tables.

With the narrow phase in every part of the loop that looks at contacts, compiling took 260 s. A
stage is compiled once, where it is first reached, and is handed the address of the tables instead
of the several hundred numbers they are made of. That costs nothing measurable (a step of the free
12-link pendulum takes 2 us either way).
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable, Iterator
from typing import TypeVar, cast

import numba
from numba.extending import _Intrinsic

from spatialops._compile.apart import NUMBERS, Apart, callable_in_kernels, reaching
from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.jit import COMPILED, kernel
from spatialops._compile.references import Reference

Function = TypeVar("Function", bound=Callable[..., object])

_IN_C = {"float": ctypes.c_double, "int": ctypes.c_int64, "bool": ctypes.c_bool}


def stage(function: Function) -> Function:
    """Compile a function of the tables, and of a few numbers, apart from its callers."""
    if not COMPILED:
        return function
    return cast(Function, callable_in_kernels(Stage(function), _Intrinsic))


def entered(function: Function) -> Function:
    """Compile a function that Python calls with the tables, and that runs stages with `refer`."""
    return cast(Function, _Entered(function)) if COMPILED else function


class Stage(Apart):
    """One stage; its tables are of the type that was told last."""

    def __init__(self, function: Callable[..., object]) -> None:
        kinds = [p.annotation for p in list(inspect.signature(function).parameters.values())[1:]]
        super().__init__(function, [ctypes.c_void_p, *(_IN_C[kind] for kind in kinds)])
        self.numbers = [NUMBERS[kind] for kind in kinds]
        self._reference: CompilerObject = None

    def expect(self, reference: Reference) -> None:
        """Say of what type the tables will be with which it is reached."""
        self._reference = reference

    def expected(self) -> tuple[CompilerObject, ...]:
        """Types of the arguments, which are told to the stages that it calls."""
        expect_stages(self.py_func, self._reference)
        return (self._reference, *self.numbers)

    def typed(self, reference: Reference, *numbers: CompilerObject) -> CompilerObject:
        """What Numba asks of an intrinsic: a signature, and what emits the call."""
        return self.returned(reference, *self.numbers), self.emit


def part_of(function: Callable[..., object]) -> Apart:
    """What `stage` or `late` made of a function."""
    made: Apart = cast(CompilerObject, function).stage
    return made


class _Entered:
    def __init__(self, function: Callable[..., object]) -> None:
        self.py_func = function
        self._kernel: CompilerObject = kernel(function)

    def __call__(self, t: CompilerObject) -> CompilerObject:
        if not self._kernel.overloads:
            expect_stages(self.py_func, Reference(numba.typeof(t)))
        return reaching(self._kernel, t)


def expect_stages(function: Callable[..., object], reference: Reference) -> None:
    """Tell the stages that a function calls of what type the tables are."""
    for callee in below(function):
        if isinstance(callee, Stage):
            callee.expect(reference)


def called(function: Callable[..., object]) -> Iterator[Apart]:
    """Kernels apart that a function calls, by itself or through other kernels."""
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


def below(*functions: Callable[..., object]) -> list[Apart]:
    """All kernels apart that functions call, by themselves or through others, callees first."""
    found: list[Apart] = []
    for function in functions:
        for made in called(getattr(function, "py_func", function)):
            found += [item for item in (*below(made.py_func), made) if item not in found]
    return found
