"""Mass and principal moments of a body as MuJoCo's compiler takes them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.inertia import Inertia
from spatialops.algebra.rotation import to_quaternion
from spatialops.errors import ModelError
from spatialops.tree.described import Described

LEAST = 1e-15  # kg and kg m^2: mjMINVAL, which bodies that move must have
_ROUNDING = 1e-12  # of the largest moment
_WXYZ = [3, 0, 1, 2]


class PrincipalMoments(NamedTuple):
    """Mass (kg), centre of mass (m), moments about it (kg m^2) and axes, a quaternion (w, ...)."""

    mass: float
    center: Array
    moments: Array
    axes: Array


def principal_moments(body: Described) -> PrincipalMoments:
    """Those of a body, off by rounding where MuJoCo would refuse it: without mass, or flat.

    Raises
    ------
    ModelError
        For moments that no body has.
    """
    inertia = body.inertia
    if inertia is None:
        inertia = Inertia(LEAST, np.zeros(3), LEAST * np.eye(3))
    moments, axes = np.linalg.eigh(inertia.tensor)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    beyond = max(moments[2] - moments[0] - moments[1], -moments[0])
    if beyond > _ROUNDING * moments[2] + LEAST:
        raise ModelError(
            f"body {body.name!r}: MuJoCo refuses principal moments of inertia "
            f"{', '.join(f'{x:.4g}' for x in moments)} kg m^2: by {beyond:.2g} kg m^2 one is "
            "negative, or larger than the sum of the others, which no body has"
        )
    moments = np.maximum(moments, LEAST)
    moments[2] = min(moments[2], moments[0] + moments[1])
    mass = max(float(inertia.mass), LEAST)
    center = np.asarray(inertia.center, dtype=np.float64)
    return PrincipalMoments(mass, center, moments, to_quaternion(axes)[_WXYZ])
