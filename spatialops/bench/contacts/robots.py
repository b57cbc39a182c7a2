"""Robots that stand, hold things, or fall limp onto a floor.

Those of files come from example-robot-data; where it is not installed there is no setting. Motors
are springs to a posture, whose forces are held over a few steps, and viscous drag in the joints,
which both engines take implicitly.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.contacts.drag import with_drag
from spatialops.bench.contacts.setting import FRICTION, Control, Setting
from spatialops.bench.peers import installed_file
from spatialops.control.manipulation.dual_arm.wheel_removal import HUB, arms, grasps
from spatialops.control.trajectory import Pose
from spatialops.errors import AssetWarning
from spatialops.models.dual_arm import SIDES, dual_arm
from spatialops.models.gripping_arm import FINGERS, gripping_arm
from spatialops.models.quadruped import quadruped
from spatialops.models.wheel_on_hub import wheel_on_hub
from spatialops.simulation.scene.composition import Part, compose
from spatialops.simulation.scene.loader import load_scene
from spatialops.simulation.scene.placement import raised
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.state import State

FILES = {
    "solo12": "solo_description/robots/solo12.urdf",
    "go2": "go2_description/urdf/go2.urdf",
    "anymal": "anymal_c_simple_description/urdf/anymal.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
}
# Of these, parts overlap for good as their files have them.
OVERLAPPING = {
    "baxter": "baxter_description/urdf/baxter.urdf",
    "romeo": "romeo_description/urdf/romeo.urdf",
    "whole talos": "talos_data/robots/talos_full_v2.urdf",
    "tiago": "tiago_description/robots/tiago.urdf",
}
HEIGHT = 0.02  # m, from which limp robots fall
HOLD = 5  # steps for which the motors' forces are held
# Angles, rad, of the joints whose names contain the key: knees of solo12 point inward.
_SOLO12 = {"FL_HFE": 0.8, "FR_HFE": 0.8, "HL_HFE": -0.8, "HR_HFE": -0.8}
_SOLO12_KNEES = {"FL_KFE": -1.6, "FR_KFE": -1.6, "HL_KFE": 1.6, "HR_KFE": 1.6}
# N m/rad, N m s, of legs: stiffer ones make feet chatter on MuJoCo's soft ground.
_STIFF, _DRAG = 10.0, 0.5
_ARM_STIFF, _ARM_DRAG = 2000.0, 100.0  # of arms
_FINGER_FORCE, _FINGER_DRAG = 2.0, 0.05  # N m, N m s
_WHEEL_FORCE = 6.0  # N m, of the fingers that hold a wheel


def loaded(name: str, *, self_collision: bool = False) -> Scene | None:
    """A robot on a floor, as its file says; None where the file is missing."""
    path = installed_file((FILES | OVERLAPPING)[name])
    if path is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssetWarning)
        scene = load_scene(
            path,
            floating_base=True,
            floor=FRICTION,
            self_collision=self_collision,
            strict=False,
        )
    # One friction everywhere: of two, MuJoCo would take the larger.
    geoms = [replace(geom, friction=FRICTION) for geom in scene.geoms]
    return Scene(scene.model, geoms, state=scene.state, ignore=scene.ignore, include=scene.include)


def springs(scene: Scene, stiffness: Mapping[str, float], pushes: Mapping[str, float]) -> Control:
    """Springs that hold joints where the scene has them, and constant forces in others."""
    model = scene.model
    at_q = np.array([model.q_slice(name).start for name in stiffness])
    at_v = np.array([model.v_slice(name).start for name in stiffness])
    gains = np.array(list(stiffness.values()))
    posture = scene.state.q[at_q].copy()
    constant = np.zeros(model.nv)
    for name, force in pushes.items():
        constant[model.v_slice(name)] = force

    def forces(state: State) -> Array:
        tau = constant.copy()
        tau[at_v] += gains * (posture - state.q[at_q])
        return tau

    return forces


def joints_of(scene: Scene) -> list[str]:
    """Joints of one velocity."""
    model = scene.model
    kinds = zip(model.joint_names, model.joint_kinds, strict=True)
    return [name for name, kind in kinds if kind in ("revolute", "prismatic")]


def standing_quadruped() -> Setting:
    """The library's quadruped, on four spherical feet."""
    return _standing(quadruped().scene(friction=FRICTION))


def standing_solo12() -> Setting | None:
    """Solo12 with bent legs."""
    scene = loaded("solo12")
    if scene is None:
        return None
    model, q = scene.model, scene.state.q.copy()
    for name, angle in (_SOLO12 | _SOLO12_KNEES).items():
        q[model.q_slice(name)] = angle
    scene.state = State(q, np.zeros(model.nv))
    scene.state = raised(scene, 0.0)
    return _standing(scene)


def _standing(scene: Scene) -> Setting:
    names = joints_of(scene)
    held = with_drag(scene, dict.fromkeys(names, _DRAG))
    return Setting(held, springs(held, dict.fromkeys(names, _STIFF), {}), HOLD)


def gripped_box() -> Setting:
    """An arm of seven joints holds a box in four fingertips."""
    scene = gripping_arm().scene(friction=1.0)
    arm = [name for name in joints_of(scene) if name not in FINGERS]
    held = with_drag(scene, dict.fromkeys(arm, _ARM_DRAG) | dict.fromkeys(FINGERS, _FINGER_DRAG))
    control = springs(held, dict.fromkeys(arm, _ARM_STIFF), dict.fromkeys(FINGERS, _FINGER_FORCE))
    return Setting(held, control, HOLD)


def held_wheel() -> Setting:
    """Two hands close about a wheel on its hub, and hold it there."""
    robot, wheel = dual_arm(), wheel_on_hub()
    scene: Scene = compose(
        [
            Part(source=robot.scene(friction=FRICTION)),
            Part(source=wheel.scene(friction=FRICTION, hub_friction=FRICTION), position=HUB),
        ]
    )
    q = scene.state.q.copy()
    posture = arms(robot, Pose(HUB, np.eye(3)), grasps(), (0.0, 0.0))
    q[: len(posture)] = posture
    scene.state = State(q, np.zeros(scene.model.nv))
    fingers = [f"{side}_{name}" for side in SIDES for name in ("finger1", "finger2", "thumb")]
    arm = [name for name in joints_of(scene) if name not in fingers]
    held = with_drag(scene, dict.fromkeys(arm, _ARM_DRAG) | dict.fromkeys(fingers, _FINGER_DRAG))
    control = springs(held, dict.fromkeys(arm, _ARM_STIFF), dict.fromkeys(fingers, _WHEEL_FORCE))
    return Setting(held, control, HOLD)


def limp(name: str, *, self_collision: bool = False) -> Setting | None:
    """A robot without motors falls on the floor."""
    scene = loaded(name, self_collision=self_collision)
    if scene is None:
        return None
    scene.state = raised(scene, HEIGHT)
    return Setting(scene)
