"""A plain world as one of our scenes and back, and our states as motions of its bodies."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops.algebra.inertia import Inertia
from spatialops.bench.engines.engine import Motion
from spatialops.bench.engines.entrant import LeftOut
from spatialops.bench.engines.world import Ball, Body, Box, Vec3, World, ball, box, tensor
from spatialops.collision import shapes
from spatialops.collision.fixed_shapes import HalfSpace
from spatialops.dynamics.jacobian import body_poses, node_positions, node_velocities
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.node import Node
from spatialops.tree.state import State


def scene_of(world: World) -> Scene:
    """Our scene of a world: body i is called "b{i}"; a hinged one has its origin on the hinge."""
    builder = TreeBuilder(gravity=world.gravity)
    geoms = []
    q = list[Array]()
    v = list[Array]()
    for i, body in enumerate(world.bodies):
        _add(builder, f"b{i}", body)
        q.append(np.array([*body.position, *body.quaternion]) if body.hinge is None else _ZERO)
        v.append(_velocity(body))
        if body.shape is not None:
            geoms.append(_geom(i, body, world))
    if world.floor:
        geoms.append(_floor(world))
    return Scene(builder.build(), geoms, state=State(np.concatenate(q), np.concatenate(v)))


_ZERO = np.zeros(1)


def _turn(body: Body) -> Array:
    """Attitude at the start (3, 3)."""
    return np.asarray(Rotation.from_quat(body.quaternion).as_matrix())


def _arm(body: Body) -> Array:
    """From the origin of our body to the centre of mass, at the start."""
    return np.zeros(3) if body.hinge is None else np.subtract(body.position, body.hinge.point)


def _add(builder: TreeBuilder, name: str, body: Body) -> None:
    if body.hinge is None:
        inertia = Inertia(body.mass, tensor=np.diag(body.moments))
        builder.add_body(name, joint=Joint("free"), inertia=inertia)
        return
    # Our axes of a hinged body are the world's at the start.
    inertia = Inertia(body.mass, _arm(body), tensor(body, _turn(body)))
    joint = Joint("revolute", axis=body.hinge.axis)
    builder.add_body(name, joint=joint, inertia=inertia, position=body.hinge.point)


def _velocity(body: Body) -> Array:
    if body.hinge is not None:
        return np.array([np.dot(body.spin, body.hinge.axis)])
    into = _turn(body).T
    return np.concatenate([into @ body.spin, into @ body.velocity])


def _geom(i: int, body: Body, world: World) -> shapes.Geom:
    turn = np.eye(3) if body.hinge is None else _turn(body)
    x, y, z = (_arm(body) + turn @ body.place).tolist()
    return shapes.Geom(
        f"g{i}",
        f"b{i}",
        _shape(body),
        (x, y, z),
        friction=world.friction,
        restitution=world.restitution,
        rotation=turn,
    )


def _floor(world: World) -> shapes.Geom:
    friction, restitution = world.friction, world.restitution
    return shapes.Geom("floor", "world", HalfSpace(), friction=friction, restitution=restitution)


def _shape(body: Body) -> shapes.Shape:
    match body.shape:
        case Ball(radius):
            return shapes.Sphere(radius)
        case Box(size):
            return shapes.Box(size)
    raise LeftOut("a body without a shape has no geom")


def motion_of(world: World, scene: Scene, state: State) -> Motion:
    """Where the bodies of a world are, by our coordinates of its scene."""
    nodes = [Node(f"b{i}", _arm(body)) for i, body in enumerate(world.bodies)]
    velocities = node_velocities(scene.model, state.q, state.v, nodes)
    turns = Rotation.from_matrix(body_poses(scene.model, state.q).rotations)
    first = Rotation.from_quat(
        [(0, 0, 0, 1) if body.hinge is None else body.quaternion for body in world.bodies]
    )
    return Motion(
        node_positions(scene.model, state.q, nodes),
        (turns * first).as_quat(),
        velocities[:, :3],
        velocities[:, 3:],
    )


def world_of(scene: Scene) -> World:
    """The world of a scene of free, uniform balls and boxes at rest on a level floor.

    Raises
    ------
    LeftOut
        For a scene of anything else.
    """
    model = scene.model
    moving = {geom.body: geom for geom in scene.geoms if geom.body != "world"}
    floors = [geom for geom in scene.geoms if geom.body == "world"]
    if set(model.joint_kinds) != {"free"} or len(moving) != len(scene.geoms) - 1 or scene.ignore:
        raise LeftOut("only free bodies with a shape each, all of which may touch, are plain")
    if len(floors) != 1 or not _level(floors[0]):
        raise LeftOut("only a level floor is plain")
    masses = model.links[model.body_links, layout.MASS].tolist()
    places = scene.state.q.reshape(-1, 7)[:, :3].tolist()
    bodies = tuple(
        _plain(moving[name].shape, mass, (x, y, z))
        for name, mass, (x, y, z) in zip(model.body_names, masses, places, strict=True)
    )
    x, y, z = model.gravity.tolist()
    return World(bodies, True, floors[0].friction, floors[0].restitution, (x, y, z))


def _level(geom: shapes.Geom) -> bool:
    """Whether it is all below z = 0."""
    shape = geom.shape
    if not isinstance(shape, HalfSpace):
        return False
    up = geom.turn @ np.array(shape.normal)
    return bool(np.allclose(up, [0.0, 0.0, 1.0], atol=1e-12) and geom.position[2] == 0.0)


def _plain(shape: shapes.Shape, mass: float, place: Vec3) -> Body:
    if isinstance(shape, shapes.Sphere):
        return ball(shape.radius, mass, place)
    if isinstance(shape, shapes.Box):
        x, y, z = shape.size
        return box((x, y, z), mass, place)
    raise LeftOut(f"a {type(shape).__name__} is not plain")
