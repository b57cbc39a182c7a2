"""A wheel on a hub: convex sectors, a square bore on a round pilot, studs between four spokes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from spatialops._arrays import Array, Mat3, Vec3, scalar
from spatialops.algebra.inertia import Inertia
from spatialops.collision.inertia import shape_inertia
from spatialops.collision.shapes import Box, Capsule, ConvexHull, Cylinder, Geom
from spatialops.errors import ModelError
from spatialops.models.scene_options import SceneOptions
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model
from spatialops.tree.state import State

RADIUS, HALF_WIDTH = 0.200, 0.040  # m, of the tyre: a small trailer's, 4.00-8
PILOT_RADIUS, PILOT_LENGTH = 0.030, 0.022  # m, of the hub's centring cylinder
STUD_CIRCLE = 0.050  # m, radius: four M12 on a circle of 100 mm
STUD_RADIUS = 0.006  # m
STUD_LENGTH = 0.030  # m
DISC_THICKNESS, RIM_RADIUS = 0.012, 0.125  # m
GRIP_RADIUS = 0.165  # m, where fingertips find the side walls flat
SECTORS = 12
TYRE_SHARE = 0.55  # of the mass
# Radius and half width, m.
_SIDE = ((0.115, 0.036), (0.130, HALF_WIDTH), (0.178, HALF_WIDTH), (RADIUS, 0.028))
_SLOT = 0.0075  # m, half the width between two spokes, where a stud goes through
_LEAST_CLEARANCE, _CLEARANCE = 1e-4, 1e-3  # m, of the bore on the pilot: from, and below
_AIR = 2e-4  # m between the disc and the flange
_FREE = 1e-5  # m, gap between the bore and its seat at the start
STUD_END = 0.5 * DISC_THICKNESS + _AIR - STUD_LENGTH  # m along x: where its thread ends
_ALONG_X: Mat3 = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))


@dataclass(frozen=True, eq=False)
class WheelOnHub:
    """A wheel that hangs on a hub by its bore and comes off along -x.

    The hub's axis is x, its middle the origin.

    Parameters
    ----------
    model : Model
        One free body, "wheel": its frame in the wheel's middle, x along the axle, z up.
    state : State
        At rest, the bore on its seat.
    clearance : float
        Between bore and pilot, m on the radius.
    """

    model: Model
    state: State
    clearance: float

    @property
    def mass(self) -> float:
        """Of the wheel, kg."""
        return self.model.mass

    def scene(
        self,
        extra: Sequence[Geom] = (),
        *,
        friction: float = 0.8,
        hub_friction: float = 0.2,
        **options: Unpack[SceneOptions],
    ) -> Scene:
        """The wheel on its hub, which stands on a post, and `extra` geoms.

        Parameters
        ----------
        extra : sequence of Geom
            What else is there.
        friction : float
            Coulomb's coefficient of the rubber; a pair takes the geometric mean of both sides.
        hub_friction : float
            That of the steel of hub, studs and rim.
        **options
            `loops`, `include` and `pair_laws` of `Scene`.

        Returns
        -------
        Scene
            It starts at `state`.
        """
        tyre = [Geom(f"tyre{i}", "wheel", _sector(i), friction=friction) for i in range(SECTORS)]
        rim = [
            Geom(f"spoke{i}", "wheel", _spoke(i, self.clearance), friction=hub_friction)
            for i in range(4)
        ]
        return Scene(
            self.model, [*_hub(hub_friction), *tyre, *rim, *extra], state=self.state, **options
        )


def wheel_on_hub(*, mass: float = 7.0, clearance: float = 4e-4) -> WheelOnHub:
    """A small trailer's wheel on its hub, held by nothing but geometry and friction.

    Parameters
    ----------
    mass : float
        Of the wheel, kg.
    clearance : float
        Between the bore and the hub's pilot, m on the radius; below 1 mm.

    Returns
    -------
    WheelOnHub
        At rest, the bore on its seat.

    Raises
    ------
    ArgumentError, ModelError
        For a mass that is not positive, or a clearance out of its range.

    Examples
    --------
    >>> import spatialops as so
    >>> wheel = so.models.wheel_on_hub(mass=6.0)
    >>> round(wheel.mass, 12), len(wheel.scene().geoms)
    (6.0, 23)
    """
    mass = scalar(mass, "mass", low=0.0, strict=True)
    clearance = scalar(clearance, "clearance", low=_LEAST_CLEARANCE)
    if not clearance < _CLEARANCE:
        raise ModelError(f"clearance: expected less than 1 mm, got {clearance:g} m")
    tyre = _of_mass([_sector(i) for i in range(SECTORS)], TYRE_SHARE * mass)
    rim = _of_mass([_spoke(i, clearance) for i in range(4)], (1.0 - TYRE_SHARE) * mass)
    model = TreeBuilder().add_body("wheel", joint=Joint("free"), inertia=tyre + rim).build()
    q = model.neutral()
    # The flats of the bore, 45 degrees either side of the top, sit on the pilot.
    q[2] = -math.sqrt(2.0) * (clearance - _FREE)
    return WheelOnHub(model, State(q, np.zeros(6)), clearance)


def _of_mass(shapes: list[ConvexHull], mass: float) -> Inertia:
    parts = [shape_inertia(shape) for shape in shapes]
    total = sum(parts[1:], parts[0])
    return total.scaled(mass / total.mass)


def _sector(i: int) -> ConvexHull:
    """A piece of the tyre: flat outside, side walls, and flat inside."""
    half = math.pi / SECTORS
    angles = (2.0 * i - 1.0) * half, (2.0 * i + 1.0) * half
    corners = [
        _at(side * x, r / math.cos(half), angle)
        for angle in angles
        for r, x in _SIDE
        for side in (-1.0, 1.0)
    ]
    return ConvexHull(np.array(corners))


def _spoke(i: int, clearance: float) -> ConvexHull:
    """A quarter of the disc, between slots for the studs; its inner flat is a side of the bore."""
    inner, x = PILOT_RADIUS + clearance, 0.5 * DISC_THICKNESS
    half = math.asin(_SLOT / RIM_RADIUS)
    turn = (i + 0.5) * math.pi / 2.0
    reach = inner - math.sqrt(2.0) * _SLOT  # along the flat, to the slot's edge
    corners = [(inner, -reach), (inner, reach)]
    outer = [
        (RIM_RADIUS * math.cos(a), RIM_RADIUS * math.sin(a)) for a in _arc(math.pi / 4.0 - half)
    ]
    points = [(math.hypot(a, b), math.atan2(b, a) + turn) for a, b in corners + outer]
    both = [_at(side * x, r, angle) for r, angle in points for side in (-1.0, 1.0)]
    return ConvexHull(np.array(both))


def _arc(half: float) -> Array:
    return np.linspace(-half, half, 5)


def _at(x: float, radius: float, angle: float) -> Vec3:
    return x, radius * math.cos(angle), radius * math.sin(angle)


def _hub(friction: float) -> list[Geom]:
    """Flange, pilot, studs, and the post that they stand on."""
    face = 0.5 * DISC_THICKNESS + _AIR
    tip = face - PILOT_LENGTH
    geoms = [
        Geom(
            "flange",
            "world",
            Cylinder(0.075, 0.06),
            position=(face + 0.03, 0.0, 0.0),
            friction=friction,
            rotation=_ALONG_X,
        ),
        Geom(
            "pilot",
            "world",
            Cylinder(PILOT_RADIUS, PILOT_LENGTH),
            position=(0.5 * (face + tip), 0.0, 0.0),
            friction=friction,
            rotation=_ALONG_X,
        ),
    ]
    stud = Capsule(STUD_RADIUS, STUD_LENGTH)
    for i in range(4):
        place = _at(face - 0.5 * STUD_LENGTH, STUD_CIRCLE, 0.5 * math.pi * i)
        geoms.append(
            Geom(f"stud{i}", "world", stud, position=place, friction=friction, rotation=_ALONG_X)
        )
    post = Box((0.07, 0.10, 1.0))
    return [
        *geoms,
        Geom("post", "world", post, position=(face + 0.095, 0.0, -0.44), friction=friction),
    ]
