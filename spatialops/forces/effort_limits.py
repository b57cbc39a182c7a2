"""Joint forces as they are given: checked, cut to the effort limits, and cuts counted."""

from __future__ import annotations

import math

import numpy as np

from spatialops._arrays import Array, ArrayLike, all_finite, vector
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model


class Effort:
    """What becomes of joint forces.

    Attributes
    ----------
    clipped : (nv,) int array
        How often each was cut since `forget`.
    harmless : float
        Sum of squares up to which no forces are cut; -1 where that is not known.
    """

    def __init__(self, model: Model, clip: bool) -> None:
        self.limit = model.effort_limit if clip else np.full(model.nv, np.inf)
        self._least = -self.limit
        self.clipped = np.zeros(model.nv, dtype=np.int64)
        self._limited = bool(np.isfinite(self.limit).any())
        least = float(np.min(self.limit, initial=np.inf))
        self.harmless = least * least  # a power would raise where it overflows
        if self._limited and not np.isfinite(self.harmless):
            self.harmless = -1.0

    def __call__(self, tau: ArrayLike | None) -> Array:
        """The forces (nv,) that act, counting what is cut.

        Raises
        ------
        ArgumentError
            For a wrong shape, NaN or infinity.
        """
        forces = self.checked(tau)
        if not self._limited:
            return forces.copy()
        cut = self.within(forces)
        self.clipped += cut != forces
        return cut

    def cut(self, tau: ArrayLike | None) -> Array:
        """The forces (nv,) that would act."""
        return self.within(self.checked(tau))

    def within(self, forces: Array) -> Array:
        """Checked forces, cut: the same array where nothing can be."""
        if not self._limited or forces.dot(forces) <= self.harmless:
            return forces
        return np.minimum(np.maximum(forces, self._least), self.limit)  # a third of `clip`'s time

    def forget(self) -> None:
        """Count from here."""
        self.clipped[:] = 0

    def checked(self, tau: ArrayLike | None) -> Array:
        """Forces (nv,) that are finite: zeros where none are given."""
        if tau is None:
            return np.zeros(len(self.limit))
        forces = vector(tau, len(self.limit), "tau")
        if not math.isfinite(forces.dot(forces)) and not all_finite(forces):
            raise ArgumentError("tau: must be finite, got NaN or infinity")
        return forces
