"""A scene in MuJoCo's language: same bodies, inertias, joints, shapes, friction, pairs, gravity.

A scene is written once, as one of ours. A body of MuJoCo has the axes of its link here, and all
have the same names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from scipy.spatial.transform import Rotation

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike
from spatialops.bench.measure import BenchError
from spatialops.bench.peers import LibraryObject, require
from spatialops.collision.fixed_shapes import HalfSpace, Mesh
from spatialops.collision.shapes import (
    Box,
    Capsule,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Geom,
    Shape,
    Sphere,
)
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.model import Model
from spatialops.tree.state import State

WORLD = -1
# Bodies from which MuJoCo gets memory for thousands of contacts: its own guess is too small there.
_MANY, _MEMORY = 100, "2G"
_SINGLE = {"revolute": "hinge", "prismatic": "slide"}


def text(values: ArrayLike) -> str:
    """Numbers as MuJoCo reads them, without loss."""
    return " ".join(repr(float(x)) for x in np.ravel(values))


def quaternion(turn: Array) -> str:
    """A rotation matrix as w, x, y, z."""
    x, y, z, w = Rotation.from_matrix(turn.reshape(3, 3)).as_quat()
    return text((w, x, y, z))


def mjcf(scene: Scene, dt: float) -> str:
    """The scene as an MJCF file; solver, tolerances and integrator stay MuJoCo's own.

    Parameters
    ----------
    scene : Scene
        Trees of free, ball, revolute and prismatic joints without closures.
    dt : float
        Time step, s.

    Returns
    -------
    str
        XML.

    Raises
    ------
    BenchError
        For what has no counterpart there.
    """
    if len(scene.loops):
        raise BenchError("closures are not taken over to MuJoCo")
    masks, excluded = masks_of(scene)
    hung: dict[int, list[str]] = {b: [] for b in range(WORLD, scene.model.n_bodies)}
    for g in range(len(scene.geoms)):
        hung[scene.bodies[g]].append(_geom(scene, g, masks[g]))
    children: dict[int, list[int]] = {b: [] for b in hung}
    for b, parent in enumerate(scene.model.body_parents.tolist()):
        children[parent].append(b)
    bodies = "".join(_body(scene.model, b, hung, children) for b in children[WORLD])
    memory = f'<size memory="{_MEMORY}"/>' if scene.model.n_bodies >= _MANY else ""
    names = scene.model.body_names
    apart = "".join(
        f'<exclude body1="{names[a]}" body2="{names[b]}"/>' for a, b in sorted(excluded)
    )
    return (
        '<mujoco><compiler angle="radian"/>'
        f'<option timestep="{text(dt)}" gravity="{text(scene.model.gravity)}"/>{memory}'
        f"<asset>{_meshes(scene.geoms)}</asset><worldbody>{''.join(hung[WORLD])}{bodies}"
        f"</worldbody><contact>{apart}</contact></mujoco>"
    )


def masks_of(scene: Scene) -> tuple[list[tuple[int, int]], set[tuple[int, int]]]:
    """Masks (contype, conaffinity) of the geoms, and pairs of bodies to be named as apart.

    Where nothing that moves meets anything else that moves, masks alone say so: MuJoCo's fastest
    way.
    """
    pairs = {frozenset(pair) for pair in scene.pairs.tolist()}
    met = {g for pair in pairs for g in pair}
    moving = [body != WORLD for body in scene.bodies]
    if not any(all(moving[g] for g in pair) for pair in pairs):
        masks = [
            ((2, 1) if moving[g] else (1, 2)) if g in met else (0, 0) for g in range(len(moving))
        ]
        excluded = set[tuple[int, int]]()
    else:
        masks = [
            (geom.group, geom.collides_with) if g in met else (0, 0)
            for g, geom in enumerate(scene.geoms)
        ]
        excluded = _excluded(scene, pairs)
    if len(moving) <= _MANY:  # thousands of geoms have no names to ignore; the check takes a second
        _check_pairs(scene, pairs, masks, excluded)
    return masks, excluded


def _excluded(scene: Scene, pairs: Iterable[frozenset[int]]) -> set[tuple[int, int]]:
    """Pairs of moving bodies of which nothing may touch, but those that the tree keeps apart."""
    if not scene.ignore:
        return set()
    together = {frozenset(scene.bodies[g] for g in pair) for pair in pairs}
    bodies = sorted({body for body in scene.bodies if body != WORLD})
    return {
        (a, b)
        for a, b in combinations(bodies, 2)
        if frozenset((a, b)) not in together and not _related(scene.model, a, b)
    }


def _related(model: Model, a: int, b: int) -> bool:
    return a == b or model.body_parents[a] == b or model.body_parents[b] == a


def _check_pairs(
    scene: Scene,
    pairs: set[frozenset[int]],
    masks: Sequence[tuple[int, int]],
    excluded: set[tuple[int, int]],
) -> None:
    """MuJoCo's rule must give the pairs of the scene, no more and no fewer."""
    found = set()
    for g, h in combinations(range(len(masks)), 2):
        a, b = sorted((scene.bodies[g], scene.bodies[h]))
        if (a == b) or (a, b) in excluded or (a != WORLD and _related(scene.model, a, b)):
            continue
        if masks[g][0] & masks[h][1] or masks[h][0] & masks[g][1]:
            found.add(frozenset((g, h)))
    if found != pairs:
        raise BenchError(
            f"MuJoCo would let {len(found - pairs)} pairs touch that the scene does not, "
            f"and not {len(pairs - found)} that it does"
        )


