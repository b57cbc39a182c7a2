"""Doors: built-in functions in front of public ones, which call kernels without Python between.

What a door is, is written in its plan (`door_plan` says what). It answers calls whose arguments are
what a kernel takes as they are; all others, and those that fail, go to the public function as it is
written, with what was given. So a door changes no answer and no error: only what a call costs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt
from numba.core import types

from spatialops._compile import door_plan as at
from spatialops._compile import layouts
from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.door_code import enter_by_plan
from spatialops._compile.jit import COMPILED
from spatialops._compile.switch import Switch

Function = TypeVar("Function", bound=Callable[..., object])
Slot = tuple[type, str]


_CODE: dict[str, int] = {}  # where the machine code of all doors is
_SWITCH: list[Switch] = []  # what they go through: one, made with the first of them
_PLANS: list[Plan] = []  # all of them: built-in functions know addresses of what they keep


class Source(NamedTuple):
    """Where a kernel's argument is found: a parameter, or what stands in slots of it."""

    parameter: str
    slots: tuple[Slot, ...] = ()


class Size(NamedTuple):
    """Length of a dimension of the result: rows of an argument of the kernel, and how many each.

    Of no argument's (`FIXED`) where it is always the same.
    """

    argument: int
    times: int = 1


FIXED = at.FIXED
Shape = Sequence[Size]


class Classes(NamedTuple):
    """What a parameter that is no array must be of: two classes at most.

    A list or tuple may stand for one where an earlier parameter keeps, in `ready`, a pair of the
    last such sequence and what it was made ready as.
    """

    own: tuple[type, ...]
    ready: Source | None = None


_NO_CLASSES = Classes(())


class Served(Protocol):
    """What tells a plan of a kernel's address."""

    def serve(self, plan: Plan) -> None:
        """Open the plan's door, now or when the kernel is compiled."""


class Plan:
    """The words that a door goes by."""

    def __init__(self, parameters: Sequence[str], positional: int) -> None:
        self.words = np.zeros(at.WORDS, dtype=np.int64)
        self._parameters = list(parameters)
        self._kept: list[object] = []
        self._built_in: list[layouts.BuiltIn] = []  # whose descriptions must stay
        words = self.words
        for place, name in _FUNCTIONS.items():
            words[place] = layouts.address_of(name)
        words[at.NEW] = layouts.address_of_new_array()
        words[at.NDARRAY], words[at.FLOATS] = id(np.ndarray), np.dtype(np.float64).num
        words[at.LIST], words[at.TUPLE] = id(list), id(tuple)
        words[at.PARAMETERS], words[at.POSITIONAL] = len(parameters), positional

    @classmethod
    def of_arrays(cls, count: int) -> Plan:
        """Of a kernel's own arguments, one after the other; its status is returned."""
        plan = cls([""] * count, count)
        plan.words[at.GIVES_STATUS] = 1
        for k in range(count):
            plan.words[at.source_place(k) + at.FROM] = k
        plan.words[at.ARGUMENTS] = count
        return plan

    def name(self, names: Sequence[str], classes: Mapping[str, Classes]) -> None:
        """Say what parameters are called, and of what classes those must be that are no arrays."""
        for p, parameter in enumerate(names):
            row = self.words[at.name_place(p) :]
            row[at.NAME] = id(parameter)
            self._kept.append(parameter)
            own, ready = classes.get(parameter, _NO_CLASSES)
            for place, kind in zip((at.FIRST_CLASS, at.SECOND_CLASS), own):
                row[place] = id(kind)
            if ready is not None:
                row[at.READY_IN] = names.index(ready.parameter, 0, p)
                row[at.READY_SLOT] = layouts.slot_offset(*ready.slots[0])

    def take(self, sources: Sequence[Source | npt.NDArray[np.float64]]) -> None:
        """Say where the kernel's arguments are found; an array is one itself."""
        self.words[at.ARGUMENTS] = len(sources)
        for k, source in enumerate(sources):
            row = self.words[at.source_place(k) :]
            if isinstance(source, np.ndarray):
                row[at.CONSTANT] = id(source)
                self._kept.append(source)
                continue
            row[at.FROM] = self._parameters.index(source.parameter)
            for place, (kind, slot) in zip((at.FIRST_SLOT, at.SECOND_SLOT), source.slots):
                row[place] = layouts.slot_offset(kind, slot)

    def make(self, results: Sequence[Shape], gives: type | None) -> None:
        """Say of what shape results are where no memory was given, and of what they are a tuple."""
        words = self.words
        if "out" not in self._parameters:
            first = int(words[at.ARGUMENTS])
            words[at.ARGUMENTS] += len(results)
            for k in range(first, words[at.ARGUMENTS]):
                words[at.source_place(k) + at.FROM] = at.NOWHERE
        if gives is not None:
            words[at.GIVES] = id(gives)
            self._kept.append(gives)
        words[at.RESULTS] = len(results)
        for r, shape in enumerate(results):
            words[at.shape_place(r)] = len(shape)
            for d, size in enumerate(shape):
                row = words[at.dimension_place(r, d) :]
                row[at.OF_ARGUMENT], row[at.TIMES] = size

    def open(self, entry: int, kinds: Sequence[CompilerObject]) -> None:
        """Let calls pass to a kernel that was compiled for arrays of these kinds."""
        for k, kind in enumerate(kinds):
            row = self.words[at.source_place(k) :]
            dtype = np.dtype(str(kind.dtype))
            self._kept.append(dtype)
            row[at.OF_DTYPE], row[at.OF_NDIM] = id(dtype), kind.ndim
        self.words[at.ENTRY] = entry
        if self._built_in:
            _switch().turn(_code())

    def door(self, careful: Callable[..., object]) -> CompilerObject:
        """The built-in function, before this one."""
        owner = layouts.Owner(careful.__module__, self.words, careful)
        self.words[at.CAREFUL] = id(careful)
        made = layouts.BuiltIn(careful.__name__, _documentation(careful), owner, _switch().address)
        self._built_in.append(made)
        _PLANS.append(self)
        return made.function


