"""The contact problem that every formulation starts from, and that can be stored and replayed."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from spatialops._arrays import Array
from spatialops._files import load_arrays, save_arrays


@dataclass(frozen=True, eq=False)
class ContactProblem:
    """Contacts of one instant or one step, reduced to what they see of the mechanism.

    Find impulses p in their friction cones so that u = W p + v satisfies unilateral contact and friction.

    Attributes
    ----------
    compliance : (3 m, 3 m) array
        W = G M^-1 G^T along the frames (normal, tangent, tangent), 1/kg.
    velocities : (m, 3) array
        v: velocities of A against B along the frames without the contacts' impulses (a positive gap divided by the step
        added to the normal ones), m/s.
    friction : (m,) array
        Coefficients mu.
    offset : (m,) array
        Normal impulse that already presses (decompression), N s.
    phase : str
        "contact", "compression" or "decompression".
    """

    compliance: Array
    velocities: Array
    friction: Array
    offset: Array
    phase: str = "contact"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the problem to one .npz file, whole or not at all; AssetError if it cannot be written."""
        return save_arrays(path, {item.name: np.asarray(getattr(self, item.name)) for item in fields(self)})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ContactProblem:
        """Read a problem that `save` wrote.

        Raises
        ------
        AssetError
            If the file is missing or not such a problem.
        """
        arrays = load_arrays(path, "contact problem", tuple(item.name for item in fields(cls)))
        return cls(**{**arrays, "phase": str(arrays["phase"])})  # type: ignore[arg-type]
