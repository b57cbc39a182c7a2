"""Rigid-body dynamics with exact contact, written around Jain's spatial operators."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

from spatialops import collision, contact, control, models
from spatialops.algebra.inertia import Inertia
from spatialops.collision import Geom, HalfSpace, Sphere
from spatialops.dynamics.articulated_body import forward_dynamics
from spatialops.dynamics.closed import (
    ConstrainedMotion,
    constrained_dynamics,
    loop_errors,
    loop_forces,
    loop_jacobian,
    loop_velocities,
)
from spatialops.dynamics.closing import close_loops, loop_at
from spatialops.dynamics.compliance import compliance
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.dynamics.energy import Energy, center_of_mass, energy, momentum
from spatialops.dynamics.jacobian import (
    Poses,
    body_poses,
    jacobian,
    jacobian_drift,
    node_accelerations,
    node_positions,
    node_velocities,
)
from spatialops.dynamics.maximal import MaximalState, from_maximal, to_maximal
from spatialops.dynamics.newton_euler import bias, inverse_dynamics
from spatialops.simulation import EventDriven, Pair, Record, Scene, Simulator, TimeStepping, load_record
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.graph import GraphBuilder, SpanningTree, spanning_tree
from spatialops.tree.joint import Joint
from spatialops.tree.loop import Loop
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model, Node
from spatialops.tree.state import State, difference, integrate

if TYPE_CHECKING:
    from spatialops.io import load_model
    from spatialops.operators import SpatialOperators
    from spatialops.simulation.load import LoadedScene, Part, compose, load_scene
    from spatialops.simulation.maximal import maximal_scene, maximal_state, tree_state


# Imported when they are first asked for: few programs need them, and they load more of SciPy.
_LAZY = {
    "SpatialOperators": "spatialops.operators",
    "load_model": "spatialops.io",
    **dict.fromkeys(("LoadedScene", "Part", "compose", "load_scene"), "spatialops.simulation.load"),
    **dict.fromkeys(("maximal_scene", "maximal_state", "tree_state"), "spatialops.simulation.maximal"),
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'spatialops' has no attribute {name!r}")


__all__ = [
    "Energy",
    "EventDriven",
    "ConstrainedMotion",
    "Geom",
    "GraphBuilder",
    "HalfSpace",
    "Inertia",
    "Joint",
    "LoadedScene",
    "Loop",
    "Loops",
    "MaximalState",
    "Model",
    "Node",
    "Pair",
    "Part",
    "Poses",
    "Record",
    "Scene",
    "Simulator",
    "SpatialOperators",
    "SpanningTree",
    "Sphere",
    "State",
    "TimeStepping",
    "TreeBuilder",
    "bias",
    "body_poses",
    "center_of_mass",
    "close_loops",
    "collision",
    "compliance",
    "compose",
    "constrained_dynamics",
    "contact",
    "control",
    "difference",
    "energy",
    "forward_dynamics",
    "from_maximal",
    "integrate",
    "inverse_dynamics",
    "jacobian",
    "jacobian_drift",
    "load_model",
    "load_record",
    "load_scene",
    "loop_at",
    "loop_errors",
    "loop_forces",
    "loop_jacobian",
    "loop_velocities",
    "mass_matrix",
    "maximal_scene",
    "maximal_state",
    "models",
    "momentum",
    "node_accelerations",
    "node_positions",
    "node_velocities",
    "spanning_tree",
    "to_maximal",
    "tree_state",
]
