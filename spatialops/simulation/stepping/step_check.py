"""The certificate of a step: what was measured on the way, against limits."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.certificate import Certificate
from spatialops.errors import ContactError
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.contact_names import Names
from spatialops.simulation.stepping.tables import Tables

if TYPE_CHECKING:
    from spatialops.simulation.options import Certify

_CERTIFIED = 1e-8  # residual that certificates must reach
_GAIN = 1e-9  # of the kinetic energy that an impact may add


class Limits(NamedTuple):
    """What the certificate allows: residuals relative to the problem's scale, m, m or rad."""

    residual: float
    depth: float
    opening: float

    def watched(self, certify: Certify, spin: float) -> Array:
        """The same as steps are watched for them, and for a body's spin above `spin` rad/s."""
        limits = np.full(at.LIMITS, np.inf)
        if certify != "off":
            limits[at.MOST_RESIDUAL] = self.residual
            limits[at.MOST_DEPTH] = self.depth
            limits[at.MOST_OPENING] = self.opening
            limits[at.MOST_GAIN] = _GAIN
        limits[at.MOST_SPIN] = spin
        return limits


class Findings(NamedTuple):
    """What was measured; `gain` is the largest of kinetic energy in an impact, relative."""

    residual: float
    gain: float
    depth: float
    opening: float
    certificate: Certificate | None

    def within(self, limits: Limits) -> bool:
        """Whether nothing is beyond its limit (NaN is)."""
        return (
            self.residual <= limits.residual
            and self.gain <= _GAIN
            and self.depth <= limits.depth
            and self.opening <= limits.opening
            and (self.certificate is None or self.certificate.residual <= _CERTIFIED)
        )


def findings(t: Tables, certificate: Certificate | None) -> Findings:
    """What the loop's monitors saw since the last row (`rows` still hold the earlier ones).

    The gain of energy is forgotten.
    """
    rows = t.rows[: t.control[at.ROWS]]
    gain, t.monitor[at.GAIN] = float(t.monitor[at.GAIN]), 0.0
    return Findings(
        residual=_largest(rows[:, at.ROW_RESIDUAL], t.monitor[at.RESIDUAL]),
        gain=gain,
        depth=_largest(-rows[:, at.ROW_GAP], -t.monitor[at.LOWEST_GAP]),
        opening=_largest(rows[:, at.ROW_OPENING], t.monitor[at.OPENING]),
        certificate=certificate,
    )


def _largest(rows: Array, since: float) -> float:
    """Largest of what rows and a monitor say, at least zero; NaN if any of it is."""
    return float(np.maximum(rows.max(initial=0.0), since))


def check(
    found: Findings, limits: Limits, time: float, certify: Certify, names: Callable[[], Names]
) -> None:
    """Raise or warn where a limit is passed, as `certify` says; `names` tells of which geoms.

    Raises
    ------
    ContactError
        With "raise" and "full".
    """
    if certify == "off" or found.within(limits):
        return
    faults = "; ".join(_faults(found, limits, names()))
    text = f"certificate failed by t = {time:.6g} s: {faults}"
    if certify in ("raise", "full"):
        raise ContactError(text)
    warnings.warn(text, stacklevel=level_of_caller())


def level_of_caller() -> int:
    """How far up the first function outside of this package is, for warnings."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("spatialops."):
        level, frame = level + 1, frame.f_back
    return level


def _faults(found: Findings, limits: Limits, names: Names) -> list[str]:
    """What is wrong, in words."""
    acting = f" at {names.acting}" if names.acting else ""
    deepest = f" of {names.deepest}" if names.deepest else ""
    texts = []
    if not found.residual <= limits.residual:
        texts.append(
            f"complementarity residual {found.residual:.2e}{acting} "
            f"(limit {limits.residual:g} of the problem's scale)"
        )
    if not found.gain <= _GAIN:
        texts.append(
            f"an impact{acting} raised the kinetic energy by {found.gain:.2e} of it "
            f"(limit {_GAIN:g})"
        )
    if not found.depth <= limits.depth:
        limit = f"limit {limits.depth:g} m, or rad of a stop"
        texts.append(f"penetration {found.depth:.2e} m{deepest} ({limit})")
    if not found.opening <= limits.opening:
        texts.append(f"a loop opened by {found.opening:.2e} m or rad (limit {limits.opening:g})")
    certificate = found.certificate
    if certificate is not None and not certificate.residual <= _CERTIFIED:
        texts.append(f"{certificate}{acting} (limit {_CERTIFIED:g})")
    return texts
