"""Laws of friction that the loop solves by itself, and what coefficients mean in them."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import merged
from spatialops.collision import _layout as col
from spatialops.contact.laws.cone import ConeCoulomb
from spatialops.contact.laws.frictionless import Frictionless
from spatialops.contact.laws.law import Law
from spatialops.contact.laws.no_slip import NoSlip
from spatialops.contact.laws.viscous import Viscous
from spatialops.contact.newton._layout import CONE, FRICTIONLESS, NO_SLIP, POLYGON, VISCOUS
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.joint_limits_and_friction import of_joint
from spatialops.simulation.stepping.tables import Tables

_DEFAULTS = {CONE: ConeCoulomb(), NO_SLIP: NoSlip(), FRICTIONLESS: Frictionless()}


def loop_law(law: Law | None) -> int | None:
    """Number of a law in the loop, which None, Coulomb's, has; None where it is solved outside.

    There are laws with a solver or a tolerance of their own.
    """
    if law is None:
        return POLYGON
    if type(law) is Viscous and law.solver == Viscous.solver and law.tolerance == Viscous.tolerance:
        return VISCOUS
    for number, default in _DEFAULTS.items():
        if type(law) is type(default) and law == default:
            return number
    return None


def known_law(law: Law | None) -> int:
    """Number of the law in `control[LAW]`: outside too it says what is held or dragged."""
    if isinstance(law, NoSlip):
        return NO_SLIP
    if isinstance(law, Viscous):
        return VISCOUS
    return loop_law(law) or POLYGON


@merged
def friction_of(t: Tables, ints: IntArray, floats: Array, i: int) -> float:
    """The coefficient of contact i as the loop's solver reads it: see `ContactRows`."""
    law, mu = t.control[at.LAW], floats[i, col.MU]
    if law == FRICTIONLESS or of_joint(t, ints[i, col.CONTACT_PAIR]):
        return 0.0
    if law == NO_SLIP:
        return 1.0 if mu > 0.0 else 0.0
    if law != VISCOUS:
        return mu
    if t.control[at.STAGE] == at.IMPACT:
        return t.settings[at.VISCOSITY_IN_IMPACTS]
    if floats[i, col.GAP] > t.settings[at.FILM]:
        return 0.0
    own = t.settings[at.VISCOSITY]
    return (mu if own < 0.0 else own) * t.monitor[at.PIECE]
