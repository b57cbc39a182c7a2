"""Rigid-body dynamics with exact contact, written around Jain's spatial operators."""

from __future__ import annotations

__version__ = "0.1.0"

from spatialops.algebra.inertia import Inertia
from spatialops.dynamics.articulated_body import forward_dynamics
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
from spatialops.dynamics.newton_euler import bias, inverse_dynamics
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model, Node
from spatialops.tree.state import State, difference, integrate

__all__ = [
    "Energy",
    "Inertia",
    "Joint",
    "Model",
    "Node",
    "Poses",
    "State",
    "TreeBuilder",
    "bias",
    "body_poses",
    "center_of_mass",
    "compliance",
    "difference",
    "energy",
    "forward_dynamics",
    "integrate",
    "inverse_dynamics",
    "jacobian",
    "jacobian_drift",
    "mass_matrix",
    "momentum",
    "node_accelerations",
    "node_positions",
    "node_velocities",
]
