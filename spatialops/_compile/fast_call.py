"""The way from Python into a kernel: what a call costs besides the kernel itself.

Numba's dispatcher looks up the type of every argument and then the version of the kernel that
fits: 0.25 us for eight arrays, which is a quarter of the forward dynamics of an arm. A `FastCall`
knows the one version there is and calls it directly, and a `door` in front of a public function
does so without any Python between. That alone would be unsafe. Class, dtype, dimensions and flags
of every array are therefore compared with what the kernel was compiled for; at the first difference
a `FastCall` raises TypeError, and behind a door the public function's own lines run: 2 ns an array.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import NativeValue, intrinsic, models, register_model, unbox

from spatialops._compile import layouts
from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.digest import file_digest
from spatialops._compile.doors import Plan
from spatialops._compile.jit import COMPILED, inlined

LONG = 64
"""Links from which on a call lets other threads run: below, giving up the GIL costs it 4 %."""

_WORD, _INT = ir.IntType(64), ir.IntType(32)
_OPENED = COMPILED and not layouts.FAULTS


class Arguments(types.Type):
    """The kinds of arrays a kernel takes, whose objects stand behind one another."""

    def __init__(self, kinds: tuple[CompilerObject, ...]) -> None:
        self.kinds = kinds
        places = layouts.DATA, layouts.DIMS, layouts.STRIDES
        self.sources = f"{file_digest(__file__).hex()} {places}"
        super().__init__(name=f"Arguments({', '.join(map(str, kinds))})")


@register_model(Arguments)
class _AddressModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: CompilerObject, kind: CompilerObject) -> None:
        super().__init__(manager, kind, ir.IntType(8).as_pointer())


@unbox(Arguments)  # type: ignore[untyped-decorator]
def _unbox_address(kind: CompilerObject, obj: CompilerObject, c: CompilerObject) -> NativeValue:
    return NativeValue(c.pyapi.long_as_voidptr(obj), is_error=c.pyapi.c_api_error())


@intrinsic  # type: ignore[untyped-decorator]
def _arrays_of(context: CompilerObject, arguments: CompilerObject) -> CompilerObject:
    """The arrays as kernels know them, which somebody has seen to be of their kinds."""
    arrays = types.Tuple(arguments.kinds)  # type: ignore[attr-defined]

    def generate(
        context: CompilerObject,
        build: CompilerObject,
        signature: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        objects = build.bitcast(values[0], ir.IntType(8).as_pointer().as_pointer())
        read = [
            _array_of(context, build, kind, build.load(build.gep(objects, [ir.Constant(_INT, k)])))
            for k, kind in enumerate(arrays)
        ]
        return context.make_tuple(build, arrays, read)

    return arrays(arguments), generate


def _array_of(
    context: CompilerObject, build: CompilerObject, kind: CompilerObject, item: CompilerObject
) -> CompilerObject:
    """What a kernel needs of an array object."""

    def read(offset: int, llvm_type: CompilerObject) -> CompilerObject:
        place = build.gep(item, [ir.Constant(_INT, offset)])
        return build.load(build.bitcast(place, llvm_type.as_pointer()))

    def entries(offset: int) -> list[CompilerObject]:
        first = read(offset, _WORD.as_pointer())
        return [build.load(build.gep(first, [ir.Constant(_INT, i)])) for i in range(kind.ndim)]

    array = context.make_array(kind)(context, build)
    shape, size = entries(layouts.DIMS), ir.Constant(_WORD, 1)
    for n in shape:
        size = build.mul(size, n)
    array.data = read(layouts.DATA, array.data.type)
    array.nitems, array.itemsize = size, ir.Constant(_WORD, 8)
    array.shape = cgutils.pack_array(build, shape)
    array.strides = cgutils.pack_array(build, entries(layouts.STRIDES))
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    return array._getvalue()


@intrinsic  # type: ignore[untyped-decorator]
def _release(context: CompilerObject, wanted: CompilerObject) -> CompilerObject:
    """Let other threads run if wanted; returns what `_restore` takes."""

    def generate(
        context: CompilerObject,
        build: CompilerObject,
        signature: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        state = cgutils.alloca_once_value(build, cgutils.get_null_value(ir.IntType(8).as_pointer()))
        with build.if_then(values[0], likely=False):
            build.store(context.get_python_api(build).save_thread(), state)
        return build.load(state)

    return types.voidptr(wanted), generate


@intrinsic  # type: ignore[untyped-decorator]
def _restore(context: CompilerObject, state: CompilerObject) -> CompilerObject:
    """Wait for one's turn again, if given up."""

    def generate(
        context: CompilerObject,
        build: CompilerObject,
        signature: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        with build.if_then(cgutils.is_not_null(build, values[0]), likely=False):
            context.get_python_api(build).restore_thread(values[0])
        return context.get_dummy_value()

    return types.void(state), generate


@inlined
def enter(function: Callable[..., int], arguments: CompilerObject) -> int:
    """What an entry point does: call the kernel, with the GIL given up where the call is long."""
    arrays = _arrays_of(arguments)
    state = _release(arrays[0].shape[0] >= LONG)
    result = function(*arrays)
    _restore(state)
    return result


class FastCall:
    """Hands what a public function was given to a kernel; only what it turns away is checked.

    Parameters
    ----------
    kernel : compiled function
        Its arguments are arrays; the first is a table with one row per link.
    entry_point : compiled function
        Hands its argument to `enter` with the kernel; compiled for the types of the first call of
        the kernel.

    Notes
    -----
    `call` takes no other types than those: a list or an array of integers ends in TypeError.
    """

    __slots__ = ("_entry", "_kernel", "_plans", "call")

    def __init__(self, kernel: Callable[..., int], entry_point: Callable[..., int]) -> None:
        self._kernel: CompilerObject = kernel
        self._entry: CompilerObject = entry_point
        self._plans: list[Plan] = []
        self.call: Callable[..., int] = self._closed

    @staticmethod
    def _closed(*arguments: object) -> int:
        raise TypeError("not compiled yet, or not compiled at all: arguments must be checked first")

    def checked_call(self, *arguments: object) -> int:
        """Call with arguments known to fit; from then on `call` is open."""
        result: int = self._kernel(*arguments)
        if _OPENED and self.call is self._closed:
            self._open()
        return result

    def serve(self, plan: Plan) -> None:
        """Open a door in front of a public function when `call` is opened."""
        self._plans.append(plan)

    def _open(self) -> None:
        (arguments,) = self._kernel.nopython_signatures
        entry = self._entry
        kinds = (Arguments(arguments.args),)
        entry.compile(kinds)
        made = entry.overloads[kinds]
        address = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
        own = Plan.of_arrays(len(arguments.args))
        call = own.door(_refused)
        for plan in (own, *self._plans):
            plan.open(address, arguments.args)
        self.call = call


def _refused(*arguments: object) -> int:
    raise TypeError("expected C-contiguous, writeable arrays as the kernel was compiled for")
