"""What a scene has beside its model, as elements of a MJCF file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from spatialops._arrays import Array, ArrayLike
from spatialops.algebra.rotation import rotation_matrix, to_quaternion
from spatialops.collision import _layout as col
from spatialops.collision.shapes import (
    Box,
    Capsule,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Geom,
    HalfSpace,
    Mesh,
    Sphere,
)
from spatialops.forces.actuators import Actuator
from spatialops.forces.paths import Around, TendonPath
from spatialops.forces.tendons import Tendon
from spatialops.io.description import Notes
from spatialops.io.writing.urdf_tree import words
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.scene.touching_pairs import touching_pairs
from spatialops.tree.described import described
from spatialops.tree.loop import Loop
from spatialops.tree.loops import Loops
from spatialops.tree.node import Node

_WXYZ = [3, 0, 1, 2]
_BARE = {"contype": "0", "conaffinity": "0", "mass": "0"}  # what a geom is beside its shape
_OPEN = {"contype": "1", "conaffinity": "1", "mass": "0"}  # and where it touches all others
_BOUND = 1e30  # of a range that is open on one side


def add_scene(root: Element, scene: Scene, notes: Notes) -> None:
    """Add geoms, pairs, closures, tendons, actuators and the state to <mujoco> of the model.

    Where a file's geoms make the pairs of the scene by themselves, and all have the same
    coefficients, geoms say so. Else pairs are written one by one, with what they have: a file's
    masks and its rule of mixing would say something else.
    """
    _Writer(root, scene, notes).write()


class _Writer:
    """Elements that are added to, and names that are made up."""

    def __init__(self, root: Element, scene: Scene, notes: Notes) -> None:
        self.root = root
        self.scene = scene
        self.notes = notes
        world = root.find("worldbody")
        assert world is not None
        self.bodies = {str(body.get("name")): body for body in root.iter("body")}
        self.bodies["world"] = world
        self.geoms = set[str]()
        self.count = 0
        self.alike = _are_alike(scene)

    def write(self) -> None:
        """Everything."""
        for geom in self.scene.geoms:
            self._geom(geom)
        self._pairs()
        for loop in self.scene.loops.items:
            self._loop(loop)
        for i, tendon in enumerate(self.scene.tendons):
            self._tendon(tendon, tendon.name or f"tendon{i}")
        for actuator in self.scene.actuators:
            self._actuator(actuator)
        self._state()

    def _part(self, name: str) -> Element:
        """A part of the file, made where it is not there yet."""
        found = self.root.find(name)
        return SubElement(self.root, name) if found is None else found

    def _made_name(self, what: str) -> str:
        self.count += 1
        return f"{what}_{self.count}"

    # ------------------------------------------------------------------------------------ contacts
    def _geom(self, geom: Geom) -> None:
        shape, turn = geom.shape, geom.turn
        kind, sizes = "", list[float]()
        given: dict[str, str] = {}
        if isinstance(shape, Sphere):
            kind, sizes = "sphere", [shape.radius]
        elif isinstance(shape, (Capsule, Cylinder)):
            kind = "capsule" if isinstance(shape, Capsule) else "cylinder"
            sizes = [shape.radius, 0.5 * shape.length]
        elif isinstance(shape, Box):
            kind, sizes = "box", [0.5 * float(edge) for edge in shape.size]
        elif isinstance(shape, Ellipsoid):
            kind, sizes = "ellipsoid", [float(axis) for axis in shape.semi_axes]
        elif isinstance(shape, HalfSpace):
            kind, sizes = "plane", [0.0, 0.0, 1.0]
            turn = turn @ _up_to(np.asarray(shape.normal, dtype=np.float64))
        elif isinstance(shape, (ConvexHull, Mesh)):
            kind, given = "mesh", {"mesh": self._mesh(shape)}
        else:
            self.notes.add(f"a {type(shape).__name__} has no counterpart in MJCF", geom.name)
            return
        if geom.restitution:
            self.notes.add("a MJCF file has no restitution", geom.name)
        if sizes:
            given["size"] = words(np.array(sizes))
        frame = {"pos": words(np.asarray(geom.position)), "quat": _quat(turn)}
        beside = {**_OPEN, **_rubbing(self.scene, 0, 3)} if self.alike else _BARE
        given = {"name": geom.name, "type": kind, **given, **frame, **beside}
        SubElement(self.bodies[geom.body], "geom", given)
        self.geoms.add(geom.name)

    def _mesh(self, shape: ConvexHull | Mesh) -> str:
        name = self._made_name("mesh")
        given = {"name": name, "vertex": words(np.asarray(shape.vertices).ravel())}
        if isinstance(shape, Mesh):
            given["face"] = " ".join(str(int(i)) for i in np.asarray(shape.faces).ravel())
            self.notes.add("MuJoCo collides with the hull of a mesh", name)
        SubElement(self._part("asset"), "mesh", given)
        return name

    def _pairs(self) -> None:
        for row in range(0 if self.alike else self.scene.n_pairs):
            names = self.scene.pair_names(row)
            if set(names) <= self.geoms:
                given = {"geom1": names[0], "geom2": names[1], **_rubbing(self.scene, row, 5)}
                SubElement(self._part("contact"), "pair", given)

    # ------------------------------------------------------------------------------------ closures
    def _loop(self, loop: Loop) -> None:
        if loop.kind == "coupler":
            tendon = self._made_name("coupled")
            self._fixed(tendon, loop.factors, {})
            given = {"tendon1": tendon, "polycoef": f"{loop.offset!r} 0 0 0 0"}
            SubElement(self._part("equality"), "tendon", {"name": loop.name or tendon, **given})
            return
        if loop.kind not in ("ball", "weld") or loop.rate is not None:
            self.notes.add(f"a {loop.kind} closure, or one that is driven, is left out", loop.name)
            return
        sites = [
            self._site(loop.a, loop.position_a, loop.rotation_a),
            self._site(loop.b, loop.position_b, loop.rotation_b),
        ]
        kind = "connect" if loop.kind == "ball" else "weld"
        given = {"name": loop.name} if loop.name else {}
        SubElement(self._part("equality"), kind, {**given, "site1": sites[0], "site2": sites[1]})

    def _site(self, body: str | int | None, place: ArrayLike, turn: ArrayLike | None = None) -> str:
        name = self._made_name("site")
        owner = body if isinstance(body, str) else "world"
        if isinstance(body, int):
            owner = self.scene.model.body_names[body]
        given = {"name": name, "pos": words(np.asarray(place, dtype=np.float64))}
        if turn is not None:
            given["quat"] = _quat(rotation_matrix(turn))
        SubElement(self.bodies[owner], "site", given)
        return name

    # -------------------------------------------------------------------------------------- forces
    def _tendon(self, tendon: Tendon, name: str) -> None:
        given = {"stiffness": repr(tendon.stiffness), "damping": repr(tendon.damping)}
        given["springlength"] = _range(tendon.slack)
        if np.isfinite(tendon.limits).any():
            given["range"] = _range(tendon.limits)
        if tendon.path is None:
            self._fixed(name, tendon.joints, given)
        else:
            self._spatial(name, tendon.path, given)

    def _fixed(self, name: str, factors: Mapping[str, float], given: dict[str, str]) -> None:
        element = SubElement(self._part("tendon"), "fixed", {"name": name, **given})
        for joint, factor in factors.items():
            SubElement(element, "joint", {"joint": joint, "coef": repr(float(factor))})

    def _spatial(self, name: str, path: TendonPath, given: dict[str, str]) -> None:
        element = SubElement(self._part("tendon"), "spatial", {"name": name, **given})
        for branch, divisor in zip(path.branches, path.divisors, strict=True):
            if divisor != 1.0 or branch is not path.branches[0]:
                SubElement(element, "pulley", {"divisor": repr(divisor)})
            for one in branch:
                if isinstance(one, Around):
                    SubElement(element, "geom", self._around(one))
                else:
                    SubElement(element, "site", {"site": self._site(*one)})

    def _around(self, one: Around) -> dict[str, str]:
        name, node = self._made_name("pulley"), _node(one.middle)
        owner = node.body if isinstance(node.body, str) else self.scene.model.body_names[node.body]
        given = {"name": name, "pos": words(np.asarray(node.position, dtype=np.float64))}
        if one.axis is None:
            given |= {"type": "sphere", "size": repr(one.radius)}
        else:
            turn = _up_to(np.asarray(one.axis, dtype=np.float64))
            size = words(np.array([one.radius, one.radius]))
            given |= {"type": "cylinder", "size": size, "quat": _quat(turn)}
        SubElement(self.bodies[owner], "geom", {**given, **_BARE})
        if one.side is None:
            return {"geom": name}
        side = _node(one.side)
        return {"geom": name, "sidesite": self._site(side.body, side.position)}

    def _actuator(self, one: Actuator) -> None:
        given = {"name": one.name, "gaintype": "affine", "biastype": "affine"}
        given |= {"gainprm": words(one.gain), "biasprm": words(one.bias), "dyntype": one.dynamics}
        if one.dynamics == "filter":
            given["dynprm"] = repr(float(one.time_constant))
        for key, values in (
            ("ctrlrange", one.ctrl_range),
            ("forcerange", one.force_range),
            ("actrange", one.activation_range),
        ):
            if np.isfinite(values).any():
                given[key] = _range(values)
        if one.path is not None:
            name = self._made_name("line")
            self._spatial(name, one.path, {})
            given |= {"tendon": name, "gear": repr(float(one.path.factor))}
        elif len(one.joints) == 1:
            joint, gear = next(iter(one.joints.items()))
            given |= {"joint": joint, "gear": repr(float(gear))}
        else:
            name = self._made_name("line")
            self._fixed(name, one.joints, {})
            given |= {"tendon": name}
        SubElement(self._part("actuator"), "general", given)

    def _state(self) -> None:
        """Where the scene begins, as the keyframe "start"."""
        state, model = self.scene.state, self.scene.model
        kinds = dict(zip(model.joint_names, model.joint_kinds, strict=True))
        placed = {body.joint: body for body in described(model)}
        q, v = list[float](), list[float]()
        # Coordinates stand in the order of the file's joints.
        for name in [str(joint.get("name")) for joint in self.bodies["world"].iter("joint")]:
            kind = kinds[name]
            own, rates = state.q[model.q_slice(name)].copy(), state.v[model.v_slice(name)].copy()
            if kind == "free":  # in the world, where ours stands in the frame that it begins in
                stands = placed[name]
                turn = stands.rotation @ rotation_matrix(own[3:])
                place = stands.position + stands.rotation @ own[:3]
                own = np.concatenate([place, to_quaternion(turn)])
                rates = np.concatenate([turn @ rates[3:], rates[:3]])
            if kind in ("ball", "free"):
                own[-4:] = own[-4:][_WXYZ]
            q += own.tolist()
            v += rates.tolist()
        given = {"name": "start", "qpos": words(np.array(q)), "qvel": words(np.array(v))}
        if len(self.scene.ctrl):
            given["ctrl"] = words(self.scene.ctrl)
        if state.activation.size:
            given["act"] = words(state.activation)
        SubElement(self._part("keyframe"), "key", {**given, "time": repr(float(state.time))})


def _are_alike(scene: Scene) -> bool:
    """Whether geoms that touch all others make the scene's pairs, and all have the same."""
    table = scene.pair_table
    dry = table.classes.values[:, col.PAIR_FRICTION]
    values = [row[table.occur] for row in (dry, table.torsion, table.rolling)]
    if not scene.n_pairs or any((row != row[0]).any() for row in values):
        return False
    masked = any(geom.group != 1 or geom.collides_with != 1 for geom in scene.geoms)
    told = scene.ignore or scene.include or len(scene.loops)
    if not (masked or told):
        return True
    open_ones = [replace(geom, group=1, collides_with=1) for geom in scene.geoms]
    untied = Loops(scene.model, ())
    made = touching_pairs(scene.model, open_ones, scene.bodies, untied, (), ())
    return np.array_equal(made, scene.pair_runs)


def _rubbing(scene: Scene, row: int, count: int) -> dict[str, str]:
    """Coefficients of a pair: 3 numbers, or 5 with those of torsion and rolling by axes."""
    mu, _, torsion, rolling = (float(value[0]) for value in scene.coefficients_of([row]))
    dim = 6 if rolling else 4 if torsion else 3 if mu else 1
    rubs = [mu, torsion, rolling] if count == 3 else [mu, mu, torsion, rolling, rolling]
    return {"condim": str(dim), "friction": words(np.array(rubs))}


def _node(given: object) -> Node:
    if isinstance(given, (str, int)):
        return Node(given)
    assert isinstance(given, tuple)
    return Node(*given)


def _quat(turn: Array) -> str:
    return words(to_quaternion(turn)[_WXYZ])


def _up_to(axis: Array) -> Array:
    """A rotation whose z is an axis."""
    z = axis / np.linalg.norm(axis)
    x = np.cross((1.0, 0.0, 0.0) if abs(z[0]) < 0.6 else (0.0, 1.0, 0.0), z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _range(values: tuple[float, float]) -> str:
    return words(np.clip(values, -_BOUND, _BOUND))
