"""Robots, tasks and simulators that several tests of controllers start from."""

import numpy as np

import spatialops as so
from spatialops.control import ForceProgram, FrictionConeController
from spatialops.experiments.aghili.states import base_task, grips, motors_of
from spatialops.simulation.lookahead import Lookahead

MOTORS = np.arange(6, 18)  # velocities of the quadruped's joints


def controller_of(
    robot,
    acceleration=(0.0,) * 6,
    feet=range(4),
    friction=0.6,
    kind=FrictionConeController,
    **options,
):
    """A controller of the quadruped that asks its base for an acceleration."""
    tracking = base_task(robot, robot.state, np.asarray(acceleration, dtype=float))
    return kind(
        robot.model, [tracking], motors_of(robot), contacts=grips(robot, feet, friction), **options
    )


def command(robot, motors, contacts, acceleration=(0.0,) * 6, **options):
    """The same with motors and contacts of one's own, after its first command."""
    tracking = base_task(robot, robot.state, np.asarray(acceleration, dtype=float))
    controller = FrictionConeController(
        robot.model, [tracking], motors, contacts=contacts, **options
    )
    controller(0.0, robot.state)
    return controller


def force_program(
    H, g=None, E=None, e=None, D=None, d=None, K=None, k=None, mu=(), **options
) -> ForceProgram:
    """A force program in which what is not named is empty."""
    n = len(H)
    none, nothing = np.zeros((0, n)), np.zeros(0)
    return ForceProgram(
        np.asarray(H, dtype=float),
        np.zeros(n) if g is None else g,
        *((none, nothing) if E is None else (E, e)),
        *((none, nothing) if D is None else (D, d)),
        *((none, nothing) if K is None else (K, k)),
        np.asarray(mu, dtype=float),
        **options,
    )


def pulled_cone():
    """Least |u|^2 / 2 with u_x = 3 in a cone of mu 0.5 about z: u_z = 6."""
    return force_program(
        np.eye(3),
        E=np.array([[1.0, 0.0, 0.0]]),
        e=np.array([3.0]),
        K=np.eye(3)[[2, 0, 1]],
        k=np.zeros(3),
        mu=[0.5],
    )


def quadruped_simulator(law="cone", friction=0.8, **options):
    """The quadruped on level ground, and a simulator whose step has no impacts."""
    robot = so.models.quadruped()
    return robot, so.Simulator(
        robot.scene(friction=friction), law=law, impact_threshold=100.0, certify="off", **options
    )


def prediction(friction=0.8, law="cone"):
    """The step of the quadruped at rest without joint forces, and what it is of."""
    robot, sim = quadruped_simulator(law, friction)
    return robot, sim, Lookahead(sim).predict(robot.state)
