"""Ready-made models and scenes."""

from spatialops.models.dual_arm import DualArm, dual_arm
from spatialops.models.grasp import Grasp, grasp
from spatialops.models.gripping_arm import GrippingArm, gripping_arm
from spatialops.models.impact_driver import ImpactDriver, impact_driver
from spatialops.models.linkages import Linkage, bricard, four_bar, slider_crank
from spatialops.models.lug_nut import LugNut, lug_nut
from spatialops.models.nut_runner import NutRunner, nut_runner
from spatialops.models.pendulum import Pendulum, pendulum
from spatialops.models.puck import Puck, puck
from spatialops.models.quadruped import Quadruped, quadruped
from spatialops.models.squeezer import Squeezer, squeezer
from spatialops.models.stewart import stewart_platform
from spatialops.models.wheel_on_hub import WheelOnHub, wheel_on_hub

__all__ = [
    "DualArm",
    "Grasp",
    "GrippingArm",
    "ImpactDriver",
    "Linkage",
    "LugNut",
    "NutRunner",
    "Pendulum",
    "Puck",
    "Quadruped",
    "Squeezer",
    "WheelOnHub",
    "bricard",
    "dual_arm",
    "four_bar",
    "grasp",
    "gripping_arm",
    "impact_driver",
    "lug_nut",
    "nut_runner",
    "pendulum",
    "puck",
    "quadruped",
    "slider_crank",
    "squeezer",
    "stewart_platform",
    "wheel_on_hub",
]
