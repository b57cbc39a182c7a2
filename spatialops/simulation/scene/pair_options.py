"""What pairs of geoms have of their own: laws of friction and impact, coefficients."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from spatialops._arrays import Array, BoolArray, IntArray, is_one_of, scalar
from spatialops.collision import _layout as col
from spatialops.collision.pair_coefficients import (
    Coefficients,
    PairClasses,
    class_coefficients,
)
from spatialops.collision.pair_runs import find_pair, first_runs, kinds_met
from spatialops.errors import ShapeError
from spatialops.simulation.plain_data import PlainData

if TYPE_CHECKING:
    from spatialops.simulation.scene.scene_pairs import ScenePairs

PairLaw: TypeAlias = Literal["coulomb", "cone", "no-slip", "frictionless", "viscous"]
_WHOLE = {
    "convex": "it is an optimum over all contacts at once",
    "max-dissipation": "it is an optimum over all contacts at once",
    "compliant": "ground that gives way has no impacts, which is said of a whole scene",
}
Restitution: TypeAlias = Literal["poisson", "newton"]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """What holds between two geoms instead of what their scene and simulator say.

    Parameters
    ----------
    a : str
        Name of one geom.
    b : str
        Name of the other; their order does not matter.
    law : {"coulomb", "cone", "no-slip", "frictionless", "viscous"}, optional
        "no-slip": the pair does not slip while it presses (mu = inf). "frictionless": mu = 0.
        "viscous": a drag, whose coefficient (N s/m) is the pair's `friction`. Default: the
        simulator's law. docs/impacts.md has the table of what goes with what.
    restitution : {"poisson", "newton"}, optional
        What the coefficient of restitution means. Default: the simulator's.
    friction : float, optional
        Coefficient of friction. Default: as the geoms' `mixing` says.
    torsion : float, optional
        Coefficient of torsional friction, m. Default: likewise.
    rolling : float, optional
        Coefficient of rolling friction, m. Default: likewise.

    Raises
    ------
    ShapeError
        For an unknown law, or a coefficient that is negative or not finite.

    Examples
    --------
    >>> import spatialops as so
    >>> so.Pair(a="foot", b="floor", law="no-slip").law
    'no-slip'
    """

    a: str
    b: str
    law: PairLaw | None = None
    restitution: Restitution | None = None
    friction: float | None = None
    torsion: float | None = None
    rolling: float | None = None

    def __post_init__(self) -> None:
        if is_one_of(self.law, _WHOLE):
            raise ShapeError(
                f"pair: law: {self.law!r} is no law of one pair: {_WHOLE[str(self.law)]}"
            )
        for name, known in (("law", get_args(PairLaw)), ("restitution", get_args(Restitution))):
            if getattr(self, name) is not None and not is_one_of(getattr(self, name), known):
                raise ShapeError(
                    f"pair: {name}: expected one of {', '.join(known)}, got {getattr(self, name)!r}"
                )
        for name in ("friction", "torsion", "rolling"):
            if getattr(self, name) is not None:
                object.__setattr__(
                    self, name, scalar(getattr(self, name), f"pair: {name}", low=0.0)
                )

    def to_data(self) -> PlainData:
        """The fields as plain data.

        Returns
        -------
        dict
            By name; what is not given is None.
        """
        return {item.name: getattr(self, item.name) for item in fields(self)}


class PairTable(NamedTuple):
    """What coefficients and `Scene.pair_laws` make of the classes of pairs.

    Attributes
    ----------
    classes : PairClasses
        Friction and restitution by class, and the pairs with classes of their own.
    occur : (c,) bool array
        Whether there is a pair of the class, as far as kinds of geoms say.
    torsion, rolling : (c,) arrays
        Coefficients of torsional and rolling friction, m.
    newton, poisson : (c,) bool arrays
        Where this meaning of restitution is given.
    laws : dict
        Laws that are given, by class.
    """

    classes: PairClasses
    occur: BoolArray
    torsion: Array
    rolling: Array
    newton: BoolArray
    poisson: BoolArray
    laws: dict[int, PairLaw]


def checked_pairs(given: object, names: Iterable[str]) -> tuple[Pair, ...]:
    """`given` as pairs of known geoms, at most one for each two.

    Raises
    ------
    ShapeError
        For anything else.
    """
    if isinstance(given, Pair) or not isinstance(given, Iterable):
        raise ShapeError(f"pair_laws: expected a sequence of Pair, got {type(given).__name__}")
    checked = tuple(given)
    known = set(names)
    given_pairs = set()
    for pair in checked:
        if not isinstance(pair, Pair):
            raise ShapeError(f"pair_laws: expected Pair(...), got {pair!r}")
        for name in (pair.a, pair.b):
            if name not in known:
                raise ShapeError(f"pair_laws: there is no geom {name!r}")
        both = frozenset((pair.a, pair.b))
        if both in given_pairs or len(both) == 1:
            raise ShapeError(
                f"pair_laws: {pair.a!r} and {pair.b!r} are given twice, or are the same"
            )
        given_pairs.add(both)
    return checked


def pair_table(scene: ScenePairs) -> PairTable:
    """Coefficients of the scene's geoms by class, and those of `Scene.pair_laws` behind them.

    Classes of which there is no pair have none.
    """
    mixed = class_coefficients(scene.geoms)
    own, given = _own_pairs(scene)
    n = len(mixed.friction)
    ints = scene.geom_ints
    met = kinds_met(scene.pair_runs, ints[:-1, col.GEOM_KIND], math.isqrt(n)).ravel()
    mixed = Coefficients(*(np.where(met, row, 0.0) for row in mixed))
    of_kinds = [ints[a, col.GEOM_KINDS] + ints[b, col.GEOM_KIND] for a, b in scene.sides_of(own)]
    source = np.concatenate([np.arange(n), np.array(of_kinds, dtype=np.int64)])
    values = np.empty((len(source), col.PAIR_COLUMNS))
    values[:, col.PAIR_FRICTION] = mixed.friction[source]
    values[:, col.PAIR_RESTITUTION] = mixed.restitution[source]
    newton, poisson = np.zeros((2, len(source)), dtype=bool)
    moments = mixed.torsion[source], mixed.rolling[source]
    occur = np.append(met, np.full(len(own), True))
    table = PairTable(PairClasses(values, own), occur, *moments, newton, poisson, {})
    for row, pair in enumerate(given, start=n):
        if pair.law is not None:
            table.laws[row] = pair.law
        if pair.friction is not None:
            values[row, col.PAIR_FRICTION] = pair.friction
        if pair.torsion is not None:
            table.torsion[row] = pair.torsion
        if pair.rolling is not None:
            table.rolling[row] = pair.rolling
        table.newton[row] = pair.restitution == "newton"
        table.poisson[row] = pair.restitution == "poisson"
    return table


def _own_pairs(scene: ScenePairs) -> tuple[IntArray, list[Pair]]:
    """Numbers of the pairs that have something of their own, in order, and what that is."""
    number = {geom.name: g for g, geom in enumerate(scene.geoms)}
    first = first_runs(scene.pair_runs, len(scene.geoms))
    found = []
    for pair in scene.pair_laws:
        low, high = sorted((number[pair.a], number[pair.b]))
        p = find_pair(scene.pair_runs, first, low, high)
        if p < 0:
            raise ShapeError(
                f"pair_laws: {pair.a!r} and {pair.b!r} never touch: the scene leaves their pair out"
            )
        found.append((p, pair))
    found.sort(key=lambda one: one[0])
    return np.array([p for p, _ in found], dtype=np.int64), [pair for _, pair in found]
