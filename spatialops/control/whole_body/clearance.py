"""Bodies that keep their distance: bounds of accelerations along the shortest way between two.

With n the normal from b to a at their nearest points p, the distance d changes by
d' = n.(v_a - v_b) = J v, and d'' = J a + n.(drift_a - drift_b) but for how nearest points wander
over the bodies. What is left of the distance is bounded as what is left of a joint's range
(`joint_bounds`).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from spatialops._arrays import Array, scalar
from spatialops.algebra.vectors import cross
from spatialops.control.task_space.points import NodeRows, Points
from spatialops.control.whole_body.equations import AccelerationLimits
from spatialops.control.whole_body.joint_bounds import stopping
from spatialops.errors import ArgumentError
from spatialops.simulation.scene.distances import distances
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
        self.pairs = tuple(pairs)
        distances(scene, scene.state.q, self.pairs)  # refuses names that are unknown
        bodies = list(dict.fromkeys(geom.body for geom in scene.geoms if geom.body != "world"))
        if not bodies:
            raise ArgumentError("scene: there is no geom on any body")
        self._place = {body: i for i, body in enumerate(bodies)}
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
        found = distances(self.scene, state.q, self.pairs)
        rows = self._points.rows(state.q, state.v)
        J = np.zeros((len(self.pairs), self.scene.model.nv))
        low = np.empty(len(self.pairs))
        for k, normal in enumerate(found.normals):
            drift = 0.0
            for geom, point, side in (
                (found.geoms[k, 0], found.points_a[k], normal),
                (found.geoms[k, 1], found.points_b[k], -normal),
            ):
                body = self._place.get(self.scene.geoms[geom].body)
                if body is not None:
                    row, moved = _along(rows, body, point, side)
                    J[k] += row
                    drift += moved
            closing = -float(J[k] @ state.v)
            left = float(found.distances[k]) - self.least
            low[k] = -stopping(left, closing, self.horizon, self.braking) - drift
        return AccelerationLimits(J, low)


def _along(rows: NodeRows, body: int, point: Array, axis: Array) -> tuple[Array, float]:
    """The row (nv,) and the drift of a body's point along an axis."""
    arm = point - rows.points[body]
    turn = _cross(arm, axis)
    J = rows.J[body]
    omega = rows.velocities[body, :3]
    drift = rows.drift[body]
    inward = _cross(omega, _cross(omega, arm))
    moved = float(turn @ drift[:3] + axis @ (drift[3:] + inward))
    return turn @ J[:3] + axis @ J[3:], moved


def _cross(a: Array, b: Array) -> Array:
    """A x b of two vectors: `np.cross` takes 30 us."""
    return np.array(cross(tuple(a.tolist()), tuple(b.tolist())))
