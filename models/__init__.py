"""Ready-made models and scenes."""

from spatialops.models.dual_arm import DualArm, dual_arm
from spatialops.models.gripping_arm import GrippingArm, gripping_arm
from spatialops.models.linkages import Linkage, bricard, four_bar, slider_crank
from spatialops.models.pendulum import Pendulum, pendulum
from spatialops.models.quadruped import Quadruped, quadruped
from spatialops.models.squeezer import Squeezer, squeezer
from spatialops.models.stewart import stewart_platform

__all__ = [
    "DualArm",
    "GrippingArm",
    "Linkage",
    "Pendulum",
    "Quadruped",
    "Squeezer",
    "bricard",
    "dual_arm",
    "four_bar",
    "gripping_arm",
    "pendulum",
    "quadruped",
    "slider_crank",
    "squeezer",
    "stewart_platform",
]
