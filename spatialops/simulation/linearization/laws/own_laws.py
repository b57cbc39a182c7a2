"""Laws of single pairs: each contact has the lines of its own pair's law."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops.collision import _layout as col
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.contact.laws.cone import ConeCoulomb
from spatialops.contact.laws.pairwise import Pairwise
from spatialops.contact.newton._layout import CONE, NO_SLIP, POLYGON, VISCOUS
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Room, Touched
from spatialops.simulation.pair_laws import PairFriction
from spatialops.simulation.stepping.driver import Stepping

_OF_ALL = (of.CONVEX, of.DISSIPATION)  # laws of all contacts together


class OwnLaws(NamedTuple):
    """As `Room` has them.

    Attributes
    ----------
    own_laws : (n_pairs, OWN_INTS) int array
    own_friction : (n_pairs,) array
    moments : (1,) int array
    """

    own_laws: IntArray
    own_friction: Array
    moments: IntArray


def put_own_laws(room: Room, stepping: Stepping, whole: int) -> Room:
    """The room with laws of single pairs, if there are some, beside the law of all together."""
    pairs = stepping.external.pairs
    if not pairs.mixed:
        return room
    n = len(pairs.friction)
    laws, friction = np.zeros((n, of.OWN_INTS), dtype=np.int64), np.zeros(n)
    for i in range(n):
        laws[i, of.OWN_LAW], friction[i] = _own_law(pairs, whole, i)
    laws[:, of.OWN_DRAG] = pairs.by_friction
    classes = stepping.scene.classes_of(np.arange(stepping.scene.n_pairs))
    laws, friction = laws[classes], friction[classes]
    is_round = isinstance(stepping.external.method.law, (Pairwise, ConeCoulomb))
    moments = np.array([CONE if is_round else POLYGON])
    return room._replace(**OwnLaws(laws, friction, moments)._asdict())


def _own_law(pairs: PairFriction, whole: int, i: int) -> tuple[int, float]:
    """Number of the law of class i, and its coefficient."""
    mu, drag = float(pairs.friction[i]), float(pairs.drag[i])
    if whole in _OF_ALL:
        return whole, mu
    if drag > 0.0:
        return VISCOUS, drag
    if np.isinf(mu):
        return NO_SLIP, 1.0
    return (POLYGON if pairs.polygon_sides[i] > 0 else CONE), mu


def with_own_options(stepping: Stepping) -> Stepping:
    """The same, with the film and the directions of friction that laws of pairs have."""
    external = stepping.external
    if not external.pairs.mixed:
        return stepping
    settings = stepping.settings.copy()
    viscous = external.pairs.viscous
    settings[at.FILM] = viscous.film
    settings[at.VISCOSITY_IN_IMPACTS] = viscous.impact
    sides = int(external.pairs.polygon_sides.max(initial=0)) or external.method.n_f
    method = external.method._replace(formulation=OperationalSpace(sides))
    return replace(stepping, settings=settings, external=replace(external, method=method))


@kernel
def put_own_friction(touched: Touched, room: Room) -> None:
    """Friction of contacts under laws of their own, as a law of all contacts would have it."""
    for i in range(touched.contacts):
        if touched.ints[i, col.CONTACT_FEATURE_A] < 0:
            break
        pair = touched.ints[i, col.CONTACT_PAIR]
        mu = room.own_friction[pair]
        if room.own_laws[pair, of.OWN_LAW] == VISCOUS:
            mu *= touched.length if touched.floats[i, col.GAP] <= touched.film else 0.0
        touched.friction[i] = mu
