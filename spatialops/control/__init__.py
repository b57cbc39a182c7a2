"""Controllers and planners. Each class is loaded when it is first asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spatialops.control.actuation import Actuation
from spatialops.control.controller import Controller, Explanation

if TYPE_CHECKING:
    from spatialops.control.consistency import nearest_consistent
    from spatialops.control.coulomb import ConeControl, CoulombControl
    from spatialops.control.dissipation import DissipationControl, NoSlipDissipationControl
    from spatialops.control.friction_cone import ConeExplanation, FrictionConeController
    from spatialops.control.friction_cone_barrier import Barrier
    from spatialops.control.friction_cone_conic import Conic
    from spatialops.control.friction_cone_problem import ForceProgram, ForceSolution
    from spatialops.control.gait import Gait
    from spatialops.control.inverse_problem import InverseProblem
    from spatialops.control.legs import Legs
    from spatialops.control.motors import Motors
    from spatialops.control.no_slip import NoSlipControl
    from spatialops.control.operational_space import OperationalSpaceController
    from spatialops.control.projection import ProjectedDynamics, Projection
    from spatialops.control.projection_contacts import HeldContact, HeldContacts
    from spatialops.control.projection_secondary import AwayFromSingularity, JointLimits, Rest
    from spatialops.control.projection_tasks import CenterOfMassTask, JointTask, PointTask, PoseTask, Tracking
    from spatialops.control.sensed import SensedForces
    from spatialops.control.tracking import PID, Gains, JointTracking, Reference
    from spatialops.control.trot import Trot
    from spatialops.control.waypoints import Waypoints
    from spatialops.control.whole_body import WholeBodyController

# name: module that defines it
_LAZY: dict[str, str] = {
    "AwayFromSingularity": "spatialops.control.projection_secondary",
    "Barrier": "spatialops.control.friction_cone_barrier",
    "CenterOfMassTask": "spatialops.control.projection_tasks",
    "ConeControl": "spatialops.control.coulomb",
    "ConeExplanation": "spatialops.control.friction_cone",
    "Conic": "spatialops.control.friction_cone_conic",
    "CoulombControl": "spatialops.control.coulomb",
    "DissipationControl": "spatialops.control.dissipation",
    "ForceProgram": "spatialops.control.friction_cone_problem",
    "ForceSolution": "spatialops.control.friction_cone_problem",
    "FrictionConeController": "spatialops.control.friction_cone",
    "Gains": "spatialops.control.tracking",
    "Gait": "spatialops.control.gait",
    "HeldContact": "spatialops.control.projection_contacts",
    "HeldContacts": "spatialops.control.projection_contacts",
    "InverseProblem": "spatialops.control.inverse_problem",
    "JointLimits": "spatialops.control.projection_secondary",
    "JointTask": "spatialops.control.projection_tasks",
    "JointTracking": "spatialops.control.tracking",
    "Legs": "spatialops.control.legs",
    "Motors": "spatialops.control.motors",
    "NoSlipControl": "spatialops.control.no_slip",
    "NoSlipDissipationControl": "spatialops.control.dissipation",
    "OperationalSpaceController": "spatialops.control.operational_space",
    "PID": "spatialops.control.tracking",
    "PointTask": "spatialops.control.projection_tasks",
    "PoseTask": "spatialops.control.projection_tasks",
    "ProjectedDynamics": "spatialops.control.projection",
    "Projection": "spatialops.control.projection",
    "Reference": "spatialops.control.tracking",
    "Rest": "spatialops.control.projection_secondary",
    "SensedForces": "spatialops.control.sensed",
    "Tracking": "spatialops.control.projection_tasks",
    "Trot": "spatialops.control.trot",
    "Waypoints": "spatialops.control.waypoints",
    "WholeBodyController": "spatialops.control.whole_body",
    "nearest_consistent": "spatialops.control.consistency",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'spatialops.control' has no attribute {name!r}")


__all__ = [
    "Actuation",
    "AwayFromSingularity",
    "Barrier",
    "CenterOfMassTask",
    "ConeControl",
    "ConeExplanation",
    "Conic",
    "Controller",
    "CoulombControl",
    "DissipationControl",
    "Explanation",
    "ForceProgram",
    "ForceSolution",
    "FrictionConeController",
    "Gains",
    "Gait",
    "HeldContact",
    "HeldContacts",
    "InverseProblem",
    "JointLimits",
    "JointTask",
    "JointTracking",
    "Legs",
    "Motors",
    "NoSlipControl",
    "NoSlipDissipationControl",
    "OperationalSpaceController",
    "PID",
    "PointTask",
    "PoseTask",
    "ProjectedDynamics",
    "Projection",
    "Reference",
    "Rest",
    "SensedForces",
    "Tracking",
    "Trot",
    "Waypoints",
    "WholeBodyController",
    "nearest_consistent",
]
