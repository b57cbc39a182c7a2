"""Make the library of kernels that a wheel brings: ``python -m tools.machine_code``.

All kernels of `spatialops precompile` are compiled for one level of instruction sets. What LLVM has
made of each is turned into position-independent code, in which only the kernel itself can be seen
from outside, and everything is linked once. Kernels apart are found by their callers in places that
the linker fills, by their names.
`spatialops/_compile/shipped_code.py` loads the library. Needs `cc`.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numba
from llvmlite import binding
from numba.core.registry import cpu_target

from spatialops._compile import shipped_code
from spatialops._compile.apart import PLACE
from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.kept_code import SUFFIX, KeptCode
from spatialops._compile.sealed import digest_of, seal, unsealed
from spatialops._compile.shipped_code import C_WRAPPER, ENVIRONMENT, HELPERS, WRAPPER, Entry, Index

LEVEL = {"NUMBA_CPU_NAME": shipped_code.LEVEL, "NUMBA_CPU_FEATURES": ""}


class Kept(NamedTuple):
    """A kernel as it was kept: what LLVM has made of it, and what Numba knows."""

    bitcode: bytes
    descriptor: CompilerObject
    signature: CompilerObject
    function: CompilerObject


def main() -> None:
    """Compile and link in a process of its own, which Numba is told the level in."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("build/machine_code"))
    parser.add_argument("--out", type=Path, default=shipped_code.FOLDER)
    given = parser.parse_args()
    work = given.work.resolve()
    if os.environ.get("NUMBA_CPU_NAME") != LEVEL["NUMBA_CPU_NAME"]:
        cache = {"SPATIALOPS_CACHE_DIR": str(work)}
        again = [sys.executable, "-m", "tools.machine_code", *sys.argv[1:]]
        done = subprocess.run(again, env={**os.environ, **LEVEL, **cache}, check=False)
        sys.exit(done.returncode)
    _build(work, given.out.resolve())


def _build(work: Path, out: Path) -> None:
    from spatialops._compile.cache import cache_directory
    from spatialops.precompile import precompile

    precompile(force=True)
    folder = cache_directory()
    if folder is None:
        raise SystemExit(f"{work} cannot be written, or others may write to it")
    index = pack(folder, work / "objects", out)
    size = (out / shipped_code.LIBRARY).stat().st_size
    print(f"{len(index.entries)} kernels, {size / 1e6:.1f} MB in {out}")


def pack(folder: Path, objects: Path, out: Path) -> Index:
    """Make a library of all that a cache has of the sources as they are.

    Parameters
    ----------
    folder : Path
        The cache.
    objects : Path
        Folder for what is linked.
    out : Path
        Folder for the library and its index.

    Returns
    -------
    Index
        What the library has.
    """
    cpu_target.target_context.refresh()
    objects.mkdir(parents=True, exist_ok=True)
    out.mkdir(parents=True, exist_ok=True)
    machine = _machine()
    entries: dict[str, Entry] = {}
    helpers: set[str] = set()
    places: set[str] = set()
    files: list[Path] = []
    for kept in sorted(_kept(folder), key=_name):
        symbol = _free_symbol(kept, entries)
        module = _alone(kept, symbol, machine)
        needed = (item.name for item in module.functions if item.is_declaration)
        helpers.update(name for name in needed if name.startswith("numba_"))
        places.update(item.name for item in module.global_variables if item.name.endswith(PLACE))
        files.append(objects / f"{len(files)}.o")
        files[-1].write_bytes(machine.emit_object(module))
        entries[_name(kept)] = Entry(symbol, kept.signature.return_type)
    apart = [entry.symbol for entry in entries.values() if entry.symbol + PLACE in places]
    if missing := sorted(places - {symbol + PLACE for symbol in apart}):
        raise SystemExit(f"called, but not compiled: {', '.join(missing)}")
    files.append(_table(objects, sorted(helpers), apart))
    _link(files, out / shipped_code.LIBRARY)
    library = digest_of(out / shipped_code.LIBRARY)
    index = Index(shipped_code.circumstances(), library, sorted(helpers), entries)
    (out / shipped_code.INDEX).write_bytes(seal(pickle.dumps(index)))
    return index


