"""Kernels that are compiled apart from those that call them, where they are first reached.

Numba copies whatever a kernel calls into it and optimises all of that again. What is compiled apart
is compiled once, and not before it is needed: its callers know a place where its address stands.
Until there is code that is the address of a function which compiles the kernel, or reads it from
the cache, and goes on to it. So a pendulum does not wait for contacts, nor a ball for meshes. A
call through the place costs nothing that was seen.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import threading
from collections.abc import Callable
from typing import TypeVar, cast

from llvmlite import binding
from numba.core import cgutils
from numba.core import types as numba_types
from numba.extending import _Intrinsic

from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.jit import COMPILED, kernel, kernel_apart
from spatialops._compile.references import Reference, on_stack

Function = TypeVar("Function", bound=Callable[..., object])

types: CompilerObject = numba_types  # their checker does not know all of them

PLACE = ".place"
"""What follows a kernel's name in that of the place where its address stands."""

ROWS = types.Array(types.float64, 2, "C")
TABLE = types.Array(types.int64, 2, "C")
VECTOR = types.Array(types.float64, 1, "C")
LIST = types.Array(types.int64, 1, "C")
"""Numba's types of arrays of numbers and of integers, as `late` takes them."""

NUMBERS = {  # by annotation
    "float": types.float64,
    "int": types.int64,
    "bool": types.boolean,
    "None": types.none,
    "tuple[int, float]": types.Tuple((types.int64, types.float64)),
}
_IN_C = {types.float64: ctypes.c_double, types.boolean: ctypes.c_bool}
_OF_ARRAY, _OF_DIMENSION = 5, 2  # words of what describes an array: see numba's `ArrayModel`
_RETURNS = 2  # addresses that come before the arguments: of the result and of errors
_PYTHON_ERROR = -1  # by which Numba's code says that Python has been told of an error
_RAISED = threading.local()  # error: what has kept a kernel from being compiled in this thread


class Apart:
    """A kernel, and the place in which its callers find where its code is.

    Parameters
    ----------
    function : callable
        Of arrays, tuples of them, or the stepping loop's tables, and numbers.
    words : list
        What it takes, as C does.
    """

    def __init__(self, function: Callable[..., object], words: list[CompilerObject]) -> None:
        self.py_func = function
        self.name = f"{function.__module__}.{function.__qualname__}"
        self.label = function.__name__.replace("_", " ")
        self.returned: CompilerObject = NUMBERS[inspect.signature(function).return_annotation]
        self.kernel: CompilerObject = kernel_apart(function)
        self._compiled: set[CompilerObject] = set()
        self._in_c = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * _RETURNS, *words)
        self._first = self._in_c(self._reached)  # what C calls must not be collected
        self._code: CompilerObject = None
        self._place = ctypes.cast(self._first, ctypes.c_void_p)
        binding.add_symbol(self.name + PLACE, ctypes.addressof(self._place))

    def expected(self) -> tuple[CompilerObject, ...]:
        """Types of the arguments with which it will be reached."""
        raise NotImplementedError

    def compile_for(self, arguments: tuple[CompilerObject, ...]) -> None:
        """Compile it, or read it from the cache; callers find it from then on.

        Raises
        ------
        TypeError
            Where it returns something else than it says.
        """
        if arguments in self._compiled:
            return
        self.kernel.compile(arguments)
        made = self.kernel.overloads[arguments]
        if made.signature.return_type != self.returned:
            raise TypeError(f"{self.name} returns {made.signature.return_type}")
        address = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
        self._code = self._in_c(address)
        self._place.value = address
        self._compiled.add(arguments)

    def compile(self) -> None:
        """Compile it, or read it from the cache, for what it will be reached with."""
        self.compile_for(self.expected())

    def _reached(self, *arguments: CompilerObject) -> CompilerObject:
        """What callers reach before it is compiled."""
        try:
            self.compile()
        except BaseException as error:  # also of one who will not wait: C knows no exceptions
            _RAISED.error = error
            return _PYTHON_ERROR
        return self._code(*arguments)

    def emit(
        self,
        context: CompilerObject,
        builder: CompilerObject,
        signature: CompilerObject,
        arguments: CompilerObject,
    ) -> CompilerObject:
        """Write down a call of it."""
        calls = context.call_conv
        kind = calls.get_function_type(signature.return_type, signature.args).as_pointer()
        place = builder.module.globals.get(self.name + PLACE)
        if place is None:
            place = cgutils.add_global_variable(builder.module, kind, self.name + PLACE)
        status, result = calls.call_function(
            builder, builder.load(place), signature.return_type, signature.args, arguments
        )
        with cgutils.if_unlikely(
            builder, status.is_error
        ):  # with NUMBA_BOUNDSCHECK, and where compiling has failed: kernels do not raise
            calls.return_status_propagate(builder, status)
        return result


def reaching(call: Callable[..., object], *arguments: CompilerObject) -> CompilerObject:
    """Call what may reach kernels apart; raises what has kept one of them from being compiled."""
    try:
        return call(*arguments)
    except SystemError as told:
        error = untold(told)
    raise error


