"""Controllers and planners. Each class is loaded when it is first asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spatialops.control.actuation import Actuation
from spatialops.control.controller import Controller, Explanation

if TYPE_CHECKING:
    from spatialops.control.friction_cone import ConeExplanation, FrictionConeController
    from spatialops.control.friction_cone_barrier import Barrier
    from spatialops.control.friction_cone_conic import Conic
    from spatialops.control.friction_cone_problem import ForceProgram, ForceSolution
    from spatialops.control.motors import Motors
    from spatialops.control.operational_space import OperationalSpaceController
    from spatialops.control.projection import ProjectedDynamics, Projection
    from spatialops.control.projection_contacts import HeldContact, HeldContacts
    from spatialops.control.projection_secondary import AwayFromSingularity, JointLimits, Rest
    from spatialops.control.projection_tasks import CenterOfMassTask, JointTask, PointTask, PoseTask, Tracking
    from spatialops.control.whole_body import WholeBodyController

# name: module that defines it
_LAZY: dict[str, str] = {
    "AwayFromSingularity": "spatialops.control.projection_secondary",
    "Barrier": "spatialops.control.friction_cone_barrier",
    "CenterOfMassTask": "spatialops.control.projection_tasks",
    "ConeExplanation": "spatialops.control.friction_cone",
    "Conic": "spatialops.control.friction_cone_conic",
    "ForceProgram": "spatialops.control.friction_cone_problem",
    "ForceSolution": "spatialops.control.friction_cone_problem",
    "FrictionConeController": "spatialops.control.friction_cone",
    "HeldContact": "spatialops.control.projection_contacts",
    "HeldContacts": "spatialops.control.projection_contacts",
    "JointLimits": "spatialops.control.projection_secondary",
    "JointTask": "spatialops.control.projection_tasks",
    "Motors": "spatialops.control.motors",
    "OperationalSpaceController": "spatialops.control.operational_space",
    "PointTask": "spatialops.control.projection_tasks",
    "PoseTask": "spatialops.control.projection_tasks",
    "ProjectedDynamics": "spatialops.control.projection",
    "Projection": "spatialops.control.projection",
    "Rest": "spatialops.control.projection_secondary",
    "Tracking": "spatialops.control.projection_tasks",
    "WholeBodyController": "spatialops.control.whole_body",
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
    "ConeExplanation",
    "Conic",
    "Controller",
    "Explanation",
    "ForceProgram",
    "ForceSolution",
    "FrictionConeController",
    "HeldContact",
    "HeldContacts",
    "JointLimits",
    "JointTask",
    "Motors",
    "OperationalSpaceController",
    "PointTask",
    "PoseTask",
    "ProjectedDynamics",
    "Projection",
    "Rest",
    "Tracking",
    "WholeBodyController",
]
