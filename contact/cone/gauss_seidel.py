"""Block Gauss-Seidel: contacts solved exactly one after the other, forwards, then backwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops.contact.cone.one_contact import solve_contact
from spatialops.contact.cone.scratch import CONTACT_ROWS, MOST_DIM, Blocks

if TYPE_CHECKING:
    from spatialops.contact.cone.scaled_problem import ScaledProblem


@kernel
def sweep_kernel(
    entries: Blocks,
    b: Array,
    mu: Array,
    starts: IntArray,
    eps: float,
    center: Array,
    count: int,
    r: Array,
    work: Array,
) -> float:
    """`count` sweeps on u = (W + eps 1) r + b - eps center; returns the last change."""
    rows, columns = entries.rows, entries.columns
    blocks = entries.blocks
    m = mu.shape[0]
    dim = starts[starts.size - 1]
    change = 0.0
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


def sweep(
    system: ScaledProblem, r: Array, count: int, eps: float = 0.0, center: Array | None = None
) -> float:
    """Change r in place by `count` sweeps; returns the largest change of the last one."""
    work = np.zeros((CONTACT_ROWS, MOST_DIM))
    anchor = r if center is None else center
    return float(
        sweep_kernel(system.blocks, system.b, system.mu, system.starts, eps, anchor, count, r, work)
    )