def untold(told: SystemError) -> BaseException:
    """What has kept a kernel from being compiled, of an error that says that none was set."""
    error: BaseException = _RAISED.__dict__.pop("error", told)
    return error


class _Late(Apart):
    """A kernel of arrays and numbers whose types are known from the beginning."""

    def __init__(self, function: Callable[..., object], kinds: tuple[CompilerObject, ...]) -> None:
        super().__init__(function, [word for kind in kinds for word in _words(kind)])
        self._kinds = kinds

    def expected(self) -> tuple[CompilerObject, ...]:
        """Types of the arguments."""
        return self._kinds

    def typed(self, *given: CompilerObject) -> CompilerObject:
        """What Numba asks of an intrinsic.

        Arrays that may not be written to are taken as well, and tables in place of their address.
        """
        if all(_alike(one, other) for one, other in zip(given, self._kinds, strict=True)):
            return self.returned(*given), self.emit
        return None

    def emit(
        self,
        context: CompilerObject,
        builder: CompilerObject,
        signature: CompilerObject,
        arguments: CompilerObject,
    ) -> CompilerObject:
        """Write down a call of it, with addresses of tables that are given as such."""
        given = zip(signature.args, self._kinds, arguments, strict=True)
        handed = [_with_addresses(context, builder, *one) for one in given]
        kinds, values = zip(*handed, strict=True)
        return super().emit(context, builder, self.returned(*kinds), values)


class _Callable(_Intrinsic):  # type: ignore[misc]
    """In kernels the call of a kernel apart; in Python the kernel."""

    @functools.cached_property
    def _entrance(self) -> CompilerObject:
        """A kernel of one call: few of those apart are called from Python, none where it counts."""
        apart: CompilerObject = self

        def enter(*arguments: CompilerObject) -> CompilerObject:
            return apart(*arguments)

        return kernel(enter)

    def __call__(self, *arguments: CompilerObject) -> CompilerObject:
        return reaching(self._entrance, *arguments)


def callable_in_kernels(apart: CompilerObject, kind: CompilerObject) -> CompilerObject:
    """What stands for it in kernels: an intrinsic of Numba's, of this kind of object."""

    def call(context: CompilerObject, *given: CompilerObject) -> CompilerObject:
        return apart.typed(*given)

    parameters = inspect.signature(apart.py_func).parameters.values()
    plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = ["context", *(one.name for one in parameters)]
    described: CompilerObject = call
    described.__signature__ = inspect.Signature([inspect.Parameter(one, plain) for one in names])
    call.__name__ = apart.py_func.__name__
    made = kind(call.__name__, call)
    made._register()
    made.stage = apart
    return made


def late(*kinds: CompilerObject) -> Callable[[Function], Function]:
    """Compile a function apart from its callers, for arguments of these types of Numba's."""

    def made(function: Function) -> Function:
        if not COMPILED:
            return function
        apart = _Late(function, kinds)

        return cast(Function, callable_in_kernels(apart, _Callable))

    return made


def _words(kind: CompilerObject) -> list[CompilerObject]:
    """What an argument is to C: numbers and addresses one word, arrays what describes them."""
    if isinstance(kind, types.BaseTuple):
        return [word for part in kind for word in _words(part)]
    if isinstance(kind, types.Array):
        return [ctypes.c_int64] * (_OF_ARRAY + _OF_DIMENSION * kind.ndim)
    return [_IN_C.get(kind, ctypes.c_int64)]


def _alike(one: CompilerObject, other: CompilerObject) -> bool:
    """Whether two types are of the same form in memory, or the second is the address of that."""
    if isinstance(other, Reference):
        return _alike(one.table if isinstance(one, Reference) else one, other.table)
    if isinstance(one, types.Array) and isinstance(other, types.Array):
        return (one.dtype, one.ndim, one.layout) == (other.dtype, other.ndim, other.layout)
    if isinstance(one, types.BaseTuple) and isinstance(other, types.BaseTuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    return bool(types.unliteral(one) == other)


def _with_addresses(
    context: CompilerObject,
    builder: CompilerObject,
    given: CompilerObject,
    kind: CompilerObject,
    value: CompilerObject,
) -> tuple[CompilerObject, CompilerObject]:
    """Type and value of an argument, with addresses in place of tables where `kind` has some."""
    if isinstance(kind, Reference):
        here = isinstance(given, Reference)
        return (given, value) if here else (kind, on_stack(builder, value))
    if not isinstance(kind, types.BaseTuple) or not _has_addresses(kind):
        return given, value
    parts = zip(given, kind, cgutils.unpack_tuple(builder, value), strict=True)
    values = [_with_addresses(context, builder, *part)[1] for part in parts]
    return kind, context.make_tuple(builder, kind, values)


def _has_addresses(kind: CompilerObject) -> bool:
    """Whether there are some among the parts of a tuple."""
    return any(isinstance(part, Reference) for part in kind)
