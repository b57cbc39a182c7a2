"""Ready-made models and scenes."""

from spatialops.models.linkages import Linkage, bricard, four_bar, slider_crank
from spatialops.models.pendulum import Pendulum, pendulum
from spatialops.models.squeezer import Squeezer, squeezer
from spatialops.models.stewart import stewart_platform

__all__ = [
    "Linkage",
    "Pendulum",
    "Squeezer",
    "bricard",
    "four_bar",
    "pendulum",
    "slider_crank",
    "squeezer",
    "stewart_platform",
]
