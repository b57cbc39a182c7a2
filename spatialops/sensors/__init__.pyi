"""The names of `spatialops.sensors`, each once: read by editors, mypy and the lazy loader."""

from .actuation import ActuatorForces, Length
from .columns import Columns
from .contacts import ContactForce, Touch
from .distance import Distance
from .force_torque import ForceTorque
from .frames import CenterOfMass, FrameAxis, FramePose
from .from_file import file_sensors
from .imu import IMU
from .joints import JointPositions, JointTorques, JointVelocities
from .motion import FrameVelocity
from .noise import Noise
from .rangefinder import Rangefinder
from .subtree import SubtreeMotion
from .zone import TouchZone

__all__ = [
    "ActuatorForces",
    "CenterOfMass",
    "Columns",
    "ContactForce",
    "Distance",
    "ForceTorque",
    "FrameAxis",
    "FramePose",
    "FrameVelocity",
    "IMU",
    "JointPositions",
    "JointTorques",
    "JointVelocities",
    "Length",
    "Noise",
    "Rangefinder",
    "SubtreeMotion",
    "Touch",
    "TouchZone",
    "file_sensors",
]
