"""Newton's own rigid solver (XPBD) with its default iterations, on the processor.

Single precision. Restitution is switched on where a world has some; it is off by default.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.engines.engine import Contact, Motion
from spatialops.bench.engines.entrant import LeftOut, library
from spatialops.bench.engines.world import Ball, Body, World
from spatialops.bench.peers import LibraryObject, require

_WORLD = -1


class Newton:
    """As `Engine` says; forces of contacts are not known."""

    name = "newton"
    module = "newton"
    distribution = "newton"

    def __init__(self, world: World, dt: float) -> None:
        self.lib = library(Newton)
        self.warp = require("warp")
        self.dt = dt
        with self.warp.ScopedDevice("cpu"):
            self._build(world)

    def _build(self, world: World) -> None:
        lib = self.lib
        builder = lib.ModelBuilder(gravity=self.warp.vec3(*world.gravity))
        surface = lib.ModelBuilder.ShapeConfig(
            density=0.0, mu=world.friction, restitution=world.restitution
        )
        for body in world.bodies:
            self._add(builder, body, surface)
        if world.floor:
            builder.add_ground_plane(cfg=surface)
        self.model = builder.finalize()
        self.solver = lib.solvers.SolverXPBD(self.model, enable_restitution=world.restitution > 0.0)
        self.now, self.then = self.model.state(), self.model.state()
        self.control = self.model.control()
        self.collisions = lib.CollisionPipeline(self.model)
        self.touching = self.collisions.contacts()
        poses = [(*body.position, *body.quaternion) for body in world.bodies]
        speeds = [(*body.velocity, *body.spin) for body in world.bodies]
        self.now.body_q.assign(np.array(poses, dtype=np.float32))
        self.now.body_qd.assign(np.array(speeds, dtype=np.float32))

    def _add(self, builder: LibraryObject, body: Body, surface: LibraryObject) -> None:
        """A body with its shape and its hinge, if it has them."""
        warp = self.warp
        pose = warp.transform(body.position, body.quaternion)
        inertia = warp.mat33(*np.diag(body.moments).ravel())
        add = builder.add_body if body.hinge is None else builder.add_link
        made = add(xform=pose, mass=body.mass, inertia=inertia, lock_inertia=True)
        if body.shape is not None:
            self._touches(builder, made, body, surface)
        if body.hinge is not None:
            hinge = warp.transform(body.hinge.point, warp.quat_identity())
            joint = builder.add_joint_revolute(
                _WORLD,
                made,
                parent_xform=hinge,
                child_xform=warp.transform_inverse(pose) * hinge,
                axis=body.hinge.axis,
            )
            builder.add_articulation([joint])

    def _touches(
        self, builder: LibraryObject, made: int, body: Body, surface: LibraryObject
    ) -> None:
        place = self.warp.transform(body.place, self.warp.quat_identity())
        if isinstance(body.shape, Ball):
            builder.add_shape_sphere(made, xform=place, radius=body.shape.radius, cfg=surface)
        elif body.shape is not None:
            x, y, z = np.multiply(0.5, body.shape.size).tolist()
            builder.add_shape_box(made, xform=place, hx=x, hy=y, hz=z, cfg=surface)

    def step(self, count: int) -> None:
        """Go on by so many steps, each with its own detection of contacts."""
        with self.warp.ScopedDevice("cpu"):
            for _ in range(count):
                self.now.clear_forces()
                self.collisions.collide(self.now, self.touching)
                self.solver.step(self.now, self.then, self.control, self.touching, self.dt)
                self.now, self.then = self.then, self.now

    def motion(self) -> Motion:
        """Where everything is."""
        poses: Array = self.now.body_q.numpy().astype(float)
        speeds: Array = self.now.body_qd.numpy().astype(float)
        return Motion(poses[:, :3], poses[:, 3:], speeds[:, 3:], speeds[:, :3])

    def contacts(self) -> list[Contact]:
        """Not to be had of this solver."""
        raise LeftOut("its solver does not tell the forces of contacts")
