"""The names of `spatialops.interop`, each once: read by editors, mypy and the lazy loader."""

from . import mujoco, pinocchio

__all__ = ["mujoco", "pinocchio"]
