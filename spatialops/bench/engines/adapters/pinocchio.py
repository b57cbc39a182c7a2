"""Pinocchio's forward dynamics of bodies that touch nothing; the rule of time is semi-implicit.

Pinocchio has no rule of its own: velocity by `aba`, then position by `integrate` with the new
velocity, as in its examples. The loop is Python's, and is part of the cost.
"""

from __future__ import annotations

import numpy as np

from spatialops.bench.engines.engine import Contact, Motion
from spatialops.bench.engines.entrant import LeftOut, library
from spatialops.bench.engines.world import Body, World
from spatialops.bench.peers import LibraryObject


class Pinocchio:
    """As `Engine` says, for worlds without contact."""

    name = "pinocchio"
    module = "pinocchio"
    distribution = "pin"

    def __init__(self, world: World, dt: float) -> None:
        if any(body.shape is not None for body in world.bodies):
            raise LeftOut("smooth dynamics only: no simulation of contacts")
        self.lib = library(Pinocchio)
        self.dt = dt
        self.model = self.lib.Model()
        self.model.gravity.linear = np.array(world.gravity)
        for i, body in enumerate(world.bodies):
            self._add(body, f"b{i}")
        self.data = self.model.createData()
        self.q = self.lib.neutral(self.model)
        self.v = np.zeros(self.model.nv)
        for i, body in enumerate(world.bodies):
            self._place(body, self.model.joints[i + 1])
        self.tau = np.zeros(self.model.nv)

    def _add(self, body: Body, name: str) -> None:
        """A body whose centre is the origin of its frame, whatever joint it hangs on."""
        lib = self.lib
        inertia = lib.Inertia(body.mass, np.zeros(3), np.diag(body.moments))
        if body.hinge is None:
            joint = self.model.addJoint(0, lib.JointModelFreeFlyer(), lib.SE3.Identity(), name)
            place = lib.SE3.Identity()
        else:
            axis = lib.JointModelRevoluteUnaligned(np.array(body.hinge.axis))
            point = np.array(body.hinge.point)
            joint = self.model.addJoint(0, axis, lib.SE3(np.eye(3), point), name)
            place = lib.SE3(_turn(lib, body), np.subtract(body.position, body.hinge.point))
        self.model.appendBodyToJoint(joint, inertia, place)
        self.model.addFrame(lib.Frame(name, joint, place, lib.FrameType.BODY))

    def _place(self, body: Body, joint: LibraryObject) -> None:
        if body.hinge is not None:
            self.v[joint.idx_v] = np.dot(body.spin, body.hinge.axis)
            return
        back = _turn(self.lib, body).T
        self.q[joint.idx_q : joint.idx_q + 7] = (*body.position, *body.quaternion)
        self.v[joint.idx_v : joint.idx_v + 6] = (*(back @ body.velocity), *(back @ body.spin))

    def step(self, count: int) -> None:
        """Go on by so many steps."""
        model = self.model
        data = self.data
        lib = self.lib
        for _ in range(count):
            self.v = self.v + self.dt * lib.aba(model, data, self.q, self.v, self.tau)
            self.q = lib.integrate(model, self.q, self.dt * self.v)

    def motion(self) -> Motion:
        """Where everything is."""
        lib, frames = self.lib, range(1, self.model.nframes)  # frame 0 is the world
        lib.forwardKinematics(self.model, self.data, self.q, self.v)
        lib.updateFramePlacements(self.model, self.data)
        poses = [self.data.oMf[k] for k in frames]
        axes = lib.ReferenceFrame.LOCAL_WORLD_ALIGNED
        speeds = [lib.getFrameVelocity(self.model, self.data, k, axes) for k in frames]
        return Motion(
            np.array([pose.translation for pose in poses]),
            np.array([lib.Quaternion(pose.rotation).coeffs() for pose in poses]),
            np.array([speed.angular for speed in speeds]),
            np.array([speed.linear for speed in speeds]),
        )

    def contacts(self) -> list[Contact]:
        """None: nothing touches."""
        return []


def _turn(lib: LibraryObject, body: Body) -> LibraryObject:
    """Attitude at the start (3, 3)."""
    x, y, z, w = body.quaternion
    return lib.Quaternion(w, x, y, z).matrix()
