"""Rows of closures in a motion from event to event, and how they change.

They are held along all axes, as those of a contact that sticks. With G a + Gdot v the rows'
accelerations, d(G v) / dq is their derivative at rest for a = v, and d(G* e) / dq that of the
forces of a unit multiplier (`derivatives/constrained_dynamics.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.derivatives.constrained_dynamics import closure_changes
from spatialops.dynamics.loops.closure_factors import Span
from spatialops.dynamics.loops.constrained_dynamics import loop_jacobian


class HeldClosures(NamedTuple):
    """Rows of all closures.

    Attributes
    ----------
    G, by_q : (rows, nv) arrays
        Of their rates by velocities and by coordinates.
    bends : (rows, nv, nv) array
        Changes of each row of G.
    """

    G: Array
    by_q: Array
    bends: Array
    sticks: bool = True

    def held(self) -> tuple[Array, Array]:
        """Rows H and h_q."""
        return self.G, self.by_q

    def pushes(self) -> Array:
        """Directions that they push along, of their own rows."""
        return np.eye(len(self.G))

    @property
    def gap(self) -> Array:
        """What they leave closed changes by."""
        return self.G


def held_closures(span: Span, q: Array, v: Array) -> HeldClosures:
    """At a state."""
    span.place(q)
    still, units = np.zeros(len(v)), np.eye(span.loops.n_rows)
    by_q = closure_changes(span, q, still, v, units[0])[1]
    bends = np.array([closure_changes(span, q, still, v, unit)[0] for unit in units])
    return HeldClosures(loop_jacobian(span.model, span.loops, q), by_q, bends)
