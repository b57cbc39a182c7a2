"""Bodies that roll: a rattleback and a disc beside the equations of rolling without slipping."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.inertia import Inertia
from spatialops.collision.shapes import Cylinder, Ellipsoid, Geom, HalfSpace, Shape, Sphere
from spatialops.dynamics.jacobian import body_poses
from spatialops.experiments.accuracy.measures import Figure, order, swing
from spatialops.experiments.accuracy.references import (
    GRAVITY,
    DiscSurface,
    EllipsoidSurface,
    RollingBody,
)
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.simulator import Simulator
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.state import State

_FRICTION = 3.0  # enough for rolling without slipping throughout
_STEPS = (4e-3, 2e-3, 1e-3)  # s
_TILT = np.radians(30.0)  # of Euler's disc
DISC_RADIUS = 0.0375  # m


@dataclass(frozen=True)
class Rolling:
    """A body that rolls on a floor, for the engine and for the reference.

    Parameters
    ----------
    name : str
    reference : RollingBody
    shape : Shape
    rotation : (3, 3) array
        Of the body when it begins.
    omega : (3,) array
        Its angular velocity, body axes, rad/s.
    duration : float
        s.
    """

    name: str
    reference: RollingBody
    shape: Shape
    turn: Array
    rotation: Array
    omega: Array
    duration: float

    def scene(self) -> Scene:
        """The body on a half-space, rolling."""
        body = self.reference
        builder = TreeBuilder()
        inertia = Inertia(body.mass, np.zeros(3), body.inertia)
        model = builder.add_body("body", joint=Joint("free"), inertia=inertia).build()
        geoms = [
            Geom("floor", "world", HalfSpace(), friction=_FRICTION),
            Geom("body", "body", self.shape, rotation=self.turn, friction=_FRICTION),
        ]
        rho = body.surface.lever(self.rotation[2])
        q = np.concatenate([[0.0, 0.0, self.rotation[2] @ rho], _quaternion(self.rotation)])
        v = np.concatenate([self.omega, np.cross(self.omega, rho)])
        return Scene(model, geoms, state=State(q, v))


def rattleback() -> Rolling:
    """An ellipsoid whose axes of inertia are turned by 10 degrees, spun against its sense."""
    angle = np.radians(10.0)
    turn = np.array(
        [[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]]
    )
    semi_axes = np.array([0.1, 0.02, 0.015])
    mass = 0.3
    inertia = mass / 5.0 * np.diag([0.02**2 + 0.015**2, 0.1**2 + 0.015**2, 0.1**2 + 0.02**2])
    reference = RollingBody(mass, inertia, EllipsoidSurface(semi_axes, turn))
    rotation = _about_x(np.radians(0.5))
    shape = Ellipsoid(tuple(semi_axes))
    return Rolling("rattleback", reference, shape, turn, rotation, np.array([0.0, 0.0, -5.0]), 3.0)


def disc(share: float = 0.95, tilt: float = _TILT) -> Rolling:
    """Euler's disc at an inclination, rad, rolling on its edge at a share of its steady rate.

    At the steady rate of precession, Omega^2 = 4 g / (a sin alpha), the middle is at rest.
    """
    half = 1e-4
    mass = 0.44
    side = mass * (DISC_RADIUS**2 / 4.0 + (2.0 * half) ** 2 / 12.0)
    inertia = np.diag([side, side, 0.5 * mass * DISC_RADIUS**2])
    reference = RollingBody(mass, inertia, DiscSurface(DISC_RADIUS, half))
    rotation = _about_x(tilt)
    rate = share * np.sqrt(4.0 * GRAVITY / (DISC_RADIUS * np.sin(tilt)))
    omega = rate * (rotation[2] - [0.0, 0.0, np.cos(tilt)])
    shape = Cylinder(DISC_RADIUS, 2.0 * half)
    return Rolling("Euler's disc", reference, shape, np.eye(3), rotation, omega, 1.0)


def run() -> Iterator[Figure]:
    """All figures of this file."""
    for made in (rattleback(), disc()):
        errors, swings = [], []
        for dt in _STEPS:
            error, energy = departure(made, dt)
            errors.append(error)
            swings.append(energy)
        case = f"dt 1 ms, {made.duration:g} s"
        yield Figure(f"{made.name}: spin beside the reference", case, errors[-1], "1", 1e-2)
        yield Figure(f"{made.name}: energy", case, swings[-1], "1", 1e-2)
        yield Figure(
            f"{made.name}: order short of 2", "dt 2 to 1 ms", 2.0 - order(errors), "1", 0.3
        )
    yield five_sevenths()
    yield jellett()


def five_sevenths(dt: float = 1e-3) -> Figure:
    """A ball that slides on a floor and comes to roll does so at 5/7 of its first speed."""
    radius, speed = 0.05, 2.0
    builder = TreeBuilder()
    inertia = Inertia.sphere(radius, mass=0.2)
    model = builder.add_body("ball", joint=Joint("free"), inertia=inertia).build()
    geoms = [
        Geom("floor", "world", HalfSpace(), friction=0.3),
        Geom("ball", "ball", Sphere(radius), friction=0.3),
    ]
    q = np.array([0.0, 0.0, radius, 0.0, 0.0, 0.0, 1.0])
    v = np.array([0.0, 0.0, 0.0, speed, 0.0, 0.0])
    record = Simulator(Scene(model, geoms, state=State(q, v)), dt=dt).run(duration=0.5)
    rotation = body_poses(model, record.q[-1]).rotations[0]
    error = float(abs((rotation @ record.v[-1, 3:])[0] / speed - 5.0 / 7.0))
    return Figure("sliding ball: 5/7 of its speed", f"dt {1e3 * dt:g} ms", error, "1", 1e-6)


def jellett(dt: float = 1e-3) -> Figure:
    """A tippe top, on its way over, keeps L . r, from its centre of mass to the contact (Jellett).

    The figure is the largest departure of that product from its start, of which friction changes
    nothing: it acts at the end of r, and L, the spin and the axis lie in one plane.
    """
    radius, low = 0.02, 0.003
    mass = 0.02
    builder = TreeBuilder()
    tensor = mass * radius**2 * np.diag([0.42, 0.42, 0.38])
    inertia = Inertia(mass, np.zeros(3), tensor)
    model = builder.add_body("top", joint=Joint("free"), inertia=inertia).build()
    geoms = [
        Geom("floor", "world", HalfSpace(), friction=0.3),
        Geom("top", "top", Sphere(radius), (0.0, 0.0, low), friction=0.3),
    ]
    rotation = _about_x(0.1)
    q = np.concatenate([[0.0, 0.0, radius - low * np.cos(0.1)], _quaternion(rotation)])
    v = np.concatenate([rotation.T @ [0.0, 0.0, 120.0], np.zeros(3)])
    record = Simulator(Scene(model, geoms, state=State(q, v)), dt=dt, certify="off").run(
        duration=3.0
    )
    turns = np.array([body_poses(model, q).rotations[0] for q in record.q])
    momenta = np.einsum("tij,tj->ti", turns, record.v[:, :3] @ tensor)
    levers = low * turns[:, :, 2] - [0.0, 0.0, radius]
    found = np.einsum("ti,ti->t", momenta, levers)
    case = f"dt {1e3 * dt:g} ms, 3 s"
    return Figure("tippe top: Jellett's integral", case, swing(found, abs(found[0])), "1", 1e-2)


def departure(made: Rolling, dt: float, **options: object) -> tuple[float, float]:
    """Largest error of the spin about the vertical, and of energy, relative to where they began."""
    scene = made.scene()
    every = round(4e-3 / dt)
    simulator = Simulator(scene, dt=dt, certify="off", **options)  # type: ignore[arg-type]
    record = simulator.run(duration=made.duration, record_every=every)
    gamma, omega = made.reference.path(made.rotation[2], made.omega, record.times)
    expected = np.einsum("ti,ti->t", gamma, omega)
    normals = np.array([body_poses(scene.model, q).rotations[0][2] for q in record.q])
    found = np.einsum("ti,ti->t", normals, record.v[:, :3])
    size = float(np.abs(expected).max())
    return float(np.abs(found - expected).max()) / size, swing(record.energy, record.kinetic[0])


def _about_x(angle: float) -> Array:
    """A turn about x, rad, as a matrix."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def _quaternion(rotation: Array) -> Array:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(rotation).as_quat())
