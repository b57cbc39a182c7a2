"""The gripping arm of [Z] section 7.1: seven joints, four fingers of one joint, and a box."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import scalar
from spatialops.algebra.inertia import Inertia
from spatialops.algebra.rotation import to_quaternion
from spatialops.collision.shapes import Box, Capsule, Geom, Sphere
from spatialops.dynamics.jacobian import body_poses
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model
from spatialops.tree.state import State

DENSITY = 6000.0  # kg/m^3
SIDE = 0.06  # m, of the box
TIP_RADIUS, FINGER = 0.012, 0.09  # m
FINGERS = ("east", "north", "west", "south")
_ARM = (
    ("z", 0.16),
    ("y", 0.20),
    ("z", 0.20),
    ("y", 0.20),
    ("z", 0.18),
    ("y", 0.10),
    ("z", 0.08),
)  # axis, length m
_MASSES = (3.0, 3.0, 2.5, 2.5, 1.5, 1.0, 0.6)  # kg
_BENT = (0.0, 0.5, 0.0, 1.3, 0.0, 1.3, 0.0)  # rad: the hand points down in front
_REACH = 0.075  # m, of the knuckles from the hand's axis


@dataclass(frozen=True, eq=False)
class GrippingArm:
    """An arm that holds a box with spherical fingertips.

    Parameters
    ----------
    model : Model
        Joints "arm1" .. "arm7", "east", "north", "west", "south" (positive closes), and the free
        joint "box".
    state : State
        At rest with the tips on four sides of the box.
    tips : tuple of str
        Bodies whose origins are the centres of the fingertips.
    """

    model: Model
    state: State
    tips: tuple[str, ...]

    def scene(self, *, friction: float = 1.0) -> Scene:
        """The tips and the box, which may touch; the arm itself is only shown.

        Parameters
        ----------
        friction : float
            Coulomb's coefficient of tips and box.

        Returns
        -------
        Scene
            It starts at `state`.
        """
        geoms = [Geom("box", "box", Box((SIDE, SIDE, SIDE)), friction=friction)]
        for i, (_, length) in enumerate(_ARM):
            shape = Capsule(0.03, max(length - 0.06, 0.01))
            geoms.append(
                Geom(
                    f"arm{i + 1}",
                    f"arm{i + 1}",
                    shape,
                    (0.0, 0.0, 0.5 * length),
                    group=0,
                    collides_with=0,
                )
            )
        for name, tip in zip(FINGERS, self.tips, strict=True):
            finger = Capsule(0.007, FINGER - 0.014)
            geoms.append(
                Geom(name, name, finger, (0.0, 0.0, 0.5 * FINGER), group=0, collides_with=0)
            )
            geoms.append(
                Geom(tip, tip, Sphere(TIP_RADIUS), friction=friction, group=2, collides_with=1)
            )
        return Scene(self.model, geoms, state=self.state)


def gripping_arm(*, density: float = DENSITY) -> GrippingArm:
    """A seven-joint arm with four fingers around a box, hand down.

    [Z] gives the number of joints and the box's density; sizes and masses are our own: a box of 6
    cm and 1.3 kg.

    Parameters
    ----------
    density : float
        Of the box, kg/m^3.

    Returns
    -------
    GrippingArm
        At rest, its tips on four sides of the box.

    Raises
    ------
    ArgumentError
        For a density that is not positive.

    References
    ----------
    S. Zapolsky, E. Drumwright, Inverse dynamics with rigid contact and friction, section 7.1.

    Examples
    --------
    >>> import spatialops as so
    >>> so.models.gripping_arm().model.nv
    17
    """
    builder = TreeBuilder()
    parent = "world"
    height = 0.0
    for i, ((axis, length), mass) in enumerate(zip(_ARM, _MASSES, strict=True)):
        joint = Joint("revolute", axis=axis, effort_limit=150.0 if i < 4 else 60.0, armature=0.05)
        inertia = Inertia.capsule(0.03, max(length - 0.06, 0.01), mass=mass).shifted(
            (0.0, 0.0, 0.5 * length)
        )
        builder.add_body(
            f"arm{i + 1}", parent=parent, joint=joint, inertia=inertia, position=(0.0, 0.0, height)
        )
        parent, height = f"arm{i + 1}", length
    lean = math.asin((_REACH - 0.5 * SIDE - TIP_RADIUS) / FINGER)
    for i, name in enumerate(FINGERS):
        turn, rest = 0.5 * math.pi * i, np.zeros((3, 3))
        c, s = math.cos(turn), math.sin(turn)
        rest[:] = ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))
        builder.add_body(
            name,
            parent=parent,
            joint=Joint("revolute", axis=(0.0, -1.0, 0.0), effort_limit=20.0, armature=0.002),
            inertia=Inertia.capsule(0.007, FINGER - 0.014, mass=0.15).shifted(
                (0.0, 0.0, 0.5 * FINGER)
            ),
            position=rest @ np.array([_REACH, 0.0, height]),
            rotation=rest,
        )
        builder.add_body(f"{name}_tip", parent=name, position=(0.0, 0.0, FINGER))
    cube = Inertia.box((SIDE, SIDE, SIDE), density=scalar(density, "density", low=0.0, strict=True))
    builder.add_body("box", joint=Joint("free", name="box"), inertia=cube)
    model = builder.build()
    q = model.neutral()
    for i, angle in enumerate(_BENT):
        q[model.q_slice(f"arm{i + 1}")] = angle
    for name in FINGERS:
        q[model.q_slice(name)] = lean
    poses = body_poses(model, q)
    hand = model.body_index(parent)
    held = np.asarray(poses.rotations[hand])
    place = np.asarray(poses.positions[hand]) + held @ np.array(
        [0.0, 0.0, height + FINGER * math.cos(lean)]
    )
    q[model.q_slice("box")] = [*place, *to_quaternion(held)]
    return GrippingArm(
        model, State(q, np.zeros(model.nv)), tuple(f"{name}_tip" for name in FINGERS)
    )
