"""Controllers and planners. Each class is loaded when it is first asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spatialops.control.actuation import Actuation
from spatialops.control.controller import Controller, Explanation

if TYPE_CHECKING:
    from spatialops.control.grasp_force import FingerGains, GraspForce, Open, Squeeze
    from spatialops.control.impedance import Impedance, ImpedanceGains
    from spatialops.control.manipulation import Manipulator
    from spatialops.control.script import Guard, Phase, Script
    from spatialops.control.senses import Senses
    from spatialops.control.trajectory import Bounds, Pose, PoseTrajectory

# name: module that defines it
_LAZY: dict[str, str] = {
    **dict.fromkeys(("FingerGains", "GraspForce", "Open", "Squeeze"), "spatialops.control.grasp_force"),
    **dict.fromkeys(("Impedance", "ImpedanceGains"), "spatialops.control.impedance"),
    "Manipulator": "spatialops.control.manipulation",
    **dict.fromkeys(("Guard", "Phase", "Script"), "spatialops.control.script"),
    "Senses": "spatialops.control.senses",
    **dict.fromkeys(("Bounds", "Pose", "PoseTrajectory"), "spatialops.control.trajectory"),
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'spatialops.control' has no attribute {name!r}")


__all__ = [
    "Actuation",
    "Bounds",
    "Controller",
    "Explanation",
    "FingerGains",
    "GraspForce",
    "Guard",
    "Impedance",
    "ImpedanceGains",
    "Manipulator",
    "Open",
    "Phase",
    "Pose",
    "PoseTrajectory",
    "Script",
    "Senses",
    "Squeeze",
]
