"""What people and controllers put into a step: joint forces, controls, wrenches."""

from __future__ import annotations

from typing import NamedTuple

from spatialops._arrays import Array, ArrayLike
from spatialops.forces.external import ExternalWrenches


class Command(NamedTuple):
    """What a controller asks for.

    Parameters
    ----------
    tau : (nv,) array_like, optional
        Joint forces, N m or N. Default zero.
    ctrl : (n_actuators,) array_like, optional
        Controls of the scene's actuators. Default: as the run has them.

    Examples
    --------
    >>> import spatialops as so
    >>> so.Command(ctrl=[0.5]).tau is None
    True
    """

    tau: ArrayLike | None = None
    ctrl: ArrayLike | None = None


class Inputs(NamedTuple):
    """The same, checked and cut, with what acts on bodies from outside."""

    tau: Array
    ctrl: Array
    external: ExternalWrenches | None = None
