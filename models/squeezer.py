"""Andrews' squeezing mechanism: seven planar bodies in three loops, a motor and a spring.

A standard test: W. Schiehlen (ed.), Multibody Systems Handbook, Springer 1990; E. Hairer, G.
Wanner, Solving Ordinary Differential Equations II, section VII.7; F. Mazzia, C. Magherini, Test Set
for Initial Value Problem Solvers, problem "andrews". Lengths, masses and the names of angles are
theirs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.inertia import Inertia
from spatialops.dynamics.jacobian import jacobian, node_positions
from spatialops.dynamics.loops.assembly import close_loops
from spatialops.models.linkages import Linkage
from spatialops.tree.graph import GraphBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.node import Node
from spatialops.tree.state import State

# Consistent angles at rest, rad, with theta = 0.
START = {
    "beta": -0.0617138900142764496358948458001,
    "theta": 0.0,
    "gamma": 0.455279819163070380255912382449,
    "phi": 0.222668390165885884674473185609,
    "delta": 0.487364979543842550225598953530,
    "omega": -0.222668390165885884674473185609,
    "epsilon": 1.23054744454982119249735015568,
}
TORQUE = 0.033  # of the motor on beta, N m
STIFFNESS, REST_LENGTH = 4530.0, 0.07785  # N/m, m
# Pivots, m; C holds the spring.
_A = (-0.06934, -0.00227, 0.0)
_B = (-0.03635, 0.03273, 0.0)
_C = (0.014, 0.072, 0.0)
_SPRING = (0.02, -0.018, 0.0)  # where the spring pulls at K3


@dataclass(frozen=True, eq=False)
class Squeezer(Linkage):
    """The mechanism, with what drives it.

    Parameters
    ----------
    model : Model
        The tree: bodies "K1" .. "K7".
    loops : Loops
        Its three closures.
    state : State
        A closed state at rest.
    """

    def forces(self, q: Array) -> Array:
        """Generalised forces of motor and spring.

        Parameters
        ----------
        q : (nq,) array
            Angles, rad.

        Returns
        -------
        (nv,) array
            N m.
        """
        model, node = self.model, [Node("K3", _SPRING)]
        line = node_positions(model, q, node)[0] - np.array(_C)
        length = float(np.linalg.norm(line))
        pull = -STIFFNESS * (length - REST_LENGTH) / length * line
        tau = jacobian(model, q, node)[3:].T @ pull
        tau[model.v_slice("beta")] += TORQUE
        return tau


def squeezer() -> Squeezer:
    """Andrews' squeezing mechanism in the plane z = 0, without gravity, at its usual start.

    Returns
    -------
    Squeezer
        Joints beta, theta, gamma, phi, delta, omega, epsilon; `state` is at rest. Three pins at the
        end of K2 are closed: to K3, K4 and K6.

    References
    ----------
    E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, section VII.7.
    """
    graph, hinge = GraphBuilder(gravity=(0.0, 0.0, 0.0)), Joint("revolute", axis="z")
    masses = {  # mass, moment about the centre of mass, its position in the body's frame
        "K1": (0.04325, 2.194e-6, (0.00092, 0.0)),
        "K2": (0.00365, 4.410e-7, (-0.0115, 0.0)),
        "K3": (0.02373, 5.255e-6, (0.01043, -0.01874)),
        "K4": (0.00706, 5.667e-7, (0.0, -0.00579)),
        "K5": (0.07050, 1.169e-5, (0.02308, -0.00916)),
        "K6": (0.00706, 5.667e-7, (0.00579, 0.0)),
        "K7": (0.05498, 1.912e-5, (-0.00449, -0.01228)),
    }
    for name, (mass, moment, center) in masses.items():
        graph.add_body(name, Inertia(mass, (*center, 0.0), moment * np.eye(3)))
    graph.add_joint("beta", "world", "K1", hinge)
    graph.add_joint("theta", "K1", "K2", hinge, position_a=(0.007, 0.0, 0.0))
    graph.add_joint("gamma", "world", "K3", hinge, position_a=_B)
    graph.add_joint("delta", "world", "K5", hinge, position_a=_A)
    graph.add_joint("phi", "K5", "K4", hinge, position_a=(0.04, 0.0, 0.0))
    graph.add_joint("epsilon", "world", "K7", hinge, position_a=_A)
    graph.add_joint("omega", "K7", "K6", hinge, position_a=(0.0, -0.04, 0.0))
    ends = {"K3": (0.0, -0.035, 0.0), "K4": (0.0, -0.02, 0.0), "K6": (0.02, 0.0, 0.0)}
    for name, end in ends.items():
        graph.add_joint(
            f"pin {name}", name, "K2", hinge, position_a=end, position_b=(-0.028, 0.0, 0.0)
        )
    model, loops = graph.build(cut=[f"pin {name}" for name in ends])
    q = close_loops(
        model, loops, [START[name] for name in model.joint_names], tolerance=1e-15, hold=["theta"]
    )
    assert math.isclose(q[model.q_slice("beta")][0], START["beta"], abs_tol=1e-13)
    return Squeezer(model, loops, State(q, np.zeros(model.nv)))
