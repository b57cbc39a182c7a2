"""The certificate of a step: what the loop's monitors saw, against limits."""

from __future__ import annotations

import warnings

from spatialops.contact.certificate import Certificate
from spatialops.errors import ContactError
from spatialops.simulation import _layout as at
from spatialops.simulation.tables import Tables

_CERTIFIED = 1e-8  # residual that certificates must reach


def faults(t: Tables, depth_limit: float, loop_limit: float, certificate: Certificate | None) -> list[str]:
    """What is wrong since the last row (`rows` still hold the earlier ones); the gain of energy is forgotten."""
    rows = t.rows[: t.control[at.ROWS]]
    worst = max(float(rows[:, at.ROW_RESIDUAL].max(initial=0.0)), float(t.monitor[at.RESIDUAL]))
    depth = -min(float(rows[:, at.ROW_GAP].min(initial=0.0)), float(t.monitor[at.LOWEST_GAP]))
    opening = max(float(rows[:, at.ROW_OPENING].max(initial=0.0)), float(t.monitor[at.OPENING]))
    gain, t.monitor[at.GAIN] = float(t.monitor[at.GAIN]), 0.0
    found = []
    if not worst <= 1e-9:
        found.append(f"complementarity residual {worst:.2e} (limit 1e-9 of the problem's scale)")
    if not gain <= 1e-9:
        found.append(f"an impact raised the kinetic energy by {gain:.2e} of it (limit 1e-9)")
    if not depth <= depth_limit:
        found.append(f"penetration {depth:.2e} m (limit {depth_limit:g} m)")
    if not opening <= loop_limit:
        found.append(f"a loop opened by {opening:.2e} m or rad (limit {loop_limit:g})")
    if certificate is not None and not certificate.residual <= _CERTIFIED:
        found.append(f"{certificate} (limit {_CERTIFIED:g})")
    return found


def report(found: list[str], time: float, certify: str) -> None:
    """Raise, or warn, as `certify` says.

    Raises
    ------
    ContactError
        With "raise" and "full".
    """
    text = f"certificate failed by t = {time:.6g} s: " + "; ".join(found)
    if certify in ("raise", "full"):
        raise ContactError(text)
    warnings.warn(text, stacklevel=4)
