"""What pairs of geoms have of their own: laws of friction and impact, coefficients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from spatialops._arrays import Array, BoolArray, IntArray, is_one_of, scalar
from spatialops.errors import ShapeError
from spatialops.simulation.plain_data import PlainData

if TYPE_CHECKING:
    from spatialops.simulation.scene.scene import Scene

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
    """What `Scene.pair_laws` and coefficients make of the rows of `Scene.pairs`.

    Attributes
    ----------
    torsion, rolling : (n,) arrays
        Coefficients of torsional and rolling friction, m.
    newton, poisson : (n,) bool arrays
        Where this meaning of restitution is given.
    laws : dict
        Laws that are given, by row.
    """

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


def pair_table(scene: Scene, torsion: Array, rolling: Array) -> PairTable:
    """What `Scene.pair_laws` makes of the rows of pairs, whose geoms have these coefficients."""
    n = len(scene.pairs)
    if scene.pair_laws:  # else one number may stand for all
        torsion, rolling = torsion.copy(), rolling.copy()
    table = PairTable(torsion, rolling, np.zeros(n, dtype=bool), np.zeros(n, dtype=bool), {})
    for pair, row in zip(scene.pair_laws, rows_of(scene, scene.pair_laws), strict=True):
        if row < 0:
            raise ShapeError(
                f"pair_laws: {pair.a!r} and {pair.b!r} never touch: the scene leaves their pair out"
            )
        if pair.law is not None:
            table.laws[int(row)] = pair.law
        table.newton[row] = pair.restitution == "newton"
        table.poisson[row] = pair.restitution == "poisson"
        table.torsion[row] = table.torsion[row] if pair.torsion is None else pair.torsion
        table.rolling[row] = table.rolling[row] if pair.rolling is None else pair.rolling
    return table


def rows_of(scene: Scene, given: Sequence[Pair]) -> IntArray:
    """Row of `Scene.pairs` of each of the given pairs; -1 where the scene leaves it out."""
    found = np.full(len(given), -1, dtype=np.int64)
    if not len(given) or not len(scene.pairs):
        return found  # pairs may be millions
    number, n = {geom.name: g for g, geom in enumerate(scene.geoms)}, len(scene.geoms)
    keys = n * scene.pairs.min(axis=1) + scene.pairs.max(axis=1)  # in order, as pairs are made
    for i, pair in enumerate(given):
        low, high = sorted((number[pair.a], number[pair.b]))
        row = int(np.searchsorted(keys, n * low + high))
        if row < len(keys) and keys[row] == n * low + high:
            found[i] = row
    return found
