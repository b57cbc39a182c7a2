"""Contacts of a run that pushed at one instant, from the rows of `Record.contact_records`."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.simulation import _layout as at

_ROUNDING = 1e-6  # of a step: instants are sums of times, and must not fall into the step before


def acting_together(contact_records: Array, dt: float) -> tuple[Array, IntArray]:
    """Instants (s, just within their steps) at which contacts pushed, and how many at each."""
    pushing = contact_records[np.any(contact_records[:, at.RECORD_IMPULSE :] != 0.0, axis=1)]
    if not len(pushing):
        return np.zeros(0), np.zeros(0, dtype=np.int64)
    names = pushing[:, [at.RECORD_TIME, at.RECORD_KIND]]
    starts = np.flatnonzero(np.any(np.diff(names, axis=0, prepend=np.nan) != 0.0, axis=1))
    counts = np.diff(np.append(starts, len(pushing)))
    return pushing[starts, at.RECORD_TIME] + _ROUNDING * dt, counts
