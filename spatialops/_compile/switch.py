"""One function in front of another that may be exchanged, while its own address stays.

Built-in functions are the same, and hash the same, by the address of their code.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import sys

from llvmlite import binding

from spatialops._compile.compiler_object import CompilerObject

_LOAD = b"\x48\xb8"  # mov rax, what follows
_JUMP = b"\xff\x20"  # jmp [rax]
_MACHINES = ("x86_64", "AMD64")


class Switch:
    """A function that goes on to another one.

    Parameters
    ----------
    function : int
        Address of a `PyCFunctionFastWithKeywords`.

    Attributes
    ----------
    address : int
        Of the function, a `PyCFunctionFastWithKeywords`.
    """

    def __init__(self, function: int) -> None:
        self._to = ctypes.c_void_p(function)
        word = ctypes.addressof(self._to)
        self._code: CompilerObject = _written(word) or _compiled(word)
        self.address: int = self._code[1]

    def turn(self, function: int) -> None:
        """Calls go to this function from now on."""
        self._to.value = function


def _written(word: int) -> CompilerObject:
    """Memory with the two instructions that it takes, and its address; None where it cannot be.

    LLVM would need 16 MB to say them.
    """
    if platform.machine() not in _MACHINES or not sys.platform.startswith("linux"):
        return None
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    page.write(_LOAD + word.to_bytes(8, "little") + _JUMP)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    if protect(address, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_EXEC) != 0:
        return None
    return page, address


def _compiled(word: int) -> CompilerObject:
    """The same by LLVM, on any processor: its engine, and the address of the code."""
    code = f"""
        define i64 @switch(i64 %owner, i64 %args, i64 %given, i64 %names) {{
            %place = inttoptr i64 {word} to ptr
            %found = load atomic ptr, ptr %place unordered, align 8
            %result = tail call i64 %found(i64 %owner, i64 %args, i64 %given, i64 %names)
            ret i64 %result
        }}"""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(code), machine)
    engine.finalize_object()
    return engine, engine.get_function_address("switch")
