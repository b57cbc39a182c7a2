"""What holds between two geoms: their coefficients, mixed as they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.collision.shapes import Geom

_LEAST = {"friction": 3, "torsion": 4, "rolling": 6}  # condim that lets a coefficient act


class PairCoefficients(NamedTuple):
    """Coefficients of n pairs of geoms.

    Attributes
    ----------
    friction, restitution : (n,) arrays
    torsion, rolling : (n,) arrays
        m.
    """

    friction: Array
    restitution: Array
    torsion: Array
    rolling: Array


def pair_coefficients(geoms: Sequence[Geom], pairs: IntArray) -> PairCoefficients:
    """Coefficients of pairs (n, 2) of geoms, by their `mixing`, `priority` and `condim`.

    References
    ----------
    E. Todorov et al., *MuJoCo documentation*, "Contact parameters": the element-wise maximum, or
    those of the geom of higher priority; the larger condim.
    """

    def sides(name: str) -> tuple[Array, Array]:
        values = np.array([getattr(geom, name) for geom in geoms], dtype=np.float64)
        return values[pairs[:, 0]], values[pairs[:, 1]]

    larger = np.array([geom.mixing == "maximum" for geom in geoms], dtype=bool)[pairs].any(axis=1)
    first, second = sides("priority")
    condims = sides("condim")
    condim = np.where(first == second, np.maximum(*condims), np.where(first > second, *condims))
    found = {}
    for name, least in _LEAST.items():
        a, b = sides(name)
        mixed = np.where(larger, np.maximum(a, b), np.sqrt(a * b))
        chosen = np.where(first == second, mixed, np.where(first > second, a, b))
        found[name] = np.where(condim >= least, chosen, 0.0)
    a, b = sides("restitution")
    return PairCoefficients(restitution=np.sqrt(a * b), **found)
