"""Principal pivoting from the rows that pushed last, and from none where that fails."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined
from spatialops.algebra.memory import matrix
from spatialops.contact.laws.pivoting import pivot_kernel


@inlined
def pivot_from(
    L: Array,
    u: Array,
    sizes: tuple[Array, float, float],
    most: int,
    active: IntArray,
    p: Array,
    scratch: Array,
    ints: IntArray,
) -> int:
    """Impulses p as of `laws.pivoting.pivot_alone`; pivots, -1 where there is no answer.

    `active` has how many rows to begin with, and which; then those that push. `most` pivots are
    allowed for each row and column.
    """
    count, columns = L.shape
    limit = most * (count + columns) + 100
    room = matrix(scratch, 0, 2 * columns + 5, columns)
    rows = ints[:columns]
    begin = active[1 : 1 + active[0]]
    clear(room, p)
    status, _, pivots = pivot_kernel(L, u, sizes, begin, limit, p, room, rows)
    if status != 0 and begin.size > 0:
        clear(room, p)
        status, _, more = pivot_kernel(L, u, sizes, active[1:1], limit, p, room, rows)
        pivots += more
    active[0] = 0
    if status != 0:
        return -1
    for i in range(count):  # in their order, as the next one begins
        if p[i] > 0.0:
            active[1 + active[0]] = i
            active[0] += 1
    return pivots


@inlined
def clear(room: Array, p: Array) -> None:
    for i in range(room.shape[0]):
        for j in range(room.shape[1]):
            room[i, j] = 0.0
    for i in range(p.size):
        p[i] = 0.0
