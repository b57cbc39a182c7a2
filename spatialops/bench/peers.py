"""What the peers need: modules, robots from URDF files, the same mechanism on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, version
from typing import Any, TypeAlias

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.algebra.inertia import Inertia
from spatialops.bench.measure import BenchError
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model
from spatialops.tree.node import Node

LibraryObject: TypeAlias = Any  # modules and objects of Pinocchio, MuJoCo and FCL, without types

ROBOT_DATA = "example-robot-data"

# name: (end of the URDF file's path in example-robot-data, stands on a free base)
ROBOTS: dict[str, tuple[str, bool]] = {
    "xarm7": ("xarm_description/urdf/xarm7.urdf", False),
    "panda": ("panda_description/urdf/panda.urdf", False),
    "allegro hand": ("allegro_hand_description/urdf/allegro_right_hand.urdf", False),
    "solo12": ("solo_description/robots/solo12.urdf", True),
    "hyq": ("hyq_description/robots/hyq_no_sensors.urdf", True),
    "anymal c": ("anymal_c_simple_description/urdf/anymal.urdf", True),
    "simple humanoid": ("simple_humanoid_description/urdf/simple_humanoid.urdf", False),
    "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", True),
    "talos": ("talos_data/robots/talos_reduced.urdf", True),
}


def require(module: str) -> LibraryObject:
    """Import a peer.

    Raises
    ------
    BenchError
        If it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise BenchError(
            f"the benchmark compares with Pinocchio and MuJoCo, and {module!r} is not installed; "
            "get both with the bench extra: pip install 'spatialops[bench]'"
        ) from error


def versions() -> dict[str, str]:
    """Versions of everything that takes part; "missing" for what is not installed."""
    found = {}
    for name in ("spatialops", "numpy", "numba", "pin", "mujoco", ROBOT_DATA):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found


def robot_file(name: str) -> str | None:
    """Path of a robot's URDF file; None where example-robot-data is missing or lacks it."""
    return installed_file(ROBOTS[name][0])


def installed_file(ending: str) -> str | None:
    """The file of example-robot-data whose path ends so; None where there is none."""
    try:
        files = distribution(ROBOT_DATA).files or []
    except PackageNotFoundError:
        return None
    return next((str(file.locate()) for file in files if str(file).endswith(ending)), None)


