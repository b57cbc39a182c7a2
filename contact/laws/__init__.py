"""Laws of contact: one problem, one method, one kind of answer. See docs/laws.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from spatialops.contact.laws.cone import ConeCoulomb
from spatialops.contact.laws.convex import Convex
from spatialops.contact.laws.coulomb import Coulomb
from spatialops.contact.laws.frictionless import Frictionless
from spatialops.contact.laws.law import Law
from spatialops.contact.laws.max_dissipation import MaxDissipation
from spatialops.contact.laws.no_slip import NoSlip
from spatialops.contact.laws.pairwise import Pairwise
from spatialops.contact.laws.viscous import Viscous
from spatialops.errors import ArgumentError

LAWS: dict[str, Callable[[], Law]] = {
    "coulomb": Coulomb,
    "cone": ConeCoulomb,
    "convex": Convex,
    "no-slip": NoSlip,
    "frictionless": Frictionless,
    "max-dissipation": MaxDissipation,
    "viscous": Viscous,
    "pairwise": Pairwise,
}


def check_law(law: object) -> Law:
    """The law that a name stands for, or the object itself.

    Parameters
    ----------
    law : str or Law
        One of `LAWS`, or an object with `solve` and `rigid` as `Law` has them.

    Returns
    -------
    Law
        With its default options where it was named.

    Raises
    ------
    ArgumentError
        For anything else, a law's class included.

    Examples
    --------
    >>> from spatialops.contact import check_law
    >>> check_law("cone").rigid
    True
    """
    if isinstance(law, str) and law in LAWS:
        return LAWS[law]()
    if isinstance(law, (str, type)) or not hasattr(law, "solve"):
        names = ", ".join(repr(name) for name in LAWS)
        raise ArgumentError(f"law: expected one of {names} or a law such as NoSlip(), got {law!r}")
    return cast(Law, law)
