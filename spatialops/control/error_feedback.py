"""Error feedback of joints, compiled: a + kp e + kv de + ki (integral of e)."""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import Array, IntArray
from spatialops._compile.held import held


class Feedback(NamedTuple):
    """Joints that follow, and what is kept of their errors.

    Attributes
    ----------
    places, rows : (n,) int arrays
        Of the joints in q and in v.
    errors, rate_errors : (n,) arrays
        q - q_ref and v - v_ref.
    integral : (n,) array
        Of the errors over time.
    """

    places: IntArray
    rows: IntArray
    errors: Array
    rate_errors: Array
    integral: Array


@held
def feedback(
    kept: Feedback,
    dt: float,
    gains: tuple[float, float, float, float],
    state: tuple[Array, Array],
    reference: tuple[Array, Array, Array],
    demand: Array,
) -> int:
    """Write demanded accelerations (n,); whether the integral goes on."""
    q, v = state
    q_ref, v_ref, a_ref = reference
    position, velocity, integral, windup = gains
    known = True
    for k in range(demand.size):
        kept.errors[k] = q[kept.places[k]] - q_ref[k]
        kept.rate_errors[k] = v[kept.rows[k]] - v_ref[k]
        known = known and math.isfinite(kept.errors[k])
    bounded = integral > 0.0 and windup < math.inf
    most = windup / integral if bounded else math.inf
    for k in range(demand.size):
        if known:  # what is not finite would stay in the integral for ever
            kept.integral[k] += dt * kept.errors[k]
        if bounded:
            kept.integral[k] = min(max(kept.integral[k], -most), most)
        back = position * kept.errors[k] + velocity * kept.rate_errors[k]
        demand[k] = a_ref[k] - back - integral * kept.integral[k]
    return known
