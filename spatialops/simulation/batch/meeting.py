"""Threads that end work together hear of each other at once, if they end at about one time.

Who sleeps until another is done takes 15 us to wake, and twice that where the other still has the
interpreter by then. So who is done first stays awake for as long, and leaves the interpreter to
others.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from spatialops._arrays import IntArray
from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.jit import kernel

_WORD = ir.IntType(64)
_BYTES = 8

# Looks, of some nanoseconds each:
_PATIENCE = 4_000  # as long as waking takes
_RETREAT = 400  # until who has said that it is done waits in its queue


@intrinsic  # type: ignore[untyped-decorator]
def _seen(context: CompilerObject, address: CompilerObject) -> CompilerObject:
    """The word at an address as it is by now, after a fence, which takes some nanoseconds."""

    def generate(
        context: CompilerObject,
        build: CompilerObject,
        signature: CompilerObject,
        values: CompilerObject,
    ) -> CompilerObject:
        build.fence("seq_cst")
        place = build.inttoptr(values[0], _WORD.as_pointer())
        return build.load_atomic(place, "acquire", _BYTES)

    return types.int64(types.int64), generate


@kernel
def await_done(done: IntArray, count: int) -> None:
    """Wait until `done[0]` has been `count` for a moment, not for long."""
    address = done.ctypes.data
    since = 0
    for _ in range(_PATIENCE):
        if _seen(address) >= count:
            since += 1
            if since == _RETREAT:
                return
