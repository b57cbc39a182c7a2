"""Ready-made models and scenes."""

from spatialops.models.pendulum import Pendulum, pendulum

__all__ = ["Pendulum", "pendulum"]
