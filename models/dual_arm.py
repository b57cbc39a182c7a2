"""The dual-arm robot of [J] figure 1: a head of 4 links, two arms of 7, two hands of 4."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Unpack

import numpy as np

from spatialops._arrays import Array, ArrayLike
from spatialops.algebra.inertia import Inertia
from spatialops.collision.shapes import Box, Capsule, Coefficients, Geom, HalfSpace, Masks, Sphere
from spatialops.dynamics.jacobian import body_poses, jacobian
from spatialops.errors import ModelError
from spatialops.models.scene_options import SceneOptions
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model
from spatialops.tree.node import Node
from spatialops.tree.state import State

SIDES = ("left", "right")
FINGERS = ("finger1", "finger2", "thumb")
# Lengths in m; that of a finger is from the knuckle to the centre of the tip.
SHOULDER_HEIGHT = 1.15
SHOULDER_OFFSET = 0.18
NECK_HEIGHT = 1.40
TIP_RADIUS = 0.012
FINGER_RADIUS = 0.008
FINGER_LENGTH = 0.10
# Reaching: steps, joints turned by no more at once (rad), damping of what is singular, pull towards
# the joints to begin with, and how near is there (m and rad).
_STEPS = 200
_STEP = 0.2
_DAMPING = 1e-5
_PULL = 0.1
_THERE = 1e-5
_SHOWN: Masks = {"group": 0, "collides_with": 0}  # parts that are seen and not felt


class _Link(NamedTuple):
    """A link: its joint in the parent, and a capsule along its z axis."""

    position: tuple[float, float, float]
    axis: str
    reach: float  # rad either way
    effort: float  # N m
    length: float  # m
    radius: float  # m
    mass: float  # kg


# Shoulder, elbow and wrist of a 7-joint arm: axes z y z y z y z, 0.40 m to the elbow and as much to
# the wrist.
_ARM = (
    _Link((0.0, 0.0, 0.10), "z", 2.9, 180.0, 0.12, 0.060, 4.0),
    _Link((0.0, 0.0, 0.12), "y", 2.0, 180.0, 0.20, 0.055, 3.6),
    _Link((0.0, 0.0, 0.20), "z", 2.9, 100.0, 0.20, 0.050, 2.8),
    _Link((0.0, 0.0, 0.20), "y", 2.4, 100.0, 0.20, 0.045, 2.4),
    _Link((0.0, 0.0, 0.20), "z", 2.9, 60.0, 0.20, 0.040, 1.6),
    _Link((0.0, 0.0, 0.20), "y", 2.1, 40.0, 0.08, 0.040, 1.2),
    _Link((0.0, 0.0, 0.08), "z", 3.0, 40.0, 0.04, 0.035, 0.4),
)
_HEAD = (
    _Link((0.0, 0.0, 0.00), "z", 2.6, 30.0, 0.08, 0.040, 1.0),
    _Link((0.0, 0.0, 0.08), "y", 1.2, 30.0, 0.08, 0.035, 0.9),
    _Link((0.0, 0.0, 0.08), "z", 2.6, 20.0, 0.05, 0.035, 0.7),
    _Link((0.0, 0.0, 0.05), "y", 1.2, 20.0, 0.06, 0.050, 1.2),
)
_PALM = Inertia.box((0.07, 0.10, 0.06), mass=0.6).shifted((0.0, 0.0, 0.03))
_KNUCKLE = 0.035  # m from the palm's middle
_FINGER = Inertia.capsule(0.010, FINGER_LENGTH - 0.02, mass=0.12).shifted(
    (0.0, 0.0, 0.5 * FINGER_LENGTH)
)

# Hands 0.5 m before the stand, 1 m up and 0.36 m apart, pointing forward, fingers above thumbs,
# parallel.
_READY = (0.73, 0.91, -0.41, 2.01, 0.48, -1.19, -1.41)


@dataclass(frozen=True, eq=False)
class DualArm:
    """The dual-arm robot: 26 links on a stand, in front of which is +x.

    Parameters
    ----------
    model : Model
        26 bodies and velocities: "head1" .. "head4"; for each side S in "left", "right": "S_arm1"
        .. "S_arm7", "S_spread", "S_finger1" (on the spread), "S_finger2" and "S_thumb" (on the
        palm). Frames "S_palm" and "S_finger1_tip", .. are merged bodies, usable in `Node` and
        `Geom`. Joints are named as the bodies they carry.
    state : State
        At rest, hands in front of the chest.
    tips : tuple of str
        Names of the six fingertips.
    """

    model: Model
    state: State
    tips: tuple[str, ...]

    def scene(
        self,
        extra: Sequence[Geom] = (),
        *,
        friction: float = 0.8,
        restitution: float = 0.0,
        **options: Unpack[SceneOptions],
    ) -> Scene:
        """The robot on a floor and a stand, its parts as spheres and capsules, and `extra` geoms.

        Spheres are fingertips, palms, elbows and head; capsules fingers, upper arms and forearms.

        Parameters
        ----------
        extra : sequence of Geom
            What else is there.
        friction : float
            Coulomb's coefficient of the robot and of the floor.
        restitution : float
            Of the robot and of the floor, in [0, 1].
        **options
            `loops`, `include` and `pair_laws` of `Scene`.

        Returns
        -------
        Scene
            It starts at `state`.
        """
        pair: Coefficients = {"friction": friction, "restitution": restitution}
        geoms = [Geom(name, name, Sphere(TIP_RADIUS), **pair) for name in self.tips]
        ignore = []
        for side in SIDES:
            geoms += _arm_geoms(side, pair)
            ignore.append((f"{side}_upper", f"{side}_forearm"))  # they meet in the elbow
        geoms.append(Geom("head", "head4", Sphere(0.09), position=(0.0, 0.0, 0.06), **pair))
        geoms.append(
            Geom("neck", "world", Capsule(0.04, 0.25), position=(0.0, 0.0, NECK_HEIGHT), **_SHOWN)
        )
        geoms.append(
            Geom("stand", "world", Box((0.14, 0.16, 1.30)), position=(-0.03, 0.0, 0.65), **pair)
        )
        geoms.append(Geom("floor", "world", HalfSpace((0.0, 0.0, 1.0)), **pair))
        return Scene(self.model, [*geoms, *extra], state=self.state, ignore=ignore, **options)

    def reach(
        self, palms: Mapping[str, tuple[ArrayLike, ArrayLike]], start: ArrayLike | None = None
    ) -> Array:
        """Joint coordinates that bring palms to places, by damped least squares.

        Parameters
        ----------
        palms : mapping of "left" or "right" to ((3,) array, (3, 3) array)
            World position, m, and rotation of the frame "S_palm": its z axis is where the hand
            points.
        start : (nq,) array_like, optional
            Where to start, and what the arms' spare freedom stays near; default: the robot's state.

        Returns
        -------
        (nq,) array
            Coordinates of all joints; those of the other parts are as they were.

        Raises
        ------
        ModelError
            If a palm cannot get there within the joints' limits, to 0.1 mm and 0.1 mrad.
        """
        q = np.array(self.state.q if start is None else start, dtype=np.float64)
        for side, (position, rotation) in palms.items():
            self._reach_one(q, side, np.asarray(position), np.asarray(rotation))
        return q

    def _reach_one(self, q: Array, side: str, position: Array, rotation: Array) -> None:
        model, name = self.model, f"{side}_palm"
        rows = np.array([model.v_slice(f"{side}_arm{i + 1}").start for i in range(len(_ARM))])
        place = model.frame(name)
        node = [Node(name)]
        stay = q[rows].copy()
        for _ in range(_STEPS):
            poses = body_poses(model, q)
            turn = poses.rotations[place.body]
            here = poses.positions[place.body] + turn @ place.position
            R = rotation @ (turn @ place.rotation).T
            error = (
                np.array(
                    [
                        R[2, 1] - R[1, 2],
                        R[0, 2] - R[2, 0],
                        R[1, 0] - R[0, 1],
                        *(2.0 * (position - here)),
                    ]
                )
                / 2.0
            )
            if np.abs(error).max() < _THERE and np.trace(R) > 0.0:
                return
            J = jacobian(model, q, node)[:, rows]
            inverse = J.T @ np.linalg.inv(J @ J.T + _DAMPING * np.eye(6))
            step = inverse @ error + (np.eye(len(rows)) - inverse @ J) @ (_PULL * (stay - q[rows]))
            q[rows] = np.clip(
                q[rows] + np.clip(step, -_STEP, _STEP), model.lower[rows], model.upper[rows]
            )
        raise ModelError(
            f"{name}: cannot get to {np.round(position, 3).tolist()} m as turned; it lies out of "
            "reach"
        )


def _arm_geoms(side: str, pair: Coefficients) -> list[Geom]:
    geoms = [
        Geom(f"{side}_palm", f"{side}_palm", Sphere(0.05), position=(0.0, 0.0, 0.02), **pair),
        Geom(f"{side}_shoulder", f"{side}_arm2", Sphere(0.06), **_SHOWN),
        Geom(f"{side}_upper", f"{side}_arm3", Capsule(0.05, 0.26), **pair),
        Geom(f"{side}_elbow", f"{side}_arm4", Sphere(0.055), **pair),
        Geom(f"{side}_forearm", f"{side}_arm5", Capsule(0.042, 0.26), **pair),
    ]
    finger = Capsule(FINGER_RADIUS, FINGER_LENGTH - 0.02)
    for name in FINGERS:
        place = (0.0, 0.0, 0.5 * FINGER_LENGTH)
        geoms.append(Geom(f"{side}_{name}", f"{side}_{name}", finger, position=place, **pair))
    return geoms


def dual_arm() -> DualArm:
    """The robot of [J] section 8: 26 links, 26 degrees of freedom.

    Returns
    -------
    DualArm
        On its stand at the origin, hands in front of the chest.

    References
    ----------
    A. Jain, Minimal coordinates formulation of contact dynamics, figure 1 and section 8.

    Examples
    --------
    >>> import spatialops as so
    >>> robot = so.models.dual_arm()
    >>> robot.model.n_bodies, robot.model.nv
    (26, 26)
    """
    builder = TreeBuilder()
    _add_links(builder, "head", _HEAD, (0.0, 0.0, NECK_HEIGHT), None)
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        # The arm's base looks outwards: its z axis along +y on the left, -y on the right.
        outwards = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, sign], [0.0, -sign, 0.0]])
        _add_links(
            builder, f"{side}_arm", _ARM, (0.0, sign * SHOULDER_OFFSET, SHOULDER_HEIGHT), outwards
        )
        _add_hand(builder, side, f"{side}_arm{len(_ARM)}")
    model = builder.build()
    q = np.zeros(model.nq)
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        for i, angle in enumerate(_READY):
            # Axes along the arm (z) turn the other way on the other side.
            q[model.q_slice(f"{side}_arm{i + 1}")] = sign * angle if _ARM[i].axis == "z" else angle
    tips = tuple(f"{side}_{finger}_tip" for side in SIDES for finger in FINGERS)
    return DualArm(model, State(q, np.zeros(model.nv)), tips)


def _add_links(
    builder: TreeBuilder,
    name: str,
    links: tuple[_Link, ...],
    base: tuple[float, float, float],
    rotation: Array | None,
) -> None:
    parent = "world"
    for i, link in enumerate(links):
        core = max(link.length - 2.0 * link.radius, 0.01)
        builder.add_body(
            f"{name}{i + 1}",
            parent=parent,
            joint=_joint(link.axis, -link.reach, link.reach, link.effort),
            inertia=Inertia.capsule(link.radius, core, mass=link.mass).shifted(
                (0.0, 0.0, 0.5 * link.length)
            ),
            position=base if i == 0 else link.position,
            rotation=rotation if i == 0 else None,
        )
        parent = f"{name}{i + 1}"


def _joint(axis: str, lower: float, upper: float, effort: float) -> Joint:
    """A geared joint: its rotor's inertia and damping grow with its strength."""
    return Joint(
        "revolute",
        axis=axis,
        lower=lower,
        upper=upper,
        effort_limit=effort,
        velocity_limit=math.pi,
        damping=0.005 * effort,
        armature=0.001 * effort,
    )


