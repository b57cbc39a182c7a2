"""Drake's discrete plant with its default contact solver and the default stiffness of its scenes.

Balls have contacts of one point, Drake's default. No box stands on one: boxes are compliant, with
Drake's default modulus, on a rigid half-space (hydroelastic contact).
"""

from __future__ import annotations

import numpy as np

from spatialops.bench.engines.engine import Contact, Motion
from spatialops.bench.engines.entrant import LeftOut, library
from spatialops.bench.engines.world import Ball, Body, Box, Vec3, World
from spatialops.bench.peers import LibraryObject

_FINE = 0.02  # m, of the surface's mesh: the default of Drake's scenes
_MODULUS = 1e7  # Pa, likewise


class Drake:
    """As `Engine` says."""

    name = "drake"
    module = "pydrake.all"
    distribution = "drake"

    def __init__(self, world: World, dt: float) -> None:
        if world.restitution:
            raise LeftOut("no coefficient of restitution")
        self.lib = library(Drake)
        self.dt = dt
        self.taken = 0
        self.numbers: dict[object, int] = {}  # of bodies by their geometry
        builder = self.lib.DiagramBuilder()
        config = self.lib.MultibodyPlantConfig(time_step=dt)
        self.plant, _ = self.lib.AddMultibodyPlant(config, builder)
        self.bodies = [self._added(body, f"b{i}", world) for i, body in enumerate(world.bodies)]
        if world.floor:
            self._ground(world)
        self.plant.mutable_gravity_field().set_gravity_vector(world.gravity)
        self.plant.Finalize()
        self.simulator = self.lib.Simulator(builder.Build())
        self.context = self.plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        for body, described in zip(self.bodies, world.bodies, strict=True):
            self._place(body, described)
        self.simulator.Initialize()

    def _added(self, body: Body, name: str, world: World) -> LibraryObject:
        """A body with its shape and its hinge, if it has them."""
        lib, plant = self.lib, self.plant
        unit = lib.UnitInertia(*np.divide(body.moments, body.mass))
        made = plant.AddRigidBody(name, lib.SpatialInertia(body.mass, np.zeros(3), unit))
        if body.shape is not None:
            properties = lib.ProximityProperties()
            if isinstance(body.shape, Box):
                lib.AddCompliantHydroelasticProperties(_FINE, _MODULUS, properties)
            self._touches(made, _shape(lib, body.shape), properties, world, body.place)
        if body.hinge is not None:
            # The joint's axes are the world's at the start.
            turn = lib.RotationMatrix(_quaternion(lib, body))
            arm = np.subtract(body.hinge.point, body.position)
            on_body = lib.RigidTransform(turn.inverse(), turn.inverse().multiply(arm))
            ends = [
                plant.AddFrame(lib.FixedOffsetFrame(name + end, frame, pose))
                for end, frame, pose in (
                    (" at the world", plant.world_frame(), lib.RigidTransform(body.hinge.point)),
                    (" at the body", made.body_frame(), on_body),
                )
            ]
            plant.AddJoint(lib.RevoluteJoint(name, *ends, body.hinge.axis))
        return made

    def _touches(
        self,
        body: LibraryObject,
        shape: LibraryObject,
        properties: LibraryObject,
        world: World,
        place: Vec3 = (0.0, 0.0, 0.0),
    ) -> None:
        friction = self.lib.CoulombFriction(world.friction, world.friction)
        self.lib.AddContactMaterial(friction=friction, properties=properties)
        name, pose = f"{body.name()}'s shape", self.lib.RigidTransform(place)
        made = self.plant.RegisterCollisionGeometry(body, pose, shape, name, properties)
        self.numbers[made] = int(body.index()) - 1  # the world is body 0

    def _ground(self, world: World) -> None:
        properties = self.lib.ProximityProperties()
        self.lib.AddRigidHydroelasticProperties(properties)
        self._touches(self.plant.world_body(), self.lib.HalfSpace(), properties, world)

    def _place(self, body: LibraryObject, described: Body) -> None:
        lib = self.lib
        if described.hinge is None:
            pose = lib.RigidTransform(_quaternion(lib, described), described.position)
            velocity = lib.SpatialVelocity(np.array(described.spin), np.array(described.velocity))
            self.plant.SetFreeBodyPose(self.context, body, pose)
            self.plant.SetFreeBodySpatialVelocity(self.context, body, velocity)
        else:
            joint = self.plant.GetJointByName(body.name())
            joint.set_angular_rate(self.context, np.dot(described.spin, described.hinge.axis))

    def step(self, count: int) -> None:
        """Go on by so many steps, in one call."""
        self.taken += count
        self.simulator.AdvanceTo(self.taken * self.dt)

    def motion(self) -> Motion:
        """Where everything is."""
        plant, context = self.plant, self.context
        poses = [plant.EvalBodyPoseInWorld(context, body) for body in self.bodies]
        speeds = [plant.EvalBodySpatialVelocityInWorld(context, body) for body in self.bodies]
        turns = np.array([pose.rotation().ToQuaternion().wxyz() for pose in poses])
        return Motion(
            np.array([pose.translation() for pose in poses]),
            turns[:, [1, 2, 3, 0]],
            np.array([speed.rotational() for speed in speeds]),
            np.array([speed.translational() for speed in speeds]),
        )

    def contacts(self) -> list[Contact]:
        """Contacts at the present state: of points, and of surfaces that press on each other."""
        found = self.plant.get_contact_results_output_port().Eval(self.context)
        contacts = []
        for i in range(found.num_point_pair_contacts()):
            point = found.point_pair_contact_info(i)
            first, second = int(point.bodyA_index()) - 1, int(point.bodyB_index()) - 1
            contacts.append(Contact(second, first, np.array(point.contact_force())))
        for i in range(found.num_hydroelastic_contacts()):
            info = found.hydroelastic_contact_info(i)
            sides = info.contact_surface().id_M(), info.contact_surface().id_N()
            first, second = (self.numbers[side] for side in sides)
            contacts.append(Contact(first, second, np.array(info.F_Ac_W().translational())))
        return contacts


def _quaternion(lib: LibraryObject, body: Body) -> LibraryObject:
    """Attitude of a body, as Drake has it: w first."""
    x, y, z, w = body.quaternion
    return lib.Quaternion(np.array([w, x, y, z]))


def _shape(lib: LibraryObject, shape: Ball | Box) -> LibraryObject:
    if isinstance(shape, Ball):
        return lib.Sphere(shape.radius)
    return lib.Box(*shape.size)
