"""The quadruped of [Z] section 7.1: 16 cm tall, three joints a leg, spherical feet, 47.0882 N."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import scalar, several
from spatialops.algebra.inertia import Inertia
from spatialops.collision.shapes import Box, Capsule, Coefficients, Geom, HalfSpace, Masks, Sphere
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model
from spatialops.tree.state import State

WEIGHT = 47.0882  # N
HEIGHT = 0.15  # m, of the base's origin over level ground at rest; its top is 0.01 higher
FOOT_RADIUS = 0.01  # m
LEGS = ("lf", "rf", "lh", "rh")  # left and right, front and hind
_HIP, _REST = (0.075, 0.08, 0.0), (0.12, 0.10, -0.14)  # m, from the base, of the left front leg
_LENGTHS = 0.05, 0.12, 0.10  # m, of the three links of a leg
_GEARS = 4.0  # N m, the strongest torque of a motor
# The robot never meets itself.
_SOLID: Masks = {"group": 2, "collides_with": 1}
_SHOWN: Masks = {"group": 0, "collides_with": 0}


@dataclass(frozen=True, eq=False)
class Quadruped:
    """A four-legged robot.

    Parameters
    ----------
    model : Model
        18 velocities: a free "base" and, for every leg of "lf", "rf", "lh", "rh", joints "_hip"
        (outwards), "_thigh" (foot away from the middle) and "_knee" (foot back to the middle).
        Equal angles are mirrored postures.
    state : State
        At rest, standing on the ground z = 0.
    feet : tuple of str
        Bodies whose origins are the centres of the spherical feet.
    """

    model: Model
    state: State
    feet: tuple[str, ...]

    @property
    def foot_radius(self) -> float:
        """Radius of the feet, m."""
        return FOOT_RADIUS

    def scene(
        self,
        *,
        friction: float = 0.8,
        restitution: float = 0.0,
        ground: Sequence[Geom] | None = None,
    ) -> Scene:
        """The robot on level ground, whose feet and trunk may touch it.

        Parameters
        ----------
        friction : float
            Coulomb's coefficient of the robot and of the level ground.
        restitution : float
            Of the robot and of the level ground, in [0, 1].
        ground : sequence of Geom, optional
            What it stands on instead of the level ground, with coefficients of their own (a pair
            takes the geometric mean).

        Returns
        -------
        Scene
            It starts at `state`.
        """
        pair: Coefficients = {"friction": friction, "restitution": restitution}
        geoms = [Geom("trunk", "base", Box((0.10, 0.14, 0.02)), **pair, **_SOLID)]
        for name, x in (("shoulders", _HIP[0]), ("haunches", -_HIP[0])):
            geoms.append(
                Geom(name, "base", Box((0.05, 0.16, 0.04)), (x, 0.0, -0.01), **pair, **_SOLID)
            )
        _, thigh, shank = _LENGTHS
        for leg, foot in zip(LEGS, self.feet, strict=True):
            for part, length in (("thigh", thigh), ("shank", shank)):
                middle = (0.0, 0.0, -0.5 * length)
                geoms.append(
                    Geom(f"{leg}_{part}", f"{leg}_{part}", Capsule(0.006, length), middle, **_SHOWN)
                )
            geoms.append(Geom(foot, foot, Sphere(FOOT_RADIUS), **pair, **_SOLID))
        level = Geom("ground", "world", HalfSpace((0.0, 0.0, 1.0)), **pair)
        below = (level,) if ground is None else several(ground, "ground", "geoms")
        return Scene(self.model, [*geoms, *below], state=self.state)


def quadruped(*, weight: float = WEIGHT) -> Quadruped:
    """A small quadruped of 18 degrees of freedom, looking along +x.

    Sizes and torque limits are those that the authors of [Z] published with their experiments; they
    leave out how the mass is spread. Here the trunk has 7/12 of it, and a leg's links 2, 2 and 1
    parts in 48.

    Parameters
    ----------
    weight : float
        N, at 9.81 m/s^2.

    Returns
    -------
    Quadruped
        Standing at rest on z = 0.

    Raises
    ------
    ArgumentError
        For a weight that is not positive.

    References
    ----------
    S. Zapolsky, E. Drumwright, Inverse dynamics with rigid contact and friction, section 7.1.

    Examples
    --------
    >>> import spatialops as so
    >>> robot = so.models.quadruped()
    >>> robot.model.nv, round(robot.model.mass * 9.81, 4)
    (18, 47.0882)
    """
    builder = TreeBuilder()
    part = scalar(weight, "weight", low=0.0, strict=True) / 9.81 / 48.0
    trunk = Inertia.box((0.10, 0.14, 0.02), mass=14.0 * part)
    for x in (_HIP[0], -_HIP[0]):
        trunk = trunk + Inertia.box((0.05, 0.16, 0.04), mass=7.0 * part).shifted((x, 0.0, -0.01))
    builder.add_body("base", joint=Joint("free", name="base"), inertia=trunk)
    for leg in LEGS:
        _add_leg(builder, leg, part)
    model = builder.build()
    q = model.neutral()
    q[model.q_slice("base")] = [0.0, 0.0, HEIGHT, 0.0, 0.0, 0.0, 1.0]
    for leg in LEGS:
        for joint, angle in zip(("hip", "thigh", "knee"), _standing(), strict=True):
            q[model.q_slice(f"{leg}_{joint}")] = angle
    return Quadruped(model, State(q, np.zeros(model.nv)), tuple(f"{leg}_foot" for leg in LEGS))


def _add_leg(builder: TreeBuilder, leg: str, part: float) -> None:
    """Hip about x, thigh and knee about y, turning so that equal angles are mirrored."""
    end, side = (1.0 if leg[1] == "f" else -1.0), (1.0 if leg[0] == "l" else -1.0)
    upper, thigh, shank = _LENGTHS
    links = (
        ("hip", "base", (side, 0.0, 0.0), (end * _HIP[0], side * _HIP[1], 0.0)),
        ("thigh", f"{leg}_hip", (0.0, -end, 0.0), (end * upper, 0.0, 0.0)),
        ("shank", f"{leg}_thigh", (0.0, end, 0.0), (0.0, 0.0, -thigh)),
    )
    bar = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # z to x
    inertias = (
        Inertia.capsule(0.01, upper, mass=2.0 * part)
        .rotated(bar)
        .shifted((0.5 * end * upper, 0.0, 0.0)),
        Inertia.capsule(0.008, thigh, mass=2.0 * part).shifted((0.0, 0.0, -0.5 * thigh)),
        Inertia.capsule(0.008, shank, mass=part).shifted((0.0, 0.0, -0.5 * shank)),
    )
    for (name, parent, axis, place), inertia in zip(links, inertias, strict=True):
        joint = Joint(
            "revolute",
            axis=axis,
            effort_limit=_GEARS,
            name=f"{leg}_{'knee' if name == 'shank' else name}",
        )
        builder.add_body(
            f"{leg}_{name}", parent=parent, joint=joint, inertia=inertia, position=place
        )
    builder.add_body(f"{leg}_foot", parent=f"{leg}_shank", position=(0.0, 0.0, -shank))


def _standing() -> tuple[float, float, float]:
    """Angles of a leg whose foot rests where [Z] 7.1 puts it: a plane triangle, turned outwards."""
    upper, thigh, shank = _LENGTHS
    away = _REST[0] - _HIP[0] - upper
    out = _REST[1] - _HIP[1]
    down = -_REST[2]
    drop = math.hypot(out, down)
    bend = math.acos((away**2 + drop**2 - thigh**2 - shank**2) / (2.0 * thigh * shank))
    forward = math.atan2(away, drop) + math.atan2(
        shank * math.sin(bend), thigh + shank * math.cos(bend)
    )
    return math.atan2(out, down), forward, bend
