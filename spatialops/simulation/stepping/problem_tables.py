"""The loop's tables as the contact solver takes them."""

from __future__ import annotations

from spatialops._compile.jit import merged
from spatialops.contact.newton.islands import Buffers
from spatialops.contact.newton.rows import ContactRows
from spatialops.contact.rows import SparseRows
from spatialops.simulation.stepping.tables import Tables


@merged
def rows_of(t: Tables, m: int) -> ContactRows:
    """The prepared problem of m contacts."""
    L = SparseRows(t.entries, t.places[:m])
    prior, dry = t.prior[:m], t.dry[:m]
    return ContactRows(L, t.trees, t.u[: 3 * m], t.friction[:m], prior, dry, t.facets)


@merged
def buffers_of(t: Tables) -> Buffers:
    """What it is solved in."""
    return Buffers(
        t.newton_ints,
        t.newton_floats,
        t.island_ints,
        t.island_floats,
        t.block_ints,
        t.block_floats,
    )