def _kept(folder: Path) -> Iterator[Kept]:
    """What the sources of today have been compiled to, of all that lies in a cache."""
    codegen = cpu_target.target_context.codegen()
    for path in folder.glob(f"*{SUFFIX}"):
        content = unsealed(path)
        if content is None:
            continue
        (_, _, (_, bitcode)), descriptor, environment, signature, *_, others = pickle.loads(content)
        kernel = _kernel(descriptor.modname, descriptor.qualname)
        if not isinstance(cache := getattr(kernel, "_cache", None), KeptCode):
            continue
        if cache.path(signature, codegen) != path or not _is_reached(kernel, descriptor, signature):
            continue  # of sources as they were
        if any(item.consts for item in (environment, *others)):
            raise SystemExit(f"{descriptor.qualname} needs Python objects: it cannot be shipped")
        yield Kept(bitcode, descriptor, signature, kernel.py_func)


def _is_reached(
    kernel: CompilerObject, descriptor: CompilerObject, signature: CompilerObject
) -> bool:
    """Whether a kernel is reached with arguments of these types today.

    Kernels apart are reached by name, as `precompile` has compiled them in this process: what a
    cache has of tables as they were would be taken for it.
    """
    found = _named(descriptor.modname, descriptor.qualname)
    if getattr(found, "stage", None) is None or not kernel.overloads:
        return True
    return signature.args in kernel.overloads


def _named(module: str, name: str) -> CompilerObject:
    return getattr(importlib.import_module(module), name, None)


def _kernel(module: str, name: str) -> CompilerObject:
    """The compiled function of a name, behind whatever stands before it."""
    found = _named(module, name)
    found = getattr(found, "stage", found)
    return getattr(found, "kernel", getattr(found, "_kernel", found))


def _name(kept: Kept) -> str:
    return shipped_code.name(kept.function, kept.signature.args)


def _free_symbol(kept: Kept, entries: dict[str, Entry]) -> str:
    """Module and name, by which stages are called; with a number where there are several."""
    plain = f"{kept.descriptor.modname}.{kept.descriptor.qualname}"
    number = sum(entry.symbol.partition("#")[0] == plain for entry in entries.values())
    return f"{plain}#{number}" if number else plain


def _alone(kept: Kept, symbol: str, machine: CompilerObject) -> CompilerObject:
    """A kernel's module, of which only its own symbols can be seen, without what is unused."""
    module = binding.parse_bitcode(kept.bitcode)
    environment = cpu_target.target_context.get_env_name(kept.descriptor)
    shown = {
        kept.descriptor.llvm_func_name: symbol,
        kept.descriptor.llvm_cpython_wrapper_name: symbol + WRAPPER,
        kept.descriptor.llvm_cfunc_wrapper_name: C_WRAPPER + symbol,
        environment: symbol + ENVIRONMENT,
    }
    for item in (*module.functions, *module.global_variables):
        if item.name in shown:
            item.linkage = "external"
            item.name = shown[item.name]
        elif not item.is_declaration:
            item.linkage = "internal"
    passes = binding.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, binding.create_pass_builder(machine, binding.PipelineTuningOptions()))
    return module


def _machine() -> CompilerObject:
    """What makes code for the processor that Numba compiles for, wherever a linker may put it."""
    triple, processor, features = cpu_target.target_context.codegen().magic_tuple()
    target = binding.Target.from_triple(triple)
    return target.create_target_machine(
        cpu=processor, features=features, opt=int(numba.config.OPT), reloc="pic", codemodel="small"
    )


def _table(folder: Path, helpers: list[str], apart: list[str]) -> Path:
    """Jumps to functions of Numba's run-time, through a table that the loader fills; and slots.

    And the places in which kernels find those that are apart.
    """
    jumps = [
        f".globl {name}\n.hidden {name}\n.type {name},@function\n"
        f"{name}: jmp *{HELPERS}+{8 * k}(%rip)"
        for k, name in enumerate(helpers)
    ]
    words = {HELPERS: max(len(helpers), 1)}
    slots = [f".globl {name}\n{name}: .skip {8 * count}" for name, count in words.items()]
    places = [f'.globl "{name}{PLACE}"\n"{name}{PLACE}": .quad "{name}"' for name in apart]
    lines = [".text", *jumps, ".data", ".balign 8", *places, ".bss", ".balign 8", *slots]
    lines.append('.section .note.GNU-stack,"",@progbits')
    source = folder / "table.s"
    source.write_text("\n".join(lines) + "\n")
    made = source.with_suffix(".o")
    subprocess.run(["cc", "-c", source, "-o", made], check=True)
    return made


def _link(files: list[Path], library: Path) -> None:
    options = ["-shared", "-nostartfiles", "-Wl,-Bsymbolic,-z,now,-O1,--strip-all"]
    subprocess.run(["cc", *options, "-o", library, *files, "-lm"], check=True)


if __name__ == "__main__":
    main()
