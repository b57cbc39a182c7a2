"""Bodies that roll: a rattleback and a disc beside the equations of rolling without slipping."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.inertia import Inertia
from spatialops.collision.shapes import Cylinder, Ellipsoid, Geom, HalfSpace, Shape
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


def disc(share: float = 0.95) -> Rolling:
    """Euler's disc at 30 degrees, rolling on its edge at a share of its steady rate.

    At the steady rate of precession, Omega^2 = 4 g / (a sin alpha), the middle is at rest.
    """
    radius = 0.0375
    half = 1e-4
    mass = 0.44
    side = mass * (radius**2 / 4.0 + (2.0 * half) ** 2 / 12.0)
    inertia = np.diag([side, side, 0.5 * mass * radius**2])
    reference = RollingBody(mass, inertia, DiscSurface(radius, half))
    tilt = np.radians(30.0)
    rotation = _about_x(tilt)
    rate = share * np.sqrt(4.0 * GRAVITY / (radius * np.sin(tilt)))
    omega = rate * (rotation[2] - [0.0, 0.0, np.cos(tilt)])
    shape = Cylinder(radius, 2.0 * half)
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
    yield third_root()


def third_root(dt: float = 1e-3) -> Figure:
    """Euler's disc in thin air: alpha ^ 3 falls linearly, so that alpha goes as (t_f - t)^(1/3).

    A torque against the spin takes k / alpha^2 of power, as the air under the disc does, and the
    energy is (3/2) m g a sin alpha: alpha^3 = alpha_0^3 - 2 k t / (m g a) (K. Moffatt, Nature 404,
    2000). The figure is the largest departure from the line, over its fall.
    """
    made = disc(1.0)
    scene = made.scene()
    power = 2e-5

    def air(time: float, state: State, contacts: object) -> Array:
        spin = state.v[:3]
        alpha = float(np.arccos(min(body_poses(scene.model, state.q).rotations[0][2, 2], 1.0)))
        tau = np.zeros(6)
        tau[:3] = -power / alpha**2 * spin / (spin @ spin)
        return tau

    record = Simulator(scene, dt=dt, certify="off").run(
        duration=made.duration, controller=air, record_every=10
    )
    cosines = [body_poses(scene.model, q).rotations[0][2, 2] for q in record.q]
    cubes = np.arccos(cosines) ** 3
    line = np.polyval(np.polyfit(record.times, cubes, 1), record.times)
    error = float(np.abs(cubes - line).max() / np.ptp(line))
    return Figure("Euler's disc: alpha^3 against time", f"dt {1e3 * dt:g} ms", error, "1", 1e-2)


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
