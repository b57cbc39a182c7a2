"""How far a step may go so that nothing is passed unseen: through a thin body, or past a corner of one.

A pair that is d apart and approaches at most at speed s does not touch before d / s (B. Mirtich, *Timewarp rigid body
simulation*, SIGGRAPH 2000). Steps may go half of a pair's least width further: what has arrived then is still seen at
their end. What came and left again within a step is suspected from gaps and their rates at both ends, by the cubic
through them.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops.simulation.event_sight import HASTE, Contacts, Sight

Ends = tuple[tuple[float, float], tuple[float, float]]


class Passing:
    """Bounds of the steps from one state; pairs in `closed` have contacts already."""

    def __init__(self, sight: Sight, q: Array, v: Array, closed: set[int]) -> None:
        self.sight, self.q, self.v, self.closed = sight, q, v, closed
        self._gaps, self._speeds = sight.far(q, v, closed)
        apart = np.where(np.isfinite(self._gaps), np.maximum(self._gaps, 0.0), 0.0)
        self._reach = apart + 0.5 * sight.widths

    def longest(self, speeds: Array | None = None) -> float:
        """Longest safe step, s, at the speeds here or at others (of all pairs)."""
        speeds = self._speeds if speeds is None else speeds
        moving = speeds > 0.0
        return float(np.min(self._reach[moving] / (HASTE * speeds[moving]), initial=np.inf))

    def speeds_at(self, q: Array, v: Array) -> Array:
        """The same speeds at another state."""
        return self.sight.far(q, v, set(range(len(self._gaps))))[1]

    def suspicion(self, q: Array, v: Array, h: float, speeds: Array) -> float | None:
        """Fraction of a step of h to the state (q, v) at which a pair may have been touching; None where none can."""
        travel = HASTE * h * np.maximum(self._speeds, speeds)
        near = np.isfinite(self._gaps) & (self._gaps < travel)
        if not near.any():
            return None
        limit = float(travel[near].max())
        before, after = (_lowest(self.sight.look(*state, limit)) for state in ((self.q, self.v), (q, v)))
        for pair in np.flatnonzero(near).tolist():
            if pair in before and pair in after:
                x = _dip((before[pair], after[pair]), h)
                if x is not None:
                    return x
        return None


def _lowest(contacts: Contacts) -> dict[int, tuple[float, float]]:
    """Gap and its rate of the nearest contact of each pair."""
    found: dict[int, tuple[float, float]] = {}
    for key, gap, rate in zip(contacts.keys, contacts.gaps, contacts.velocities[:, 0]):
        if key[0] not in found or gap < found[key[0]][0]:
            found[key[0]] = float(gap), float(rate)
    return found


def _dip(ends: Ends, h: float) -> float | None:
    """Where the cubic through two gaps and rates has come down to a tenth of the lower one, as a fraction; or None."""
    (g0, u0), (g1, u1) = ends
    if not (u0 < 0.0 < u1 and g0 > 0.0 and g1 > 0.0):
        return None
    a, b = h * u0, h * u1
    x = np.linspace(0.0, 1.0, 33)[1:-1]
    gaps = g0 * (1 + 2 * x) * (1 - x) ** 2 + a * x * (1 - x) ** 2 + g1 * x**2 * (3 - 2 * x) + b * x**2 * (x - 1)
    lowest = int(np.argmin(gaps))
    return float(x[lowest]) if gaps[lowest] < 0.1 * min(g0, g1) else None
