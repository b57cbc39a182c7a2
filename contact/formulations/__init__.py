"""Formulations of the contact problem: `assemble` makes a MixedLCP, `recover` reads it off.

The progression of [J]: maximal coordinates (NMC), minimal ones (MC), reduced (RMC), operational
space (OS); beside it OS on maximal coordinates (NMC/OS) and Trinkle's hybrid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from spatialops.contact.formulations.formulation import Formulation
from spatialops.contact.formulations.mc import MinimalCoordinates
from spatialops.contact.formulations.nmc import NonMinimalCoordinates
from spatialops.contact.formulations.nmc_os import NonMinimalOperationalSpace
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.contact.formulations.rmc import ReducedMinimalCoordinates
from spatialops.contact.formulations.trinkle import Trinkle
from spatialops.errors import ArgumentError

FORMULATIONS: dict[str, Callable[[int], Formulation]] = {
    "nmc": NonMinimalCoordinates,
    "mc": MinimalCoordinates,
    "rmc": ReducedMinimalCoordinates,
    "os": OperationalSpace,
    "nmc/os": NonMinimalOperationalSpace,
    "trinkle": Trinkle,
}


def check_formulation(formulation: object, n_f: int = 4) -> Formulation:
    """The formulation that a name stands for, or the object itself.

    Parameters
    ----------
    formulation : str or Formulation
        One of `FORMULATIONS`, in any case, or an object with `assemble` and `recover`.
    n_f : int, optional
        Directions of friction of one that is named: even. Default: 4.

    Returns
    -------
    Formulation
        With `n_f` directions where it was named.

    Raises
    ------
    ArgumentError
        For anything else, a formulation's class included.

    Examples
    --------
    >>> from spatialops.contact import check_formulation
    >>> check_formulation("os", 8)
    OperationalSpace(n_f=8)
    """
    if isinstance(formulation, str) and formulation.lower() in FORMULATIONS:
        return FORMULATIONS[formulation.lower()](n_f)
    if isinstance(formulation, (str, type)) or not (
        hasattr(formulation, "assemble") and hasattr(formulation, "recover")
    ):
        names = ", ".join(repr(name) for name in FORMULATIONS)
        raise ArgumentError(
            f"formulation: expected one of {names} or an object such as OperationalSpace(), got "
            f"{formulation!r}"
        )
    return cast(Formulation, formulation)
