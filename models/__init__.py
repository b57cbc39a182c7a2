"""Ready-made models and scenes."""

from spatialops.models.dual_arm import DualArm, dual_arm
from spatialops.models.pendulum import Pendulum, pendulum

__all__ = ["DualArm", "Pendulum", "dual_arm", "pendulum"]
