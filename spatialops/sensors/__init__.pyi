"""The names of `spatialops.sensors`, each once: read by editors, mypy and the lazy loader."""

from .contacts import ContactForce, Touch
from .force_torque import ForceTorque
from .frames import CenterOfMass, FramePose
from .imu import IMU
from .joints import JointPositions, JointTorques, JointVelocities
from .noise import Noise
from .rangefinder import Rangefinder

__all__ = [
    "CenterOfMass",
    "ContactForce",
    "ForceTorque",
    "FramePose",
    "IMU",
    "JointPositions",
    "JointTorques",
    "JointVelocities",
    "Noise",
    "Rangefinder",
    "Touch",
]
