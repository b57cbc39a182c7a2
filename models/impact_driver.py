"""A cordless impact driver of convex parts: battery, grip, motor housing and chuck."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from spatialops._arrays import Mat3, Vec3, scalar
from spatialops.algebra.inertia import Inertia
from spatialops.collision.inertia import shape_inertia
from spatialops.collision.shapes import Box, ConvexHull, Cylinder, Geom, Shape
from spatialops.models.scene_options import SceneOptions
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model
from spatialops.tree.state import State

GRIP_SIZE = (0.050, 0.036, 0.135)  # m
HOUSING_RADIUS = 0.032  # m
HOUSING_LENGTH = 0.150  # m
HOUSING_HEIGHT = 0.092  # m, of its axis over the grip's middle
BOTTOM = 0.1225  # m from the grip's middle down to what it stands on
_FREE = 1e-5  # m, gap below it at the start
_AS_IT_IS: Mat3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ALONG_X: Mat3 = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))


@dataclass(frozen=True, eq=False)
class ImpactDriver:
    """An impact driver that stands on its battery at the origin, chuck towards +x.

    Parameters
    ----------
    model : Model
        One free body, "driver": its frame in the middle of the grip, x towards the chuck, z up.
    state : State
        At rest, standing on z = 0.
    inertia : Inertia
        Of the driver.
    """

    model: Model
    state: State
    inertia: Inertia

    @property
    def mass(self) -> float:
        """Of the driver, kg."""
        return self.model.mass

    def scene(
        self,
        extra: Sequence[Geom] = (),
        *,
        friction: float = 0.7,
        **options: Unpack[SceneOptions],
    ) -> Scene:
        """The driver and `extra` geoms, which should give it something to stand on.

        Parameters
        ----------
        extra : sequence of Geom
            What else is there.
        friction : float
            Coulomb's coefficient of all parts of the driver.
        **options
            `loops`, `include` and `pair_laws` of `Scene`.

        Returns
        -------
        Scene
            It starts at `state`.
        """
        geoms = [
            Geom(name, "driver", shape, position=place, rotation=turn, friction=friction)
            for name, shape, place, turn, _ in _parts()
        ]
        return Scene(self.model, [*geoms, *extra], state=self.state, **options)


def impact_driver(*, mass: float = 1.8) -> ImpactDriver:
    """A cordless impact driver, a third of its mass battery.

    Parameters
    ----------
    mass : float
        Of the whole, kg.

    Returns
    -------
    ImpactDriver
        At rest, standing on z = 0.

    Raises
    ------
    ArgumentError
        For a mass that is not positive.

    Examples
    --------
    >>> import spatialops as so
    >>> driver = so.models.impact_driver()
    >>> driver.model.nv, [geom.name for geom in driver.scene().geoms]
    (6, ['battery', 'grip', 'housing', 'chuck'])
    """
    mass, inertias = scalar(mass, "mass", low=0.0, strict=True), []
    for _, shape, place, turn, share in _parts():
        own = shape_inertia(shape).rotated(turn)
        inertias.append(own.scaled(share * mass / own.mass).shifted(place))
    total: Inertia = sum(inertias[1:], inertias[0])
    model = TreeBuilder().add_body("driver", joint=Joint("free"), inertia=total).build()
    q = model.neutral()
    q[2] = BOTTOM + _FREE
    return ImpactDriver(model, State(q, np.zeros(6)), total)


def _parts() -> list[tuple[str, Shape, Vec3, Mat3, float]]:
    """Name, shape, place, turn and share of the mass."""
    tilt = math.pi / 8.0
    radius = HOUSING_RADIUS / math.cos(tilt)  # an octagon that lies on a flat
    corners = [
        (radius * math.cos(a), radius * math.sin(a)) for a in tilt + 0.25 * math.pi * np.arange(8)
    ]
    ends = (-0.5 * HOUSING_LENGTH, 0.5 * HOUSING_LENGTH)
    housing = ConvexHull(np.array([(x, y, z) for y, z in corners for x in ends]))
    return [
        ("battery", Box((0.125, 0.080, 0.056)), (0.010, 0.0, -BOTTOM + 0.028), _AS_IT_IS, 0.34),
        ("grip", Box(GRIP_SIZE), (0.0, 0.0, 0.0), _AS_IT_IS, 0.16),
        ("housing", housing, (0.015, 0.0, HOUSING_HEIGHT), _AS_IT_IS, 0.42),
        ("chuck", Cylinder(0.014, 0.045), (0.1125, 0.0, HOUSING_HEIGHT), ALONG_X, 0.08),
    ]
