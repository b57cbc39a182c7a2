"""Scenes, the stepping of time, and the record of what happened."""

from spatialops.simulation.pairs import Pair
from spatialops.simulation.record import Record, load_record
from spatialops.simulation.scene import Scene
from spatialops.simulation.simulator import Simulator
from spatialops.simulation.step_info import StepInfo
from spatialops.simulation.time import EventDriven, TimeStepping

__all__ = ["EventDriven", "Pair", "Record", "Scene", "Simulator", "StepInfo", "TimeStepping", "load_record"]