@dataclass(frozen=True, eq=False)
class Twin:
    """One mechanism for us and for Pinocchio.

    Attributes
    ----------
    name : str
    pin : pinocchio.Model
    data : pinocchio.Data
    model : Model
        Coordinates are Pinocchio's; velocities `v[order]` of ours are Pinocchio's v.
    order : (nv,) int array
        The base of a floating robot has [linear; angular] velocities there.
    """

    name: str
    pin: LibraryObject
    data: LibraryObject
    model: Model
    order: IntArray

    def random_state(self, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Coordinates, velocities and a third vector of velocity's size, as ours."""
        q = self.model.random(rng)
        return q, rng.normal(size=self.model.nv), rng.normal(size=self.model.nv)


def twin_of(name: str, pin_model: LibraryObject) -> Twin:
    """Our model of a Pinocchio model of revolute, prismatic and free joints.

    Raises
    ------
    BenchError
        For another kind of joint.
    """
    pin = require("pinocchio")
    data = pin_model.createData()
    q = pin.neutral(pin_model)
    pin.computeJointJacobians(pin_model, data, q)
    builder = TreeBuilder(gravity=np.array(pin_model.gravity.linear))
    order = np.arange(pin_model.nv)
    for i in range(1, pin_model.njoints):
        kind, first = pin_model.joints[i].shortname(), pin_model.joints[i].idx_v
        if kind == "JointModelFreeFlyer":
            joint = Joint("free", name=f"joint{i}")
            order[first : first + 6] = first + np.array([3, 4, 5, 0, 1, 2])
        elif pin_model.joints[i].nq == 1:
            linear, angular = np.split(
                pin.getJointJacobian(pin_model, data, i, pin.LOCAL)[:, first], 2
            )
            turning = bool(np.abs(angular).max() > 0.5)
            joint = Joint(
                "revolute" if turning else "prismatic",
                axis=angular if turning else linear,
                name=f"joint{i}",
                armature=float(pin_model.armature[first]),
            )
        else:
            raise BenchError(f"{name}: joints of kind {kind} are not part of the benchmark")
        own, place = pin_model.inertias[i], pin_model.jointPlacements[i]
        builder.add_body(
            f"body{i}",
            parent="world" if pin_model.parents[i] == 0 else f"body{pin_model.parents[i]}",
            joint=joint,
            inertia=Inertia(own.mass, np.array(own.lever), np.array(own.inertia))
            if own.mass > 0.0
            else None,
            position=np.array(place.translation),
            rotation=np.array(place.rotation),
        )
    return Twin(name, pin_model, data, builder.build(), order)


def robot(name: str) -> Twin | None:
    """A robot by name; None where its file is not installed."""
    pin, path = require("pinocchio"), robot_file(name)
    if path is None:
        return None
    root = (pin.JointModelFreeFlyer(),) if ROBOTS[name][1] else ()
    return twin_of(name, pin.buildModelFromUrdf(path, *root))


def chain_links(n: int, rng: np.random.Generator) -> list[tuple[str, Array, Inertia]]:
    """Axis, place and inertia of the links, 0.3 m long, of a random chain of revolute joints."""
    links = []
    for i in range(n):
        direction = rng.normal(size=3) + np.array([0.0, 0.0, 2.0])
        place = 0.3 * direction / np.linalg.norm(direction) if i else np.zeros(3)
        own = Inertia.box(rng.uniform(0.1, 0.3, 3), mass=rng.uniform(0.5, 2.0)).shifted(
            rng.uniform(-0.1, 0.1, 3)
        )
        links.append(("xyz"[rng.integers(3)], place, own))
    return links


def chain_model(n: int, rng: np.random.Generator) -> Model:
    """A random chain for us alone."""
    builder = TreeBuilder()
    for i, (axis, place, own) in enumerate(chain_links(n, rng)):
        parent = f"body{i - 1}" if i else "world"
        builder.add_body(
            f"body{i}",
            parent=parent,
            joint=Joint("revolute", axis=axis),
            inertia=own,
            position=place,
        )
    return builder.build()


def chain(n: int, rng: np.random.Generator) -> Twin:
    """A random chain of n revolute joints, made of the joints that Pinocchio is fastest with."""
    pin = require("pinocchio")
    pin_model, parent = pin.Model(), 0
    kinds = {"x": pin.JointModelRX, "y": pin.JointModelRY, "z": pin.JointModelRZ}
    for i, (axis, place, own) in enumerate(chain_links(n, rng)):
        parent = pin_model.addJoint(parent, kinds[axis](), pin.SE3(np.eye(3), place), f"joint{i}")
        pin_model.appendBodyToJoint(
            parent, pin.Inertia(own.mass, own.center, own.tensor), pin.SE3.Identity()
        )
    return twin_of(f"chain {n}", pin_model)


@dataclass(frozen=True, eq=False)
class DelassusTwin:
    """The same nodes for `compliance` and for `computeDelassusMatrix`.

    Attributes
    ----------
    nodes : list of Node
    models, datas
        Pinocchio's constraint models (CONTACT_6D at the nodes) and their data, memory prepared.
    """

    nodes: list[Node]
    models: LibraryObject
    datas: LibraryObject


def delassus_twin(twin: Twin, count: int, rng: np.random.Generator) -> DelassusTwin:
    """`count` nodes at random points, on different bodies as far as there are any."""
    pin = require("pinocchio")
    n = twin.model.n_bodies
    bodies = np.concatenate([rng.permutation(n) for _ in range(-(-count // n))])[:count]
    models = pin.StdVec_RigidConstraintModel()
    datas = pin.StdVec_RigidConstraintData()
    nodes = []
    for body in bodies:
        position = rng.uniform(-0.2, 0.2, 3)
        nodes.append(Node(int(body), position))
        place = pin.SE3(np.eye(3), position)
        kind, axes = pin.ContactType.CONTACT_6D, pin.ReferenceFrame.LOCAL
        models.append(pin.RigidConstraintModel(kind, twin.pin, int(body) + 1, place, axes))
        datas.append(models[len(models) - 1].createData())
    pin.initConstraintDynamics(twin.pin, twin.data, models, datas)
    return DelassusTwin(nodes, models, datas)


def in_local_axes(compliance: Array, rotations: Array, bodies: Sequence[int]) -> Array:
    """Lambda in Pinocchio's way: axes of the bodies that nodes sit on, [linear; angular]."""
    m = len(bodies)
    turn = np.zeros((6 * m, 6 * m))
    for i, body in enumerate(bodies):
        turn[6 * i : 6 * i + 3, 6 * i + 3 : 6 * i + 6] = rotations[body].T
        turn[6 * i + 3 : 6 * i + 6, 6 * i : 6 * i + 3] = rotations[body].T
    return turn @ compliance @ turn.T
