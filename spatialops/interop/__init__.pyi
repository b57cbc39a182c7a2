"""The names of `spatialops.interop`, each once: read by editors, mypy and the lazy loader."""

from . import jax, mujoco, pinocchio, torch

__all__ = ["jax", "mujoco", "pinocchio", "torch"]
