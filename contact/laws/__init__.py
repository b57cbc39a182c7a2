"""Laws of contact: one problem, `solve(problem, warm_start)` of a law, one kind of answer. See docs/laws.md."""

from __future__ import annotations

from typing import Any

from spatialops.contact.laws.cone import Cone
from spatialops.contact.laws.convex import Convex
from spatialops.contact.laws.coulomb import Coulomb
from spatialops.contact.laws.frictionless import Frictionless
from spatialops.contact.laws.max_dissipation import MaxDissipation
from spatialops.contact.laws.no_slip import NoSlip
from spatialops.contact.laws.pairwise import Pairwise
from spatialops.contact.laws.solution import Law
from spatialops.contact.laws.viscous import Viscous
from spatialops.errors import ArgumentError

LAWS: dict[str, Any] = {
    "coulomb": Coulomb,
    "cone": Cone,
    "convex": Convex,
    "no-slip": NoSlip,
    "frictionless": Frictionless,
    "max-dissipation": MaxDissipation,
    "viscous": Viscous,
    "pairwise": Pairwise,
}


def check_law(law: Any) -> Law:
    """The law that a name stands for, or the object itself.

    Raises
    ------
    ArgumentError
        For anything else, a law's class included.
    """
    if isinstance(law, str) and law in LAWS:
        named: Law = LAWS[law]()
        return named
    if isinstance(law, (str, type)) or not hasattr(law, "solve"):
        names = ", ".join(repr(name) for name in LAWS)
        raise ArgumentError(f"law: expected one of {names} or a law such as NoSlip(), got {law!r}")
    given: Law = law
    return given
