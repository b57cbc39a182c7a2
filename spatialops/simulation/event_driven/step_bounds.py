"""How far a step may go so that nothing passes through a thin body or a corner unnoticed.

A pair that is d apart and approaches at most at speed s does not touch before d / s (B. Mirtich,
*Timewarp rigid body simulation*, SIGGRAPH 2000). Steps may go half of a pair's least width further:
what has arrived then is still found at their end. What came and left again within a step is
suspected from gaps and their rates at both ends, by the cubic through them.
"""

from __future__ import annotations

import math

import numpy as np

from spatialops._arrays import Array
from spatialops.simulation.event_driven.contacts import HASTE, ContactDetector, Contacts

_BEFORE = 1e-3  # of a step
_CLEARS = 0.1  # of the smaller gap at its ends: within a step that keeps so much nothing closes
Ends = tuple[tuple[float, float], tuple[float, float]]


class Passing:
    """Bounds of the steps from one state; pairs in `closed` have contacts already."""

    def __init__(self, detector: ContactDetector, q: Array, v: Array, closed: set[int]) -> None:
        self.detector = detector
        self.q = q
        self.v = v
        self.closed = closed
        self._gaps, self._speeds = detector.far(q, v, closed)
        apart = np.where(np.isfinite(self._gaps), np.maximum(self._gaps, 0.0), 0.0)
        self._reach = apart + 0.5 * detector.widths

    def longest(self, speeds: Array | None = None) -> float:
        """Longest safe step, s, at the speeds here or at others (of all pairs)."""
        speeds = self._speeds if speeds is None else speeds
        moving = speeds > 0.0
        return float(np.min(self._reach[moving] / (HASTE * speeds[moving]), initial=np.inf))

    def speeds_at(self, q: Array, v: Array) -> Array:
        """The same speeds at another state."""
        return self.detector.closing_speeds(q, v)

    def suspicion(self, q: Array, v: Array, h: float, speeds: Array) -> float | None:
        """Fraction of a step of h to (q, v) at which a pair may have touched; None if none can."""
        x = self._of_stops(q, v, h)
        return self._of_pairs(q, v, h, speeds) if x is None else x

    def _of_stops(self, q: Array, v: Array, h: float) -> float | None:
        """The same for stops of joints."""
        stops = self.detector.stops
        before = list(zip(stops.gaps(self.q).tolist(), stops.speeds(self.v).tolist()))
        after = list(zip(stops.gaps(q).tolist(), stops.speeds(v).tolist()))
        for j in range(len(stops)):
            x = dip((before[j], after[j]), h)
            if x is not None and stops.first + j not in self.closed:
                return x
        return None

    def _of_pairs(self, q: Array, v: Array, h: float, speeds: Array) -> float | None:
        travel = HASTE * h * np.maximum(self._speeds, speeds)
        near = np.isfinite(self._gaps) & (self._gaps < travel)
        if not near.any():
            return None
        limit = float(travel[near].max())
        before, after = (
            _lowest(self.detector.detect_at(*state, limit)) for state in ((self.q, self.v), (q, v))
        )
        for pair in np.flatnonzero(near).tolist():
            if pair in before and pair in after:
                x = dip((before[pair], after[pair]), h)
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


def dip(ends: Ends, h: float) -> float | None:
    """Just before where the cubic through two gaps and rates is lowest, as a share of the step.

    None where that is more than a tenth of the lower gap. (At the lowest place itself nothing
    approaches any more.)
    """
    (g0, u0), (g1, u1) = ends
    if not (u0 < 0.0 < u1 and g0 > 0.0 and g1 > 0.0):
        return None
    a, b = h * u0, h * u1
    c, d = 3.0 * (g1 - g0) - 2.0 * a - b, 2.0 * (g0 - g1) + a + b  # g0 + a x + c x^2 + d x^3
    root = math.sqrt(max(c * c - 3.0 * a * d, 0.0))  # a < 0 < b: one lowest place within the step
    x = -a / (c + root) if c + root > 0.0 else (root - c) / (3.0 * d)
    lowest = g0 + x * (a + x * (c + x * d))
    return max(x - _BEFORE, 0.5 * x) if lowest < _CLEARS * min(g0, g1) else None
