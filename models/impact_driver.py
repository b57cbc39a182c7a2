"""A cordless impact driver of convex parts: the battery that it stands on, grip, motor housing and chuck."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spatialops._arrays import scalar
from spatialops.algebra.inertia import Inertia
from spatialops.collision.inertia import shape_inertia
from spatialops.collision.shapes import Box, ConvexHull, Cylinder, Geom, Shape
from spatialops.simulation.scene import Scene
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model
from spatialops.tree.state import State

GRIP_SIZE = (0.050, 0.036, 0.135)  # m
HOUSING_RADIUS, HOUSING_LENGTH, HOUSING_HEIGHT = 0.032, 0.150, 0.092  # m; height of its axis over the grip's middle
BOTTOM = 0.1225  # m from the grip's middle down to what it stands on
_ALONG_X = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])


@dataclass(frozen=True, eq=False)
class ImpactDriver:
    """An impact driver that stands on its battery at the origin, chuck towards +x.

    Attributes
    ----------
    model : Model
        One free body, "driver": its frame in the middle of the grip, x towards the chuck, z up.
    state : State
        At rest, standing on z = 0.
    """

    model: Model
    state: State

    @property
    def mass(self) -> float:
        """Of the driver, kg."""
        return self.model.mass

    def scene(self, extra: Sequence[Geom] = (), *, friction: float = 0.7, **options: Any) -> Scene:
        """The driver and `extra` geoms, which should give it something to stand on; `options` go to `Scene`."""
        geoms = [
            Geom(name, "driver", shape, position=place, rotation=turn, friction=friction)
            for name, shape, place, turn, _ in _parts()
        ]
        return Scene(self.model, [*geoms, *extra], state=self.state, **options)


def impact_driver(*, mass: float = 1.8) -> ImpactDriver:
    """A cordless impact driver of `mass` (kg), a third of it battery.

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
    q[2] = BOTTOM + 1e-5
    return ImpactDriver(model, State(q, np.zeros(6)))


def _parts() -> list[tuple[str, Shape, tuple[float, float, float], Any, float]]:
    """Name, shape, place, turn and share of the mass."""
    tilt, eye = math.pi / 8.0, np.eye(3)
    radius = HOUSING_RADIUS / math.cos(tilt)  # an octagon that lies on a flat
    corners = [(radius * math.cos(a), radius * math.sin(a)) for a in tilt + 0.25 * math.pi * np.arange(8)]
    housing = ConvexHull([(x, y, z) for y, z in corners for x in (-0.5 * HOUSING_LENGTH, 0.5 * HOUSING_LENGTH)])
    return [
        ("battery", Box((0.125, 0.080, 0.056)), (0.010, 0.0, -BOTTOM + 0.028), eye, 0.34),
        ("grip", Box(GRIP_SIZE), (0.0, 0.0, 0.0), eye, 0.16),
        ("housing", housing, (0.015, 0.0, HOUSING_HEIGHT), eye, 0.42),
        ("chuck", Cylinder(0.014, 0.045), (0.1125, 0.0, HOUSING_HEIGHT), _ALONG_X, 0.08),
    ]
