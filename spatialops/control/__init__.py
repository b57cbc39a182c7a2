"""Controllers and planners. Each class is loaded when it is first asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spatialops.control.actuation import Actuation
from spatialops.control.controller import Controller, Explanation

if TYPE_CHECKING:
    from spatialops.control.balance import Balance
    from spatialops.control.consistency import nearest_consistent
    from spatialops.control.coulomb import ConeControl, CoulombControl
    from spatialops.control.dissipation import DissipationControl, NoSlipDissipationControl
    from spatialops.control.friction_cone import ConeExplanation, FrictionConeController
    from spatialops.control.friction_cone_barrier import Barrier
    from spatialops.control.friction_cone_conic import Conic
    from spatialops.control.friction_cone_problem import ForceProgram, ForceSolution
    from spatialops.control.gait import Gait
    from spatialops.control.grasp_force import FingerGains, GraspForce, Open, Squeeze
    from spatialops.control.impedance import Impedance, ImpedanceGains
    from spatialops.control.inverse_problem import InverseProblem
    from spatialops.control.legs import Legs
    from spatialops.control.manipulation import Manipulator
    from spatialops.control.motors import Motors
    from spatialops.control.no_slip import NoSlipControl
    from spatialops.control.operational_space import OperationalSpaceController
    from spatialops.control.projection import ProjectedDynamics, Projection
    from spatialops.control.projection_contacts import HeldContact, HeldContacts
    from spatialops.control.projection_secondary import AwayFromSingularity, JointLimits, Rest
    from spatialops.control.projection_tasks import CenterOfMassTask, JointTask, PointTask, PoseTask, Tracking
    from spatialops.control.script import Guard, Phase, Script
    from spatialops.control.sensed import SensedForces
    from spatialops.control.senses import Senses
    from spatialops.control.tracking import PID, Gains, JointTracking, Reference
    from spatialops.control.trajectory import Bounds, Pose, PoseTrajectory
    from spatialops.control.trot import Trot
    from spatialops.control.waypoints import Waypoints
    from spatialops.control.whole_body import WholeBodyController

_MODULES: dict[str, tuple[str, ...]] = {
    "balance": ("Balance",),
    "consistency": ("nearest_consistent",),
    "coulomb": (
        "ConeControl",
        "CoulombControl",
    ),
    "dissipation": (
        "DissipationControl",
        "NoSlipDissipationControl",
    ),
    "friction_cone": (
        "ConeExplanation",
        "FrictionConeController",
    ),
    "friction_cone_barrier": ("Barrier",),
    "friction_cone_conic": ("Conic",),
    "friction_cone_problem": (
        "ForceProgram",
        "ForceSolution",
    ),
    "gait": ("Gait",),
    "grasp_force": (
        "FingerGains",
        "GraspForce",
        "Open",
        "Squeeze",
    ),
    "impedance": (
        "Impedance",
        "ImpedanceGains",
    ),
    "inverse_problem": ("InverseProblem",),
    "legs": ("Legs",),
    "manipulation": ("Manipulator",),
    "motors": ("Motors",),
    "no_slip": ("NoSlipControl",),
    "operational_space": ("OperationalSpaceController",),
    "projection": (
        "ProjectedDynamics",
        "Projection",
    ),
    "projection_contacts": (
        "HeldContact",
        "HeldContacts",
    ),
    "projection_secondary": (
        "AwayFromSingularity",
        "JointLimits",
        "Rest",
    ),
    "projection_tasks": (
        "CenterOfMassTask",
        "JointTask",
        "PointTask",
        "PoseTask",
        "Tracking",
    ),
    "script": (
        "Guard",
        "Phase",
        "Script",
    ),
    "sensed": ("SensedForces",),
    "senses": ("Senses",),
    "tracking": (
        "Gains",
        "JointTracking",
        "PID",
        "Reference",
    ),
    "trajectory": (
        "Bounds",
        "Pose",
        "PoseTrajectory",
    ),
    "trot": ("Trot",),
    "waypoints": ("Waypoints",),
    "whole_body": ("WholeBodyController",),
}
_LAZY = {name: f"spatialops.control.{module}" for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'spatialops.control' has no attribute {name!r}")


__all__ = [
    "Actuation",
    "AwayFromSingularity",
    "Balance",
    "Barrier",
    "Bounds",
    "CenterOfMassTask",
    "ConeControl",
    "ConeExplanation",
    "Conic",
    "Controller",
    "CoulombControl",
    "DissipationControl",
    "Explanation",
    "FingerGains",
    "ForceProgram",
    "ForceSolution",
    "FrictionConeController",
    "Gains",
    "Gait",
    "GraspForce",
    "Guard",
    "HeldContact",
    "HeldContacts",
    "Impedance",
    "ImpedanceGains",
    "InverseProblem",
    "JointLimits",
    "JointTask",
    "JointTracking",
    "Legs",
    "Manipulator",
    "Motors",
    "NoSlipControl",
    "NoSlipDissipationControl",
    "Open",
    "OperationalSpaceController",
    "PID",
    "Phase",
    "PointTask",
    "Pose",
    "PoseTask",
    "PoseTrajectory",
    "ProjectedDynamics",
    "Projection",
    "Reference",
    "Rest",
    "Script",
    "SensedForces",
    "Senses",
    "Squeeze",
    "Tracking",
    "Trot",
    "Waypoints",
    "WholeBodyController",
    "nearest_consistent",
]
