"""Scenes, the stepping of time, and the record of what happened."""

from spatialops.simulation.pairs import Pair
from spatialops.simulation.record import Record, load_record
from spatialops.simulation.scene import Scene
from spatialops.simulation.simulator import Simulator, StepInfo

__all__ = ["Pair", "Record", "Scene", "Simulator", "StepInfo", "load_record"]
