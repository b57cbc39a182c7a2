"""The multi-link pendulum of [J] section 8: spheres on pins, a floor below and a wall beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import scalar, whole
from spatialops.algebra.inertia import Inertia
from spatialops.collision.shapes import Coefficients, Geom, HalfSpace, Sphere
from spatialops.errors import ArgumentError
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model
from spatialops.tree.state import State

_MOST_LINKS = 1_000_000  # beyond, the builder alone would take minutes: a mistake

LENGTH = 12.0  # m
BASE_HEIGHT = 10.0  # m
WALL_DISTANCE = 4.0  # m
GRAVITY = 9.8  # m/s^2


@dataclass(frozen=True, eq=False)
class Pendulum:
    """A pendulum of n spheres.

    Parameters
    ----------
    model : Model
        Bodies "link1" .. "linkN", joints about the world's -y axis, zero hanging straight down.
    radius : float
        Of each sphere, m.
    state : State
        pi/4 to the left of the vertical, swinging to the right at 1 rad/s, links in line.
    """

    model: Model
    radius: float
    state: State

    def scene(self, *, friction: float = 0.5, restitution: float = 0.7) -> Scene:
        """The pendulum above the floor z = 0 and left of the wall x = 4 m.

        Parameters
        ----------
        friction : float
            Coulomb's coefficient of all pairs.
        restitution : float
            Of all pairs, in [0, 1].

        Returns
        -------
        Scene
            It starts at `state`.

        Raises
        ------
        ArgumentError
            For a single link: a sphere 12 m across does not fit above the floor.
        """
        if self.model.n_bodies < 2:
            raise ArgumentError(
                "n_links: a single sphere 12 m across does not fit above the floor; take at least 2"
            )
        pair: Coefficients = {"friction": friction, "restitution": restitution}
        geoms = [
            Geom(name, name, Sphere(self.radius), position=(0.0, 0.0, -self.radius), **pair)
            for name in self.model.body_names
        ]
        geoms.append(Geom("floor", "world", HalfSpace((0.0, 0.0, 1.0)), **pair))
        geoms.append(
            Geom(
                "wall",
                "world",
                HalfSpace((-1.0, 0.0, 0.0)),
                position=(WALL_DISTANCE, 0.0, 0.0),
                **pair,
            )
        )
        return Scene(self.model, geoms, state=self.state)


def pendulum(
    n_links: int = 12, *, mass: float = 1.0, angle: float = -math.pi / 4, rate: float = 1.0
) -> Pendulum:
    """A pendulum of `n_links` identical spheres, 12 m long whatever their number, its base 10 m up.

    Parameters
    ----------
    n_links : int
        At least 1.
    mass : float
        Of each sphere, kg.
    angle : float
        From the vertical at the start, positive to the right, rad; links in line.
    rate : float
        Of the angle at the start, rad/s.

    Returns
    -------
    Pendulum
        The model, its state at the start, and the radius of the spheres.

    Raises
    ------
    ArgumentError
        For a number of links below 1.

    Examples
    --------
    >>> import spatialops as so
    >>> arm = so.models.pendulum(3)
    >>> arm.radius, arm.model.body_names
    (2.0, ('link1', 'link2', 'link3'))
    >>> [geom.name for geom in arm.scene(restitution=0.5).geoms]
    ['link1', 'link2', 'link3', 'floor', 'wall']
    """
    n = whole(n_links, "n_links", low=1, high=_MOST_LINKS)
    radius = 0.5 * LENGTH / n
    builder = TreeBuilder(gravity=(0.0, 0.0, -GRAVITY))
    inertia = Inertia.sphere(radius, mass=mass).shifted((0.0, 0.0, -radius))
    for i in range(n):
        place = (0.0, 0.0, BASE_HEIGHT) if i == 0 else (0.0, 0.0, -2.0 * radius)
        builder.add_body(
            f"link{i + 1}",
            parent="world" if i == 0 else f"link{i}",
            joint=Joint("revolute", axis=(0.0, -1.0, 0.0), name=f"pin{i + 1}"),
            inertia=inertia,
            position=place,
        )
    q, v = np.zeros(n), np.zeros(n)
    q[0], v[0] = scalar(angle, "angle"), scalar(rate, "rate")
    return Pendulum(builder.build(), radius, State(q, v))
