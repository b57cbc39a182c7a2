"""Scenes, the stepping of time, and the record of what happened."""

from spatialops.simulation.batch.batch import Batch, Rollout
from spatialops.simulation.records.loading import load_record
from spatialops.simulation.records.record import Record
from spatialops.simulation.records.step_info import StepInfo
from spatialops.simulation.runs.stepper import Stepper
from spatialops.simulation.scene.pair_options import Pair
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.separation import separate
from spatialops.simulation.simulator import Simulator
from spatialops.simulation.time_methods import EventDriven, TimeStepping

__all__ = [
    "Batch",
    "EventDriven",
    "Pair",
    "Record",
    "Rollout",
    "Scene",
    "Simulator",
    "StepInfo",
    "Stepper",
    "TimeStepping",
    "load_record",
    "separate",
]
