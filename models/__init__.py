"""Ready-made models and scenes."""

from spatialops.models.dual_arm import DualArm, dual_arm
from spatialops.models.grasp import Grasp, grasp
from spatialops.models.linkages import Linkage, bricard, four_bar, slider_crank
from spatialops.models.pendulum import Pendulum, pendulum
from spatialops.models.squeezer import Squeezer, squeezer
from spatialops.models.stewart import stewart_platform

__all__ = [
    "DualArm",
    "Grasp",
    "Linkage",
    "Pendulum",
    "Squeezer",
    "bricard",
    "dual_arm",
    "four_bar",
    "grasp",
    "pendulum",
    "slider_crank",
    "squeezer",
    "stewart_platform",
]
