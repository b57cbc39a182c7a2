"""The names of `spatialops`, each once: read by editors, mypy and the lazy loader."""

from . import collision, contact, control, errors, interop, models, sensors, simulation
from .algebra.inertia import Inertia
from .collision.shapes import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Geom,
    HalfSpace,
    HeightField,
    Mesh,
    Sphere,
)
from .derivatives.base_parameters import BaseParameters, base_parameters
from .derivatives.constrained_dynamics import (
    ConstrainedDynamicsDerivatives,
    MultiplierDerivatives,
    constrained_dynamics_derivatives,
)
from .derivatives.contracted_compliance import contracted_compliance_derivative
from .derivatives.forward_dynamics import (
    ForwardDynamicsDerivatives,
    forward_dynamics_derivatives,
)
from .derivatives.inertial_regressor import inertial_parameters, inertial_regressor
from .derivatives.inverse_dynamics import (
    InverseDynamicsDerivatives,
    inverse_dynamics_derivatives,
)
from .derivatives.log_cholesky import from_log_cholesky, to_log_cholesky
from .derivatives.manifold import MoveDerivatives, integrate_derivatives
from .derivatives.mass_matrix import compliance_derivative, mass_matrix_derivative
from .derivatives.momentum import (
    EnergyDerivatives,
    MomentumDerivatives,
    center_of_mass_derivative,
    centroidal_momentum_derivatives,
    energy_derivatives,
)
from .dynamics.centroidal import centroidal_momentum_matrix
from .dynamics.compliance.compliance import compliance
from .dynamics.compliance.operational_space import (
    dynamically_consistent_inverse,
    null_space_projector,
    operational_space_inertia,
)
from .dynamics.composite_body import mass_matrix
from .dynamics.energy import Energy, center_of_mass, energy, momentum
from .dynamics.forward_dynamics import forward_dynamics
from .dynamics.hybrid import hybrid_dynamics
from .dynamics.jacobian import (
    Poses,
    body_poses,
    jacobian,
    jacobian_drift,
    node_accelerations,
    node_positions,
    node_velocities,
)
from .dynamics.joint_wrenches import joint_wrenches
from .dynamics.loops.assembly import close_loops, loop_at
from .dynamics.loops.constrained_dynamics import (
    ConstrainedMotion,
    constrained_dynamics,
    loop_errors,
    loop_forces,
    loop_jacobian,
    loop_velocities,
)
from .dynamics.loops.embedding import ConstraintEmbedding
from .dynamics.mass_solve import mass_solve
from .dynamics.maximal import MaximalState, from_maximal, to_maximal
from .dynamics.newton_euler import bias, inverse_dynamics
from .errors import SpatialOpsError
from .forces.actuators import Actuator
from .forces.fields import Buoyancy, ChangingGravity, Wind
from .forces.paths import Around, TendonPath
from .forces.tendons import Tendon
from .io import load_model, save_model
from .kinematics.inverse_kinematics import KinematicSolution, inverse_kinematics
from .kinematics.targets import Target
from .operators import SpatialOperators
from .simulation.batch.batch import Batch
from .simulation.inputs import Command
from .simulation.linearization.parameters import ParameterDerivatives
from .simulation.linearization.results import (
    Linearization,
    ParameterGradient,
    RolloutGradient,
    RolloutTangent,
)
from .simulation.linearization.rollout import LinearizedRollout
from .simulation.records.loading import load_record
from .simulation.records.record import Record
from .simulation.scene.composition import Part, compose
from .simulation.scene.distances import Distances, distances
from .simulation.scene.loader import LoadedScene, load_scene
from .simulation.scene.maximal_scene import maximal_scene, maximal_state, tree_state
from .simulation.scene.pair_options import Pair
from .simulation.scene.placement import raised
from .simulation.scene.ray_casting import RayHits, cast_rays
from .simulation.scene.scene import Scene
from .simulation.scene.writing.save_scene import save_scene
from .simulation.separation import separate
from .simulation.simulator import Simulator
from .simulation.smooth_motion import SmoothMotion, smooth_motion
from .simulation.time_methods import EventDriven, TimeStepping
from .sweeps.sweep import sweep
from .tree.builder import TreeBuilder
from .tree.graph import GraphBuilder
from .tree.joint import Joint
from .tree.loop import Loop
from .tree.loops import Loops
from .tree.model import Model
from .tree.node import Node
from .tree.spanning_tree import SpanningTree, spanning_tree
from .tree.state import State, difference, integrate

__version__: str

__all__ = [
    "Around",
    "base_parameters",
    "BaseParameters",
    "Actuator",
    "Batch",
    "bias",
    "body_poses",
    "Box",
    "Buoyancy",
    "Capsule",
    "cast_rays",
    "center_of_mass",
    "center_of_mass_derivative",
    "centroidal_momentum_derivatives",
    "centroidal_momentum_matrix",
    "ChangingGravity",
    "close_loops",
    "Command",
    "collision",
    "compliance",
    "compliance_derivative",
    "compose",
    "Cone",
    "constrained_dynamics",
    "constrained_dynamics_derivatives",
    "contracted_compliance_derivative",
    "ConstrainedDynamicsDerivatives",
    "ConstraintEmbedding",
    "ConstrainedMotion",
    "contact",
    "control",
    "ConvexHull",
    "Cylinder",
    "difference",
    "Distances",
    "distances",
    "dynamically_consistent_inverse",
    "Ellipsoid",
    "Energy",
    "energy",
    "energy_derivatives",
    "EnergyDerivatives",
    "errors",
    "EventDriven",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "ForwardDynamicsDerivatives",
    "from_log_cholesky",
    "from_maximal",
    "Geom",
    "GraphBuilder",
    "HalfSpace",
    "HeightField",
    "hybrid_dynamics",
    "Inertia",
    "inertial_parameters",
    "inertial_regressor",
    "integrate",
    "integrate_derivatives",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "InverseDynamicsDerivatives",
    "interop",
    "inverse_kinematics",
    "jacobian",
    "jacobian_drift",
    "Joint",
    "Linearization",
    "LinearizedRollout",
    "joint_wrenches",
    "KinematicSolution",
    "load_model",
    "load_record",
    "load_scene",
    "LoadedScene",
    "Loop",
    "loop_at",
    "loop_errors",
    "loop_forces",
    "loop_jacobian",
    "loop_velocities",
    "Loops",
    "mass_matrix",
    "mass_matrix_derivative",
    "mass_solve",
    "maximal_scene",
    "maximal_state",
    "MaximalState",
    "Mesh",
    "Model",
    "models",
    "momentum",
    "MomentumDerivatives",
    "MoveDerivatives",
    "MultiplierDerivatives",
    "Node",
    "node_accelerations",
    "node_positions",
    "node_velocities",
    "null_space_projector",
    "operational_space_inertia",
    "Pair",
    "ParameterDerivatives",
    "ParameterGradient",
    "Part",
    "Poses",
    "raised",
    "RayHits",
    "Record",
    "RolloutGradient",
    "RolloutTangent",
    "save_model",
    "save_scene",
    "Scene",
    "sensors",
    "separate",
    "simulation",
    "Simulator",
    "smooth_motion",
    "SmoothMotion",
    "spanning_tree",
    "SpanningTree",
    "SpatialOperators",
    "SpatialOpsError",
    "Sphere",
    "State",
    "Target",
    "TimeStepping",
    "sweep",
    "to_log_cholesky",
    "Tendon",
    "TendonPath",
    "to_maximal",
    "tree_state",
    "TreeBuilder",
    "Wind",
]
