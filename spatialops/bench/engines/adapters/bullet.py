"""Bullet through PyBullet: sequential impulses, multibodies, its default tolerances.

Bullet gives bodies drag by default, which no world here has: it is set to zero. Coefficients of a
pair are products of those of its bodies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from spatialops.bench.engines.engine import FLOOR, Contact, Motion
from spatialops.bench.engines.entrant import library
from spatialops.bench.engines.world import Ball, Body, Box, Vec3, World
from spatialops.bench.peers import LibraryObject

_NO_SHAPE = -1
_WHOLE, _LINK = -1, 0  # which part of a multibody is the body: its base, or what hangs on it


class Bullet:
    """As `Engine` says."""

    name = "bullet"
    module = "pybullet"
    distribution = "pybullet"

    def __init__(self, world: World, dt: float) -> None:
        self.lib = library(Bullet)
        self.client: int = self.lib.connect(self.lib.DIRECT)
        self._call("setTimeStep", dt)
        self._call("setGravity", *world.gravity)
        self.bodies = [(self._added(body), body.hinge is not None) for body in world.bodies]
        self.numbers = {handle: i for i, (handle, _) in enumerate(self.bodies)}
        for handle, hung in self.bodies:
            self._rub(handle, _LINK if hung else _WHOLE, world)
        if world.floor:
            plane = self._call("createCollisionShape", self.lib.GEOM_PLANE)
            floor = self._call("createMultiBody", 0.0, plane)
            self._rub(floor, _WHOLE, world)
            self.numbers[floor] = FLOOR

    def __del__(self) -> None:
        if hasattr(self, "client"):
            self.lib.disconnect(self.client)

    def _call(self, name: str, *values: object, **options: object) -> LibraryObject:
        """A function of PyBullet on this world."""
        return getattr(self.lib, name)(*values, physicsClientId=self.client, **options)

    def _rub(self, handle: int, part: int, world: World) -> None:
        self._call(
            "changeDynamics",
            handle,
            part,
            lateralFriction=math.sqrt(world.friction),
            restitution=math.sqrt(world.restitution),
            linearDamping=0.0,
            angularDamping=0.0,
            jointDamping=0.0,
        )

    def _added(self, body: Body) -> int:
        """A body in its place; Bullet's number for it."""
        shape = self._shape(body.shape, body.place)
        if body.hinge is not None:
            return self._hung(body, shape)
        handle = self._call(
            "createMultiBody",
            body.mass,
            shape,
            basePosition=body.position,
            baseOrientation=body.quaternion,
        )
        self._call("changeDynamics", handle, _WHOLE, localInertiaDiagonal=body.moments)
        self._call("resetBaseVelocity", handle, body.velocity, body.spin)
        return int(handle)

    def _hung(self, body: Body, shape: int) -> int:
        """A base without mass at the hinge, and the body as its only link."""
        assert body.hinge is not None
        point, axis = body.hinge.point, body.hinge.axis
        arm = np.subtract(body.position, point).tolist()
        handle = self._call(
            "createMultiBody",
            0.0,
            basePosition=point,
            linkMasses=[body.mass],
            linkCollisionShapeIndices=[shape],
            linkVisualShapeIndices=[-1],
            linkPositions=[(0.0, 0.0, 0.0)],
            linkOrientations=[(0.0, 0.0, 0.0, 1.0)],
            linkInertialFramePositions=[arm],
            linkInertialFrameOrientations=[body.quaternion],
            linkParentIndices=[0],
            linkJointTypes=[self.lib.JOINT_REVOLUTE],
            linkJointAxis=[axis],
        )
        self._call("changeDynamics", handle, _LINK, localInertiaDiagonal=body.moments)
        # A joint has a motor that brakes, unless told otherwise.
        self._call("setJointMotorControl2", handle, _LINK, self.lib.VELOCITY_CONTROL, force=0.0)
        speed = float(np.dot(body.spin, axis))
        self._call("resetJointState", handle, _LINK, 0.0, targetVelocity=speed)
        return int(handle)

    def _shape(self, shape: Ball | Box | None, place: Vec3) -> int:
        if shape is None:
            return _NO_SHAPE
        kind: int = self.lib.GEOM_BOX
        size: dict[str, object] = {}
        if isinstance(shape, Ball):
            kind, size["radius"] = self.lib.GEOM_SPHERE, shape.radius
        else:
            size["halfExtents"] = [0.5 * edge for edge in shape.size]
        return int(self._call("createCollisionShape", kind, collisionFramePosition=place, **size))

    def step(self, count: int) -> None:
        """Go on by so many steps."""
        advance, client = self.lib.stepSimulation, self.client
        for _ in range(count):
            advance(physicsClientId=client)

    def motion(self) -> Motion:
        """Where everything is."""
        return Motion(*map(np.array, zip(*map(self._one, self.bodies), strict=True)))

    def _one(self, body: tuple[int, bool]) -> tuple[Sequence[float], ...]:
        """Place, attitude, spin and velocity of a body."""
        handle, hung = body
        if hung:
            found = self._call("getLinkState", handle, _LINK, computeLinkVelocity=1)
            return found[0], found[1], found[7], found[6]
        place, turn = self._call("getBasePositionAndOrientation", handle)
        velocity, spin = self._call("getBaseVelocity", handle)
        return place, turn, spin, velocity

    def contacts(self) -> list[Contact]:
        """Contacts of the last step: normal force, and friction in two directions."""
        found = []
        for point in self._call("getContactPoints"):
            force = np.multiply(point[9], point[7])
            force = force + np.multiply(point[10], point[11]) + np.multiply(point[12], point[13])
            found.append(Contact(self.numbers[point[1]], self.numbers[point[2]], force))
        return found