def _body(model: Model, b: int, hung: dict[int, list[str]], children: dict[int, list[int]]) -> str:
    """A body with its joint, its geoms and what hangs on it."""
    last = int(model.body_links[b])
    kind = model.joint_kinds[b]
    first = model.v_slice(model.joint_names[b]).start
    place = model.links[first]
    inner = "".join(_body(model, child, hung, children) for child in children[b])
    position = text(place[layout.PLACE_P : layout.PLACE_P + 3])
    return (
        f'<body name="{model.body_names[b]}" pos="{position}" '
        f'quat="{quaternion(place[layout.PLACE_R : layout.PLACE_R + 9])}">'
        f"{_inertial(model.links[last])}{_joint(model, b, kind, first)}"
        f"{''.join(hung[b])}{inner}</body>"
    )


def _inertial(link: Array) -> str:
    """Mass, centre and tensor about it."""
    mass, center = link[layout.MASS], link[layout.COM : layout.COM + 3]
    if mass == 0.0:
        return ""
    xx, xy, xz, yy, yz, zz = link[layout.INERTIA : layout.INERTIA + 6]
    about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    own = about - mass * (center @ center * np.eye(3) - np.outer(center, center))
    full = own[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return f'<inertial pos="{text(center)}" mass="{text(mass)}" fullinertia="{text(full)}"/>'


def _joint(model: Model, b: int, kind: str, first: int) -> str:
    """The joint of a body, with all that acts in it."""
    name = model.joint_names[b]
    link = model.links[first]
    if kind == "free":
        moved = link[layout.PLACE_P : layout.PLACE_P + 3].any()
        turned = not np.array_equal(link[layout.PLACE_R : layout.PLACE_R + 9], np.eye(3).ravel())
        if moved or turned:
            raise BenchError(f"joint {name!r}: a free joint with a place of its own")
        return f'<freejoint name="{name}"/>'
    acts = (
        f'damping="{text(link[layout.DAMPING])}" armature="{text(link[layout.ARMATURE])}" '
        f'frictionloss="{text(model.dry_friction[first])}"'
    )
    if kind == "ball":
        return f'<joint name="{name}" type="ball" {acts}/>'
    if kind not in _SINGLE:
        raise BenchError(f"joint {name!r}: {kind} joints are not part of the benchmark")
    axis = np.eye(3)[model.tree[first, layout.AXIS]]
    limits = np.array([model.lower[first], model.upper[first]])
    ranged = ""
    if np.isfinite(limits).any():
        ranged = f'limited="true" range="{text(np.clip(limits, -1e6, 1e6))}"'
    return f'<joint name="{name}" type="{_SINGLE[kind]}" axis="{text(axis)}" {acts} {ranged}/>'


def _geom(scene: Scene, g: int, mask: tuple[int, int]) -> str:
    geom = scene.geoms[g]
    position, turn = _place(scene, geom)
    if isinstance(geom.shape, HalfSpace):
        attitude = f'zaxis="{text(turn @ np.array(geom.shape.normal))}"'
    else:
        attitude = f'quat="{quaternion(turn)}"'
    friction = text(np.array([geom.friction, geom.torsion, geom.rolling]))
    return (
        f'<geom name="{geom.name}" {_shape(geom.shape, g)} pos="{text(position)}" {attitude} '
        f'friction="{friction}" condim="{max(geom.condim, 3)}" contype="{mask[0]}" '
        f'conaffinity="{mask[1]}"/>'
    )


def _place(scene: Scene, geom: Geom) -> tuple[Array, Array]:
    """Where a geom is in the axes of its link; our tables have hulls about their middle."""
    frame = scene.model.frame(geom.body)
    position = frame.position + frame.rotation @ np.array(geom.position)
    turn = frame.rotation @ geom.turn
    if frame.body == WORLD:
        return position, turn
    to_link = scene.model.turns[scene.model.body_links[frame.body]].T
    return to_link @ position, to_link @ turn


def _shape(shape: Shape, g: int) -> str:
    match shape:
        case Sphere():
            return f'type="sphere" size="{text(shape.radius)}"'
        case HalfSpace():
            return 'type="plane" size="0 0 1"'
        case Capsule():
            return f'type="capsule" size="{text(shape.radius)} {text(0.5 * shape.length)}"'
        case Cylinder():
            return f'type="cylinder" size="{text(shape.radius)} {text(0.5 * shape.length)}"'
        case Box():
            return f'type="box" size="{text(0.5 * np.array(shape.size))}"'
        case Ellipsoid():
            return f'type="ellipsoid" size="{text(shape.semi_axes)}"'
        case ConvexHull() | Mesh():
            return f'type="mesh" mesh="mesh{g}"'
    raise BenchError(f"a {type(shape).__name__} is not part of the benchmark")


def _meshes(geoms: Sequence[Geom]) -> str:
    """Corners of hulls; MuJoCo makes the hull."""
    return "".join(
        f'<mesh name="mesh{g}" inertia="convex" vertex="{text(geom.shape.vertices)}"/>'
        for g, geom in enumerate(geoms)
        if isinstance(geom.shape, ConvexHull | Mesh)
    )


def unequal_frictions(scene: Scene) -> int:
    """Pairs whose friction MuJoCo takes for another: the larger one, where we take the mean."""
    largest = [
        max(scene.geoms[a].friction, scene.geoms[b].friction) for a, b in scene.pairs.tolist()
    ]
    ours = scene.coefficients_of(np.arange(scene.n_pairs)).friction
    return int((np.abs(ours - largest) > 1e-12).sum())


class Twin:
    """MuJoCo's model of a scene, and the maps of states and forces.

    Parameters
    ----------
    scene : Scene
        As `mjcf` takes it.
    dt : float
        s.
    """

    def __init__(self, scene: Scene, dt: float) -> None:
        self.lib = require("mujoco")
        try:
            self.model: LibraryObject = self.lib.MjModel.from_xml_string(mjcf(scene, dt))
        except ValueError as error:
            raise BenchError(f"MuJoCo does not compile the scene: {error}") from error
        self.scene = scene
        model = scene.model
        self._parts = [
            (kind, model.q_slice(name), model.v_slice(name), self.model.joint(name))
            for name, kind in zip(model.joint_names, model.joint_kinds, strict=True)
        ]

    def put_state(self, data: LibraryObject, state: State) -> None:
        """Coordinates and velocities of a state into MuJoCo's."""
        for kind, at_q, at_v, joint in self._parts:
            q, v = state.q[at_q], state.v[at_v]
            to_q, to_v = int(joint.qposadr[0]), int(joint.dofadr[0])
            if kind == "free":
                turn = Rotation.from_quat(q[3:])
                data.qpos[to_q : to_q + 7] = (*q[:3], q[6], *q[3:6])
                data.qvel[to_v : to_v + 6] = (*turn.apply(v[3:]), *v[:3])
            elif kind == "ball":
                data.qpos[to_q : to_q + 4] = (q[3], *q[:3])
                data.qvel[to_v : to_v + 3] = v
            else:
                data.qpos[to_q] = q[0]
                data.qvel[to_v] = v[0]

    def state(self, data: LibraryObject) -> State:
        """MuJoCo's coordinates and velocities as ours."""
        q, v = np.empty(self.scene.model.nq), np.empty(self.scene.model.nv)
        for kind, at_q, at_v, joint in self._parts:
            to_q, to_v = int(joint.qposadr[0]), int(joint.dofadr[0])
            theirs, rates = data.qpos[to_q : to_q + 7], data.qvel[to_v : to_v + 6]
            if kind == "free":
                q[at_q] = (*theirs[:3], *theirs[4:7], theirs[3])
                turn = Rotation.from_quat(q[at_q][3:])
                v[at_v] = (*rates[3:6], *turn.inv().apply(rates[:3]))
            elif kind == "ball":
                q[at_q] = (*theirs[1:4], theirs[0])
                v[at_v] = rates[:3]
            else:
                q[at_q] = theirs[0]
                v[at_v] = rates[0]
        return State(q, v, float(data.time))

    def put_forces(self, data: LibraryObject, tau: Array) -> None:
        """Joint forces (nv,) of motors; free and ball joints have none."""
        for kind, _, at_v, joint in self._parts:
            if kind in _SINGLE:
                data.qfrc_applied[int(joint.dofadr[0])] = tau[at_v][0]
