"""The names of `spatialops.control`, each once: read by editors, mypy and the lazy loader."""

from .actuation import Actuation
from .controller import Controller, Explanation
from .estimation.contact_aided_filter import ContactAidedFilter, FilterNoise
from .friction_cone.barrier import Barrier
from .friction_cone.conic import Conic
from .friction_cone.controller import FrictionConeController
from .friction_cone.explanation import ConeExplanation
from .friction_cone.force_program import ForceProgram, ForceSolution
from .inverse_dynamics.consistent_demand import nearest_consistent
from .inverse_dynamics.coulomb import ConeController, CoulombController
from .inverse_dynamics.dissipation import DissipationController, NoSlipDissipationController
from .inverse_dynamics.inverse_problem import InverseProblem
from .inverse_dynamics.measured_forces import MeasuredForcesController
from .inverse_dynamics.no_slip import NoSlipController
from .joint_tracking import Gains, JointTracking, PIDController, Reference
from .locomotion.balance import Balance
from .locomotion.centroidal_mpc import CentroidalMPC, HorizonWeights
from .locomotion.contact_schedule import ContactSchedule
from .locomotion.footsteps import Footstep, Footsteps
from .locomotion.gait import Gait
from .locomotion.leg_kinematics import Legs
from .locomotion.pendulum_path import PendulumPath
from .locomotion.trot import Trot
from .locomotion.waypoints import Waypoints
from .manipulation.controller import ManipulationController
from .manipulation.grasp_force import FingerGains, GraspForce, Open, Squeeze
from .manipulation.impedance import Impedance, ImpedanceGains
from .manipulation.observation import Observation
from .manipulation.task_script import Guard, Phase, Script
from .motors import Motors
from .projected.dynamics import ProjectedDynamics, Projection
from .projected.held_contact import HeldContact
from .projected.held_contacts import HeldContacts
from .task_space.attitude_task import AttitudeTask
from .task_space.momentum_tasks import CenterOfMassTask, CentroidalMomentumTask
from .task_space.operational_space import OperationalSpaceController
from .task_space.secondary_tasks import AwayFromSingularity, JointLimits, Rest
from .task_space.tasks import JointTask, PointTask, PoseTask
from .task_space.tracking import Tracking
from .trajectory import Bounds, Pose, PoseTrajectory
from .whole_body.clearance import Clearance
from .whole_body.controller import WholeBodyController
from .whole_body.joint_bounds import JointBounds
from .whole_body.mpc_trot import MpcTrotController, StepRule

__all__ = [
    "Actuation",
    "AttitudeTask",
    "AwayFromSingularity",
    "Balance",
    "Barrier",
    "Bounds",
    "CenterOfMassTask",
    "CentroidalMPC",
    "CentroidalMomentumTask",
    "Clearance",
    "ConeController",
    "ConeExplanation",
    "Conic",
    "ContactAidedFilter",
    "ContactSchedule",
    "Controller",
    "CoulombController",
    "DissipationController",
    "Explanation",
    "FilterNoise",
    "FingerGains",
    "Footstep",
    "Footsteps",
    "ForceProgram",
    "ForceSolution",
    "FrictionConeController",
    "Gains",
    "Gait",
    "GraspForce",
    "Guard",
    "HeldContact",
    "HeldContacts",
    "HorizonWeights",
    "Impedance",
    "ImpedanceGains",
    "InverseProblem",
    "JointBounds",
    "JointLimits",
    "JointTask",
    "JointTracking",
    "Legs",
    "ManipulationController",
    "MeasuredForcesController",
    "Motors",
    "MpcTrotController",
    "NoSlipController",
    "NoSlipDissipationController",
    "Observation",
    "Open",
    "OperationalSpaceController",
    "PIDController",
    "PendulumPath",
    "Phase",
    "PointTask",
    "Pose",
    "PoseTask",
    "PoseTrajectory",
    "ProjectedDynamics",
    "Projection",
    "Reference",
    "Rest",
    "Script",
    "Squeeze",
    "StepRule",
    "Tracking",
    "Trot",
    "Waypoints",
    "WholeBodyController",
    "nearest_consistent",
]