def _add_hand(builder: TreeBuilder, side: str, wrist: str) -> None:
    """A palm, two fingers on one side of it, the first on a spread joint, and a thumb."""
    builder.add_body(f"{side}_palm", parent=wrist, inertia=_PALM, position=(0.0, 0.0, 0.04))
    builder.add_body(
        f"{side}_spread",
        parent=f"{side}_palm",
        joint=_joint("z", -0.1, math.pi / 2, 5.0),
        inertia=Inertia.cylinder(0.02, 0.02, mass=0.08).shifted((0.0, 0.0, 0.01)),
        position=(0.0, 0.02, 0.05),
    )
    knuckles = {
        "finger1": (f"{side}_spread", (_KNUCKLE, 0.0, 0.01), 1.0),
        "finger2": (f"{side}_palm", (_KNUCKLE, -0.02, 0.06), 1.0),
        "thumb": (f"{side}_palm", (-_KNUCKLE, 0.0, 0.06), -1.0),
    }
    for name, (parent, position, turn) in knuckles.items():
        # Closing is positive for all three: fingers turn about -y, the thumb about +y, towards the
        # palm's axis.
        rotation = np.diag([turn, turn, 1.0])
        builder.add_body(
            f"{side}_{name}",
            parent=parent,
            joint=Joint(
                "revolute",
                axis=(0.0, -1.0, 0.0),
                lower=-0.6,
                upper=1.3,
                effort_limit=8.0,
                velocity_limit=4.0,
                damping=0.04,
                armature=0.002,
            ),
            inertia=_FINGER,
            position=position,
            rotation=rotation,
        )
        builder.add_body(
            f"{side}_{name}_tip", parent=f"{side}_{name}", position=(0.0, 0.0, FINGER_LENGTH)
        )
