"""The friction of every pair under a scene's law and those of its pairs, and the law that has it.

Laws of single contacts go together: Coulomb's with polyhedra or round cones, no slip, none, a
viscous drag. The simplest law of `contact.laws` that has those that occur is taken, `Pairwise`
where no other has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.collision import _layout as col
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.contact.laws.cone import ConeCoulomb
from spatialops.contact.laws.coulomb import Coulomb
from spatialops.contact.laws.frictionless import Frictionless
from spatialops.contact.laws.law import Law
from spatialops.contact.laws.no_slip import NoSlip
from spatialops.contact.laws.pairwise import Pairwise
from spatialops.contact.laws.viscous import Viscous
from spatialops.contact.problem import ContactProblem
from spatialops.errors import ArgumentError
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.scene.scene import Scene

_BASES = {
    Coulomb: "coulomb",
    ConeCoulomb: "cone",
    Pairwise: "cone",
    NoSlip: "no-slip",
    Frictionless: "frictionless",
    Viscous: "viscous",
}


@dataclass(frozen=True, eq=False)
class PairFriction:
    """What every row of `Scene.pairs` has.

    Attributes
    ----------
    law : Law
        The law that has all of it.
    special : bool
        Whether that is more than the scene's own law with the coefficients of the geoms.
    friction : (n,) array
        Coefficients: 0 where there is no dry friction, infinite where there is no slip.
    drag : (n,) array
        Viscous coefficients, N s/m.
    sides : (n,) int array
        Directions of the friction polyhedron, 0 where the cone is round.
    torsion, rolling : (n,) arrays
        m.
    viscous : Viscous
        Options of the drag.
    """

    law: Law
    special: bool
    friction: Array
    drag: Array
    polygon_sides: IntArray
    torsion: Array
    rolling: Array
    viscous: Viscous

    def put(self, problem: ContactProblem, pairs: IntArray) -> ContactProblem:
        """The problem whose first contacts are those of `pairs`, with what these have."""
        own, m = np.arange(len(pairs)), problem.n_contacts
        friction = problem.friction.copy()
        drag = np.zeros(m)
        sides = np.zeros(m, dtype=np.int64)
        torsion, rolling = np.zeros(m), np.zeros(m)
        friction[own], sides[own] = self.friction[pairs], self.polygon_sides[pairs]
        torsion[own], rolling[own] = self.torsion[pairs], self.rolling[pairs]
        drag[own] = self.drag[pairs]
        drag = self.viscous.impulse_per_slip(replace(problem, friction=drag)) * (drag > 0.0)
        return replace(
            problem,
            friction=friction,
            viscous=drag,
            polygon_sides=sides,
            torsion=torsion,
            rolling=rolling,
        )


def pair_friction(scene: Scene, law: Law) -> PairFriction:
    """The friction of all pairs of a scene.

    Raises
    ------
    ArgumentError
        For pairs whose laws do not go with the scene's, or with its options.
    """
    table = scene.pair_table
    base = _BASES.get(type(law), "")
    laws = [own or base for own in table.laws]
    moments = bool(table.torsion.any() or table.rolling.any())
    given = set(table.laws) - {None}
    if getattr(law, "coefficient", None) is None:  # else a pair's own drag is another one
        given -= {base}
    chosen = _law(law, base, set(laws), moments) if given or moments else law
    own = law if isinstance(law, Viscous) else Viscous()
    viscous = replace(own, coefficient=None)
    friction, drag = scene.pair_values[:, col.PAIR_FRICTION].copy(), np.zeros(len(laws))
    sides = np.zeros(len(laws), dtype=np.int64)
    for p, name in enumerate(laws):
        if name == "viscous":
            drag[p] = (own if table.laws[p] is None else viscous).drag(friction[p : p + 1])[0]
        if name == "no-slip" and (friction[p] > 0.0 or table.laws[p] is not None):
            friction[p] = np.inf
        if name in ("viscous", "frictionless"):
            friction[p] = 0.0
        if name == "coulomb":
            sides[p] = _n_f(law)
    return PairFriction(
        chosen, bool(given) or moments, friction, drag, sides, table.torsion, table.rolling, viscous
    )


def _law(law: Law, base: str, names: set[str], moments: bool) -> Law:
    """The simplest law that has all of `names`, with the options of the scene's."""
    if names == {base} and base not in ("no-slip", "viscous"):
        return law
    if not base:
        if names <= {"", "frictionless"}:
            return law
        raise ArgumentError(
            f"law: {law!r} is a law of all contacts together; of pairs with laws of their own it "
            "takes 'frictionless'"
        )
    rest = names - {"frictionless", "no-slip"}
    if not rest and not moments:
        return law if base == "no-slip" else NoSlip() if "no-slip" in names else Frictionless()
    if rest == {"coulomb"} and base == "coulomb":
        return law
    _check_options(law)
    options: PlainData = (
        {"solver": law.solver, "tolerance": law.tolerance}
        if isinstance(law, (ConeCoulomb, Pairwise))
        else {}
    )
    if rest <= {"cone"}:
        return ConeCoulomb(**options)
    return Coulomb() if rest == {"coulomb"} else Pairwise(**options)


def _check_options(law: Law) -> None:
    """Refuse options of a law for which laws of pairs leave no place."""
    if isinstance(law, Coulomb) and not (_is_os(law.formulation) and law.solver == "auto"):
        raise ArgumentError(
            "law: pairs with other laws than 'coulomb' need formulation='os' and solver='auto'"
        )
    if isinstance(law, NoSlip) and law != NoSlip(tolerance=law.tolerance):
        raise ArgumentError(
            f"law: pairs with laws of their own do not go with the options of {law!r}"
        )


def _is_os(formulation: object) -> bool:
    return isinstance(formulation, OperationalSpace) or (
        isinstance(formulation, str) and formulation == "os"
    )


def _n_f(law: Law) -> int:
    if not isinstance(law, Coulomb):
        return Coulomb().n_f
    return int(getattr(law.formulation, "n_f", law.n_f))
