"""The way from Python into a kernel: what a call costs besides the kernel itself.

Numba's dispatcher looks up the type of every argument and then the version of the kernel that
fits: 0.25 us for eight arrays, which is a quarter of the forward dynamics of an arm. A `FastCall`
knows the one version there is and calls it directly. That alone would be unsafe, since Numba's own
unboxing takes any array for the one expected. The arrays of an entry point are therefore of a type
of their own, `Exact`, whose unboxing compares class, dtype, dimensions and layout with what the
kernel was compiled for, and raises TypeError at the first difference: 2 ns an array.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import NativeValue, intrinsic, models, register_model, unbox

from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.jit import COMPILED, inlined
from spatialops._compile.objects import offer_slots

LONG = 64
"""Links from which on a call lets other threads run: below, giving up the GIL costs it 4 %."""

# Where NumPy keeps what is checked, in bytes: `PyArrayObject_fields`, part of its binary interface.
_HEAD = object.__basicsize__
_CLASS, _DATA, _NDIM, _DIMS, _STRIDES, _DTYPE, _FLAGS = (
    _HEAD - 8,
    *(_HEAD + i for i in (0, 8, 16, 24, 40, 48)),
)
_CARRAY = 0x1 | 0x100 | 0x400  # C-contiguous, aligned, writeable: `flags.carray`

_NDARRAY = "spatialops_ndarray"
_DTYPES: dict[object, str] = {types.float64: "spatialops_float64", types.int64: "spatialops_int64"}
offer_slots()


class Exact(types.Array):
    """A writeable, aligned, C-contiguous array of exactly one dtype and number of dimensions."""

    def __init__(self, dtype: CompilerObject, ndim: int) -> None:
        super().__init__(dtype, ndim, "C", name=f"Exact({dtype}, {ndim})")


register_model(Exact)(models.ArrayModel)


@unbox(Exact)  # type: ignore[untyped-decorator]
def _unbox_exact(kind: Exact, obj: CompilerObject, c: CompilerObject) -> NativeValue:
    """Compare, then read what a kernel needs of an array: 0.2 of the time of Numba's way."""
    build = c.builder
    word = ir.IntType(64)
    number = ir.IntType(32)

    def read(offset: int, llvm_type: CompilerObject) -> CompilerObject:
        place = build.gep(
            build.bitcast(obj, ir.IntType(8).as_pointer()), [ir.Constant(word, offset)]
        )
        return build.load(build.bitcast(place, llvm_type.as_pointer()))

    def address(symbol: str) -> CompilerObject:
        slot = build.module.globals.get(symbol) or cgutils.add_global_variable(
            build.module, word, symbol
        )
        return build.load(slot)

    def entries(offset: int) -> list[CompilerObject]:
        first = read(offset, word.as_pointer())
        return [build.load(build.gep(first, [ir.Constant(word, i)])) for i in range(kind.ndim)]

    array = c.context.make_array(kind)(c.context, build)
    fits = cgutils.alloca_once_value(build, cgutils.false_bit)
    with build.if_then(
        build.icmp_unsigned("==", read(_CLASS, word), address(_NDARRAY)), likely=True
    ):
        same = build.icmp_unsigned("==", read(_DTYPE, word), address(_DTYPES[kind.dtype]))
        same = build.and_(
            same, build.icmp_signed("==", read(_NDIM, number), ir.Constant(number, kind.ndim))
        )
        flags = build.and_(read(_FLAGS, number), ir.Constant(number, _CARRAY))
        same = build.and_(same, build.icmp_signed("==", flags, ir.Constant(number, _CARRAY)))
        with build.if_then(same, likely=True):
            shape, size = entries(_DIMS), ir.Constant(word, 1)
            for n in shape:
                size = build.mul(size, n)
            array.data = build.bitcast(read(_DATA, ir.IntType(8).as_pointer()), array.data.type)
            array.nitems, array.itemsize = size, ir.Constant(word, 8)
            array.shape, array.strides = (
                cgutils.pack_array(build, shape),
                cgutils.pack_array(build, entries(_STRIDES)),
            )
            array.meminfo = cgutils.get_null_value(array.meminfo.type)
            array.parent = cgutils.get_null_value(array.parent.type)
            build.store(cgutils.true_bit, fits)
    failed = build.not_(build.load(fits))
    with build.if_then(failed, likely=False):
        c.pyapi.err_set_string(
            "PyExc_TypeError", f"expected a C-contiguous, writeable {kind.dtype} array"
        )
    return NativeValue(array._getvalue(), is_error=failed)


def _plain(kind: CompilerObject) -> CompilerObject:
    return types.Array(kind.dtype, kind.ndim, "C") if isinstance(kind, Exact) else kind


@intrinsic  # type: ignore[untyped-decorator]
def _plain_arrays(context: CompilerObject, arguments: CompilerObject) -> CompilerObject:
    """The same arguments with arrays as kernels know them: another name for their type."""
    plain = types.Tuple(tuple(_plain(kind) for kind in arguments))  # type: ignore[attr-defined]

    def generate(
        context: CompilerObject,
        build: CompilerObject,
        signature: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        return context.make_tuple(build, plain, cgutils.unpack_tuple(build, values[0]))

    return plain(arguments), generate


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
def enter(function: Callable[..., int], *arguments: CompilerObject) -> int:
    """What an entry_point does: call the kernel, with the GIL given up where the call is long."""
    state = _release(arguments[0].shape[0] >= LONG)
    result = function(*_plain_arrays(arguments))
    _restore(state)
    return result


class FastCall:
    """Hands what a public function was given to a kernel; only what it turns away is checked.

    Parameters
    ----------
    kernel : compiled function
        Its first argument is a table with one row per link.
    entry_point : compiled function
        Hands its arguments to `enter` with the kernel; compiled for the types of the first call of
        the kernel.

    Notes
    -----
    `call` takes no other types than those: a list or an array of integers ends in TypeError.
    """

    __slots__ = ("_entry", "_kernel", "call")

    def __init__(self, kernel: Callable[..., int], entry_point: Callable[..., int]) -> None:
        self._kernel: CompilerObject = kernel
        self._entry: CompilerObject = entry_point
        self.call: Callable[..., int] = self._closed

    @staticmethod
    def _closed(*arguments: object) -> int:
        raise TypeError("not compiled yet, or not compiled at all: arguments must be checked first")

    def checked_call(self, *arguments: object) -> int:
        """Call with arguments known to fit; from then on `call` is open."""
        result: int = self._kernel(*arguments)
        if COMPILED and self.call is self._closed:
            self._open()
        return result

    def _open(self) -> None:
        (arguments,) = self._kernel.nopython_signatures
        kinds = tuple(
            Exact(k.dtype, k.ndim) if isinstance(k, types.Array) else k for k in arguments.args
        )
        self._entry.compile(kinds)
        self.call = self._entry.overloads[kinds].entry_point