def door(
    call: Served,
    *sources: Source | npt.NDArray[np.float64],
    results: Sequence[Shape],
    classes: Mapping[str, Classes],
    gives: type | None = None,
) -> Callable[[Function], Function]:
    """Put a door before a public function.

    Parameters
    ----------
    call : FastCall
        Of the kernel that does it.
    *sources : Source or array
        Where each of its arguments is found. The last is the result, parameter `out`; results are
        not among them where there is no such parameter.
    results : sequence of sequences of Size
        Shapes of the kernel's last arguments, where memory for them is not given.
    classes : mapping of str to Classes
        Of the parameters that are no arrays. Calls that give others than these, and those in
        `sources`, go to the function.
    gives : type, optional
        A named tuple: of the results, or of the numbers in the only one.
    """

    def decorate(function: Function) -> Function:
        if not COMPILED or layouts.FAULTS:
            return function
        used = {*classes, *(item.parameter for item in sources if isinstance(item, Source))}
        signature = inspect.signature(function).parameters
        names = [name for name in signature if name in used]
        behind = (k for k, name in enumerate(signature) if name not in used or name == "out")
        leading = next(behind, len(signature))
        plan = Plan(names, leading)
        plan.name(names, classes)
        plan.take(sources)
        plan.make(results, gives)
        call.serve(plan)
        return cast(Function, plan.door(function))

    return decorate


_FUNCTIONS = {
    at.CALL: "PyObject_Vectorcall",
    at.KEEP: "Py_IncRef",
    at.DROP: "Py_DecRef",
    at.NUMBER: "PyLong_FromSsize_t",
    at.TAKE: "PyType_GenericAlloc",
    at.PUT: "PyTuple_SetItem",
    at.FLOAT: "PyFloat_FromDouble",
}


def behind(function: Callable[..., object]) -> Callable[..., object]:
    """A public function as it is written, with its annotations and lines, behind its door."""
    owner = getattr(function, "__self__", None)
    return owner.careful if isinstance(owner, layouts.Owner) else function


def _documentation(function: Callable[..., object]) -> str:
    """A docstring as built-in functions have it: behind the signature, without annotations."""
    signature = inspect.signature(function)
    bare = [item.replace(annotation=item.empty) for item in signature.parameters.values()]
    text = signature.replace(parameters=bare, return_annotation=signature.empty)
    return f"{function.__name__}{text}\n--\n\n{inspect.getdoc(function) or ''}"


def _switch() -> Switch:
    """Where all doors begin; to their owners, until there is machine code for any of them."""
    if not _SWITCH:  # a vectorcall takes what such a function is handed
        _SWITCH.append(Switch(layouts.address_of("PyObject_Vectorcall")))
    return _SWITCH[0]


def _code() -> int:
    """Machine code of all doors: compiled, or read from where it is kept."""
    if not _CODE:
        words = (types.int64,) * 4
        kernel: CompilerObject = enter_by_plan
        kernel.compile(words)
        made = kernel.overloads[words]
        name = made.fndesc.llvm_cfunc_wrapper_name
        _CODE["all"] = made.library.get_pointer_to_function(name)
    return _CODE["all"]
