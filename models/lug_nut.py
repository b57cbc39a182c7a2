"""A lug nut: a hexagon of convex wedges about a bore, on the thread of a stud or off it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from spatialops._arrays import Mat3, Vec3, scalar
from spatialops.algebra.inertia import Inertia
from spatialops.collision.inertia import shape_inertia
from spatialops.collision.shapes import ConvexHull, Geom
from spatialops.models.scene_options import SceneOptions
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model
from spatialops.tree.state import State

SIDES = 6
APOTHEM = 0.0095  # m: a spanner of 19 mm
HEIGHT = 0.010  # m
BORE = 0.0062  # m, radius: a stud of 6 mm goes through
PITCH = 1.75e-3 / (2.0 * math.pi)  # m/rad, of M12
_MASS = 0.016  # kg, steel
_CHAMFER = (0.0012, 0.0015)  # m off the apothem, over so much of the height, outside
_SEAM = 5e-5  # m off both ends of a flat: one corner is one wedge's
_OUTWARDS: Vec3 = (-1.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class LugNut:
    """A nut whose middle is its frame's origin; its axis is x and it comes off along -x.

    Parameters
    ----------
    model : Model
        One body, of the name that was given, on a screw joint or free.
    state : State
        At rest at the origin, unturned.
    """

    model: Model
    state: State

    def scene(
        self, extra: Sequence[Geom] = (), *, friction: float = 0.15, **options: Unpack[SceneOptions]
    ) -> Scene:
        """The nut and `extra` geoms.

        Parameters
        ----------
        extra : sequence of Geom
            What else is there.
        friction : float
            Coulomb's coefficient of its steel.
        **options
            `loops`, `include` and `pair_laws` of `Scene`.

        Returns
        -------
        Scene
            It starts at `state`.
        """
        body = self.model.body_names[0]
        geoms = [
            Geom(f"{body} {i}", body, _wedge(i), friction=friction, group=1, collides_with=1)
            for i in range(SIDES)
        ]
        return Scene(self.model, [*geoms, *extra], state=self.state, **options)


def lug_nut(
    name: str = "nut", *, threaded: bool = True, pitch: float = PITCH, torque: float = 0.3
) -> LugNut:
    """A nut M12, 19 mm across flats, on a thread or free.

    On a right-handed thread it goes pitch metres along -x for a radian about -x. The thread rubs
    with a torque that does not depend on what loads it, as that of a nut with a locking insert.

    Parameters
    ----------
    name : str
        Of its body. Default "nut".
    threaded : bool
        Whether it is on its thread: a screw joint to the world. Default True; else it is free.
    pitch : float
        Of the thread, m/rad. Default that of M12, 1.75 mm a turn.
    torque : float
        Of the thread's friction, N m. Default 0.3.

    Returns
    -------
    LugNut
        At rest.

    Raises
    ------
    ArgumentError
        For a pitch that is not positive, or a negative torque.

    Examples
    --------
    >>> import spatialops as so
    >>> so.models.lug_nut().model.nv, so.models.lug_nut(threaded=False).model.nv
    (1, 6)
    """
    pitch = scalar(pitch, "pitch", low=0.0, strict=True)
    torque = scalar(torque, "torque", low=0.0)
    joint = Joint("free")
    if threaded:
        joint = Joint("screw", axis=_OUTWARDS, pitch=pitch, dry_friction=torque)
    model = TreeBuilder().add_body(name, joint=joint, inertia=_inertia()).build()
    return LugNut(model, State(model.neutral(), np.zeros(model.nv)))


def _inertia() -> Inertia:
    parts = [shape_inertia(_wedge(i)) for i in range(SIDES)]
    total = sum(parts[1:], parts[0])
    return total.scaled(_MASS / total.mass)


def _wedge(i: int) -> ConvexHull:
    """A sixth: one flat outside, chamfered at the outer face, and a flat of the bore."""
    turn = (2.0 * i + 1.0) * math.pi / SIDES
    narrower, over = _CHAMFER
    front, back = -0.5 * HEIGHT, 0.5 * HEIGHT
    layers = [(APOTHEM - narrower, front), (APOTHEM, front + over), (APOTHEM, back)]
    corners = [(BORE, front), (BORE, back), *layers]
    points = [
        (x, *_turned(turn, apothem, side * _reach(apothem)))
        for apothem, x in corners
        for side in (-1.0, 1.0)
    ]
    return ConvexHull(np.array(points))


def _reach(apothem: float) -> float:
    """Half the length of a flat."""
    return apothem * math.tan(math.pi / SIDES) - _SEAM


def _turned(angle: float, out: float, along: float) -> tuple[float, float]:
    c, s = math.cos(angle), math.sin(angle)
    return c * out - s * along, s * out + c * along


def hexagon_walls(apothem: float, thickness: float, depth: float) -> list[tuple[Vec3, Mat3, Vec3]]:
    """Boxes about a hexagonal recess that opens along +x, its flats as those of a nut.

    Parameters
    ----------
    apothem, thickness, depth : float
        From the axis to a flat, of the walls, along x, m.

    Returns
    -------
    list of (size, rotation, position)
        Of six boxes, m, in the frame in the middle of the recess's bottom.
    """
    outer = apothem + thickness
    size = (depth, thickness, 2.0 * outer * math.tan(math.pi / SIDES))
    walls = []
    for i in range(SIDES):
        turn = (2.0 * i + 1.0) * math.pi / SIDES
        c, s = math.cos(turn), math.sin(turn)
        rotation: Mat3 = ((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c))
        middle = apothem + 0.5 * thickness
        walls.append((size, rotation, (0.5 * depth, c * middle, s * middle)))
    return walls
