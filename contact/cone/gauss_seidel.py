"""Block Gauss-Seidel: contacts solved exactly one after the other, forwards and backwards in turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._jit import kernel
from spatialops.contact.cone.local import solve_contact

if TYPE_CHECKING:
    from spatialops.contact.cone.system import System


@kernel
def sweep_kernel(
    rows: IntArray,
    columns: IntArray,
    blocks: Array,
    b: Array,
    mu: Array,
    starts: IntArray,
    eps: float,
    center: Array,
    count: int,
    r: Array,
    work: Array,
) -> float:
    """`count` sweeps on u = (W + eps 1) r + b - eps center; returns the largest change of r in the last one."""
    m, dim, change = mu.shape[0], starts[starts.size - 1], 0.0
    q, old = work[13], work[14]
    for sweep in range(count):
        change = 0.0
        for step in range(m):
            c = step if sweep % 2 == 0 else m - 1 - step
            at, own = c * dim, -1
            for i in range(dim):
                q[i] = b[at + i] - eps * center[at + i]
                old[i] = r[at + i]
            for k in range(rows[c], rows[c + 1]):
                other = columns[k]
                if other == c:
                    own = k
                    continue
                for i in range(dim):
                    for j in range(dim):
                        q[i] += blocks[k, i, j] * r[other * dim + j]
            solve_contact(blocks[own], q, eps, mu, c, starts, r, at, work)
            for i in range(dim):
                change = max(change, abs(r[at + i] - old[i]))
    return change


def sweep(system: System, r: Array, count: int, eps: float = 0.0, center: Array | None = None) -> float:
    """Change r in place by `count` sweeps; returns the largest change of the last one."""
    work = np.zeros((16, 6))
    return float(
        sweep_kernel(
            *system.blocks,
            system.b,
            system.mu,
            system.starts,
            eps,
            r if center is None else center,
            count,
            r,
            work,
        )
    )
