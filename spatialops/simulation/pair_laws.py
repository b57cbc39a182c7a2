"""The friction of every pair under a scene's law and those of its pairs, and the law that has it.

Laws of single contacts go together: Coulomb's with polyhedra or round cones, no slip, none, a
viscous drag. The simplest law of `contact.laws` that has those that occur is taken, `Pairwise`
where no other has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from spatialops._arrays import Array, BoolArray, IntArray
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
    """What every class of the scene's pairs has, see `collision.pair_coefficients`.

    Attributes
    ----------
    law : Law
        The law that has all of it.
    special : bool
        Whether that is more than the scene's own law with the coefficients of the geoms.
    mixed : bool
        Whether some pairs have a law of their own.
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
    by_friction : (n,) bool array
        Whether a pair's drag is its coefficient of friction.
    """

    law: Law
    special: bool
    mixed: bool
    friction: Array
    drag: Array
    polygon_sides: IntArray
    torsion: Array
    rolling: Array
    viscous: Viscous
    by_friction: BoolArray

    def put(self, problem: ContactProblem, classes: IntArray) -> ContactProblem:
        """The problem whose first contacts are of pairs of `classes`, with what these have."""
        own, m = np.arange(len(classes)), problem.n_contacts
        friction = problem.friction.copy()
        drag = np.zeros(m)
        sides = np.zeros(m, dtype=np.int64)
        torsion, rolling = np.zeros(m), np.zeros(m)
        friction[own], sides[own] = self.friction[classes], self.polygon_sides[classes]
        torsion[own], rolling[own] = self.torsion[classes], self.rolling[classes]
        drag[own] = self.drag[classes]
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
    """The friction of all classes of pairs of a scene.

    Raises
    ------
    ArgumentError
        For pairs whose laws do not go with the scene's, or with its options.
    """
    table = scene.pair_table
    n = len(table.torsion)
    base = _BASES.get(type(law), "")
    moments = bool(table.torsion.any() or table.rolling.any())
    given: set[str] = set(table.laws.values())
    used = given | ({base} if len(table.laws) < scene.n_pairs else set())
    if getattr(law, "coefficient", None) is None:  # else a pair's own drag is another one
        given -= {base}
    chosen = _law(law, base, used, moments) if given or moments else law
    own = law if isinstance(law, Viscous) else Viscous()
    viscous = replace(own, coefficient=None)
    dry = table.classes.values[:, col.PAIR_FRICTION]
    friction, drag, sides = _of_law(base, dry, own, _n_f(law))
    if table.laws:
        friction, drag = friction.copy(), drag.copy()
        sides = sides.copy()
    for row, name in table.laws.items():
        held = np.array([np.inf if name == "no-slip" else dry[row]])
        of_pair = _of_law(name, held, viscous, _n_f(law))
        friction[row], drag[row], sides[row] = (values[0] for values in of_pair)
    mixed = bool(given)
    special = mixed or moments
    turning = table.torsion, table.rolling
    by_friction = np.full(n, own.coefficient is None)
    by_friction[list(table.laws)] = True
    return PairFriction(
        chosen, special, mixed, friction, drag, sides, *turning, viscous, by_friction
    )


def _of_law(name: str, dry: Array, viscous: Viscous, n_f: int) -> tuple[Array, Array, IntArray]:
    """Friction, drag and directions of pairs (n,) under a law, from coefficients of dry friction.

    One number stands for all where the law says so.
    """
    nothing = np.broadcast_to(0.0, dry.shape)
    round_ones = np.broadcast_to(np.int64(0), dry.shape)
    if name == "viscous":
        return nothing, viscous.drag(dry), round_ones
    if name == "frictionless":
        return nothing, nothing, round_ones
    if name == "no-slip":
        return np.where(dry > 0.0, np.inf, dry), nothing, round_ones
    sides = np.broadcast_to(np.int64(n_f), dry.shape) if name == "coulomb" else round_ones
    return dry, nothing, sides


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
