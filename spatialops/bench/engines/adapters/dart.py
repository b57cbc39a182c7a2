"""DART with its default constraint solver (Dantzig's) and collision detector (FCL).

The floor is a large box, as in DART's own examples. Bodies that rest fall asleep, by default.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.transform import Rotation

from spatialops._arrays import ArrayLike
from spatialops.bench.engines.engine import FLOOR, Contact, Motion
from spatialops.bench.engines.entrant import LeftOut, library
from spatialops.bench.engines.world import Ball, Body, Box, Hinge, Vec4, World
from spatialops.bench.peers import LibraryObject

_GROUND = (100.0, 100.0, 1.0)  # m


class Dart:
    """As `Engine` says."""

    name = "dart"
    module = "dartpy"
    distribution = "dartpy"

    def __init__(self, world: World, dt: float) -> None:
        self.lib = library(Dart)
        self.world = self.lib.simulation.World("world")
        self.world.setTimeStep(dt)
        self.world.setGravity(world.gravity)
        self.bodies = [self._added(body, f"b{i}", world) for i, body in enumerate(world.bodies)]
        self.numbers = {f"b{i}": i for i in range(len(self.bodies))}
        if world.floor:
            self.numbers["floor"] = FLOOR
            self._ground(world)

    def _added(self, body: Body, name: str, world: World) -> LibraryObject:
        """A body in its place, alone in its skeleton."""
        dynamics = self.lib.dynamics
        skeleton = dynamics.Skeleton(name)
        node = self._hung(skeleton, body, body.hinge) if body.hinge else self._free(skeleton, body)
        node.setInertia(dynamics.Inertia(body.mass, np.zeros(3), np.diag(body.moments)))
        if body.shape is not None:
            made = self._touches(node, self._shape(body.shape), world)
            made.setRelativeTransform(self._pose(body.place))
        self.world.addSkeleton(skeleton)
        return node

    def _free(self, skeleton: LibraryObject, body: Body) -> LibraryObject:
        """On a free joint, whose velocities are those of the centre in world axes."""
        joint, node = skeleton.createFreeJointAndBodyNodePair()
        joint.setPositions(joint.convertToPositions(self._pose(body.position, body.quaternion)))
        joint.setVelocities([*body.spin, *body.velocity])
        return node

    def _hung(self, skeleton: LibraryObject, body: Body, hinge: Hinge) -> LibraryObject:
        """On a hinge; the body's axes are its own, the joint's are the world's at the start."""
        joint, node = skeleton.createRevoluteJointAndBodyNodePair()
        joint.setAxis(hinge.axis)
        joint.setTransformFromParentBodyNode(self._pose(hinge.point))
        pose = self._pose(np.subtract(body.position, hinge.point), body.quaternion)
        joint.setTransformFromChildBodyNode(pose.inverse())
        joint.setVelocities([np.dot(body.spin, hinge.axis)])
        return node

    def _pose(self, place: ArrayLike, quaternion: Vec4 = (0.0, 0.0, 0.0, 1.0)) -> LibraryObject:
        pose = self.lib.math.Isometry3()
        pose.set_rotation(Rotation.from_quat(quaternion).as_matrix())
        pose.set_translation(place)
        return pose

    def _shape(self, shape: Ball | Box) -> LibraryObject:
        if isinstance(shape, Ball):
            return self.lib.dynamics.SphereShape(shape.radius)
        return self.lib.dynamics.BoxShape(shape.size)

    def _touches(self, node: LibraryObject, shape: LibraryObject, world: World) -> LibraryObject:
        """Give a body a shape; a pair has the smaller friction, and the product of restitutions."""
        made = node.createShapeNode(shape)
        made.createCollisionAspect()
        aspect = made.createDynamicsAspect()
        aspect.setFrictionCoeff(world.friction)
        aspect.setRestitutionCoeff(math.sqrt(world.restitution))
        return made

    def _ground(self, world: World) -> None:
        skeleton = self.lib.dynamics.Skeleton("floor")
        joint, node = skeleton.createWeldJointAndBodyNodePair()
        joint.setTransformFromParentBodyNode(self._pose((0.0, 0.0, -0.5 * _GROUND[2])))
        self._touches(node, self.lib.dynamics.BoxShape(_GROUND), world)
        self.world.addSkeleton(skeleton)

    def step(self, count: int) -> None:
        """Go on by so many steps."""
        advance = self.world.step
        for _ in range(count):
            advance()

    def motion(self) -> Motion:
        """Where everything is."""
        poses = [body.getWorldTransform() for body in self.bodies]
        return Motion(
            np.array([pose.translation() for pose in poses]),
            Rotation.from_matrix([pose.rotation() for pose in poses]).as_quat(),
            np.array([body.getAngularVelocity() for body in self.bodies]),
            np.array([body.getCOMLinearVelocity() for body in self.bodies]),
        )

    def contacts(self) -> list[Contact]:
        """Contacts of the last step; what sleeps is not asked about its contacts."""
        moving = any(body.getSkeleton().getVelocities().any() for body in self.bodies)
        if self.world.getDeactivationOptions().mEnabled and not moving:
            raise LeftOut("asleep: no forces")
        return [
            Contact(
                self._number(contact.collisionObject1),
                self._number(contact.collisionObject2),
                np.array(contact.force),
            )
            for contact in self.world.getLastCollisionResult().getContacts()
        ]

    def _number(self, touching: LibraryObject) -> int:
        """Number of the body that a collision object is of."""
        node = touching.getShapeFrame().asShapeNode().getBodyNodePtr()
        return self.numbers[node.getSkeleton().getName()]
