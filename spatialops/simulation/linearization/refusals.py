"""What cannot be linearized yet, and the law of what can."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.contact.laws.compliant import Compliant
from spatialops.contact.laws.cone import ConeCoulomb
from spatialops.contact.laws.convex import Convex
from spatialops.contact.laws.coulomb import Coulomb
from spatialops.contact.laws.law import Law
from spatialops.contact.laws.max_dissipation import MaxDissipation
from spatialops.contact.laws.no_slip import NoSlip
from spatialops.contact.laws.pairwise import Pairwise
from spatialops.contact.laws.viscous import Viscous
from spatialops.contact.newton._layout import CONE, NO_SLIP, POLYGON, VISCOUS
from spatialops.errors import ArgumentError
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.stepping.constraints.friction_laws import loop_law
from spatialops.simulation.stepping.driver import Stepping

_LENGTHS = ("distance", "coupler")  # closures of which a number is driven, not a frame


def law_of(stepping: Stepping) -> Law | None:
    """The law of a scene's contacts; where some have moments too, that beside which they are."""
    method, pairs = stepping.external.method, stepping.external.pairs
    beside = pairs.special and not pairs.mixed and method.compiled
    return method.in_loop if beside else method.law


def law_to_differentiate(law: Law | None) -> int | None:
    """Number of a law, of the loop's or another's tolerance and solver; None if it is not known."""
    if isinstance(law, Convex):
        return of.CONVEX
    if isinstance(law, Compliant):
        return of.COMPLIANT
    if isinstance(law, MaxDissipation) and law.regularization is None:
        return of.DISSIPATION
    if isinstance(law, (Pairwise, Coulomb)):
        return POLYGON
    for kind, number in ((ConeCoulomb, CONE), (NoSlip, NO_SLIP), (Viscous, VISCOUS)):
        if isinstance(law, kind):
            return number
    return loop_law(law)


def with_polygon_of(stepping: Stepping, law: Law | None) -> Stepping:
    """The same, with as many directions of friction as the law has, where it has some."""
    external = stepping.external
    if not isinstance(law, MaxDissipation) or law.n_f == external.method.n_f:
        return stepping
    method = external.method._replace(formulation=OperationalSpace(law.n_f))
    return replace(stepping, external=replace(external, method=method))


def ground_of(law: Law | None) -> Array:
    """(GROUND,) numbers of ground that gives way."""
    if not isinstance(law, Compliant):
        return np.zeros(of.GROUND)
    by_depth = law.stiffness * law.dissipation
    return np.array([law.stiffness, law.damping, by_depth, law.viscosity])


def refuse_scene(stepping: Stepping) -> None:
    """What is in the scene or the options, and cannot be linearized yet."""
    scene = stepping.scene
    if any(loop.rate is not None and loop.kind not in _LENGTHS for loop in scene.loops.items):
        raise ArgumentError(
            "linearize: closures whose frame is driven are not known yet; distances and couplers "
            "may be driven"
        )
    if len(scene.loops) and scene.model.compensation.any():
        raise ArgumentError("linearize: compensation of gravity beside closures is not known yet")
    law = law_of(stepping)
    if law_to_differentiate(law) is None:
        raise ArgumentError(
            f"linearize: law {law!r} is not known yet; take 'coulomb', 'cone', 'convex', "
            "'max-dissipation', 'no-slip', 'frictionless', 'viscous' or Compliant"
        )
