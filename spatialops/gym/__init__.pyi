"""The names of `spatialops.gym`, each once: read by editors, mypy and the lazy loader."""

from .environment import SceneEnv
from .task import Moment, Task
from .vector import SceneVectorEnv

__all__ = [
    "Moment",
    "SceneEnv",
    "SceneVectorEnv",
    "Task",
]
