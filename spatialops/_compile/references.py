"""Tables by their address: kernels hand over one word, and read the arrays that they use.

Numba hands over a tuple of arrays as the numbers that describe them, seven or nine an array:
several hundred of the stepping loop's tables or of the contact solver's scratch, put together anew
in every function that takes them. That is most of what compiling such a function takes.
"""

from __future__ import annotations

from typing import TypeVar

from llvmlite import ir
from numba.core import cgutils
from numba.core import types as numba_types
from numba.core.datamodel import models
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, register_model

from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.jit import COMPILED

Tables = TypeVar("Tables")

types: CompilerObject = numba_types  # their checker does not know all of them

_ADDRESS = ir.PointerType(ir.IntType(8))


class Reference(numba_types.Type):
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
        if name not in table.fields:
            return None
        kind = table[table.fields.index(name)]
        return Reference(kind) if isinstance(kind, types.BaseNamedTuple) else kind


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
    part = _part(builder, whole, table.fields.index(name))
    if isinstance(table[table.fields.index(name)], types.BaseNamedTuple):
        return builder.bitcast(part, _ADDRESS)
    return _loaded(builder, part)


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


def on_stack(builder: CompilerObject, tables: CompilerObject) -> CompilerObject:
    """Put tables on the stack of the function that is written; their address.

    It is what an instruction returns that LLVM knows nothing of, but that it may read all memory:
    so what reads through the address cannot be moved to before the tables are written.
    """
    address = builder.bitcast(cgutils.alloca_once_value(builder, tables), _ADDRESS)
    kind = ir.FunctionType(_ADDRESS, [_ADDRESS])
    return builder.asm(kind, "", "=r,0,~{memory}", [address], side_effect=True)


def _refer(context: CompilerObject, tables: CompilerObject) -> CompilerObject:
    def put(
        context: CompilerObject,
        builder: CompilerObject,
        signature: CompilerObject,
        arguments: CompilerObject,
    ) -> CompilerObject:
        return on_stack(builder, arguments[0])

    return Reference(tables)(tables), put


def refer(tables: Tables) -> Tables:
    """Address of the tables, good until the caller returns."""
    return tables


if COMPILED:
    refer = intrinsic(_refer)
