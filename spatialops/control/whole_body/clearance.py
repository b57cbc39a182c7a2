"""Bodies that keep their distance: bounds of accelerations along the shortest way between two.

With n the normal from b to a at their nearest points p, the distance d changes by
d' = n.(v_a - v_b) = J v, and d'' = J a + n.(drift_a - drift_b) but for how nearest points wander
over the bodies. What is left of the distance is bounded as what is left of a joint's range
(`joint_bounds`).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from spatialops._arrays import Array, IntArray, instance, scalar, several
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import cross, dot, minus, plus, scaled, vec3
from spatialops.control.task_space.points import Points
from spatialops.control.whole_body.equations import AccelerationLimits
from spatialops.control.whole_body.joint_bounds import stopping
from spatialops.errors import ArgumentError
from spatialops.simulation.scene.distances import PairDistances
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.node import Node
from spatialops.tree.state import State


class Clearance:
    """Pairs of bodies that a whole-body command keeps apart: of a robot's own, or from the world.

    Parameters
    ----------
    scene : Scene
        The robot with its geoms.
    pairs : iterable of (str, str)
        Names of geoms, or of bodies, as `distances` takes them; contacts that are to hold are not
        among them.
    least : float, default 0.02
        Distance that is kept, m.
    horizon : float, default 0.01
        Over which a command acts, s; at least the period of commands.
    braking : float, default 20
        With which two bodies that approach can be stopped, m/s^2. More lets them go faster while
        they are near; more than motors can give lets them touch.

    Raises
    ------
    ArgumentError
        For numbers out of range, or unknown names.

    References
    ----------
    B. Faverjon, P. Tournassoud, ICRA 1987: the velocity damper; here with a distance to brake in.

    Examples
    --------
    >>> import numpy as np
    >>> import spatialops as so
    >>> from spatialops.control import Clearance
    >>> builder = so.TreeBuilder()
    >>> ball = so.Inertia.sphere(0.1, mass=1.0)
    >>> _ = builder.add_body("ball", joint=so.Joint("prismatic", axis="z"), inertia=ball)
    >>> geoms = so.Geom("round", "ball", so.Sphere(0.1)), so.Geom("floor", "world", so.HalfSpace())
    >>> clearance = Clearance(so.Scene(builder.build(), geoms), [("ball", "floor")], least=0.05)
    >>> near = clearance.limits(so.State(np.array([0.15]), np.array([0.0])))
    >>> near.J.round(12).tolist(), near.low.round(9).tolist()  # as low as it may be
    ([[1.0]], [0.0])
    """

    def __init__(
        self,
        scene: Scene,
        pairs: Iterable[tuple[str, str]],
        *,
        least: float = 0.02,
        horizon: float = 0.01,
        braking: float = 20.0,
    ) -> None:
        self.least = scalar(least, "least", low=0.0)
        self.horizon = scalar(horizon, "horizon", low=0.0, strict=True)
        self.braking = scalar(braking, "braking", low=0.0, strict=True)
        self.scene = scene
        self.pairs = several(pairs, "pairs", "pairs of bodies")
        self._distances = PairDistances(scene, self.pairs)
        self._distances(scene.state.q)  # refuses pairs of fixed surfaces
        bodies = list(dict.fromkeys(geom.body for geom in scene.geoms if geom.body != "world"))
        if not bodies:
            raise ArgumentError("scene: there is no geom on any body")
        self._bodies: IntArray = np.array(
            [bodies.index(geom.body) if geom.body != "world" else -1 for geom in scene.geoms]
        )
        self._points = Points(scene.model, [Node(body) for body in bodies])

    def limits(self, state: State) -> AccelerationLimits:
        """Bounds of accelerations at a state.

        Parameters
        ----------
        state : State
            Configuration and velocity.

        Returns
        -------
        AccelerationLimits
            A row a pair, m/s^2.
        """
        found = self._distances(instance(state, State, "state").q)
        rows = self._points.rows(state.q, state.v)
        count = len(self.pairs)
        J, low = np.empty((count, self.scene.model.nv)), np.empty(count)
        motions = rows.points, rows.J, rows.velocities, rows.drift
        sides = found.points_a, found.points_b, found.normals
        numbers = np.array([self.least, self.horizon, self.braking])
        bodies = self._bodies[found.geoms]
        clearance_kernel(motions, bodies, sides, found.distances, state.v, numbers, J, low)
        return AccelerationLimits(J, low)


@kernel
def clearance_kernel(
    motions: tuple[Array, ...],
    bodies: IntArray,
    sides: tuple[Array, Array, Array],
    distances: Array,
    v: Array,
    numbers: Array,
    J: Array,
    low: Array,
) -> None:
    """Rows along the shortest way between two bodies, and how fast it may become shorter.

    `motions` are places (b, 3), Jacobians, velocities and drifts of bodies, `bodies` (k, 2) those
    of each pair, -1 for the world; `sides` nearest points on both, and normals; `numbers` distance,
    horizon and braking.
    """
    points, jacobians, velocities, drifts = motions
    normals = sides[2]
    for k in range(low.size):
        moved = 0.0
        for c in range(v.size):
            J[k, c] = 0.0
        for side in range(2):
            body = bodies[k, side]
            if body < 0:
                continue
            axis = scaled(1.0 - 2.0 * side, vec3(normals, k, 0))
            nearest = vec3(sides[0], k, 0) if side == 0 else vec3(sides[1], k, 0)
            arm = minus(nearest, vec3(points, body, 0))
            turn = cross(arm, axis)
            omega = vec3(velocities, body, 0)
            inward = cross(omega, cross(omega, arm))
            moved += dot(turn, vec3(drifts, body, 0))
            moved += dot(axis, plus(vec3(drifts, body, 3), inward))
            for i in range(3):
                for c in range(v.size):
                    J[k, c] += turn[i] * jacobians[body, i, c] + axis[i] * jacobians[body, 3 + i, c]
        closing = 0.0
        for c in range(v.size):
            closing -= J[k, c] * v[c]
        left = distances[k] - numbers[0]
        low[k] = -stopping(left, closing, numbers[1], numbers[2]) - moved
