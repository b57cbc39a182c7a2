"""Which velocities of a model have a motor, and how strong it is."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from spatialops._arrays import Array, ArrayLike, BoolArray, IntArray, several, vector
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model


class Actuation:
    """Actuated velocities of a model, in the order of its velocities.

    Parameters
    ----------
    model : Model
        The mechanism.
    joints : iterable of str, optional
        Joints with motors. Default: all but free ones, which carry floating bases and loose
        objects.

    Attributes
    ----------
    joints : tuple of str
        Joints with motors.
    rows : (n,) int array
        Indices of the actuated velocities.
    moves : (nv,) bool array
        Whether a velocity is actuated.
    limits : (n,) array
        Largest force of each motor, N m or N; infinite where the model names none.

    Raises
    ------
    ArgumentError
        For a joint that does not exist, or something that is not a model.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.control import Actuation
    >>> builder, ball = so.TreeBuilder(), so.Inertia.sphere(0.1, mass=1.0)
    >>> _ = builder.add_body("base", joint=so.Joint("free"), inertia=ball)
    >>> hinge = so.Joint("revolute", effort_limit=5.0)
    >>> _ = builder.add_body("arm", parent="base", joint=hinge, inertia=ball)
    >>> motors = Actuation(builder.build())
    >>> motors.rows, motors.limits
    (array([6]), array([5.]))
    >>> motors.clipped([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 7.0])
    array([0., 0., 0., 0., 0., 0., 5.])
    """

    def __init__(self, model: Model, joints: Iterable[str] | None = None) -> None:
        if not isinstance(model, Model):
            raise ArgumentError(f"model: expected a Model, got {type(model).__name__}")
        if isinstance(joints, str):
            raise ArgumentError(f"joints: expected several names, got one: {joints!r}")
        kinds = zip(model.joint_names, model.joint_kinds, strict=True)
        chosen = (name for name, kind in kinds if kind != "free") if joints is None else joints
        self.model = model
        self.joints = several(chosen, "joints", "names")
        slices = [model.v_slice(name) for name in self.joints]
        rows = sorted({row for at in slices for row in range(at.start, at.stop)})
        self.rows: IntArray = np.array(rows, dtype=np.int64)
        self.moves: BoolArray = np.zeros(model.nv, dtype=np.bool_)
        self.moves[self.rows] = True
        self.limits: Array = model.effort_limit[self.rows].copy()

    @cached_property
    def weight(self) -> float:
        """Of the mechanism, N."""
        return float(np.linalg.norm(self.model.gravity)) * self.model.mass

    def __len__(self) -> int:
        return len(self.rows)

    def spread(self, forces: ArrayLike) -> Array:
        """Joint forces from forces of the motors, zero elsewhere.

        Parameters
        ----------
        forces : (n,) array_like
            Forces of the motors, N m or N.

        Returns
        -------
        (nv,) array
            Joint forces, N m or N.
        """
        result = np.zeros(self.model.nv)
        result[self.rows] = vector(forces, len(self), "forces")
        return result

    def clipped(self, tau: ArrayLike) -> Array:
        """Joint forces within the motors' limits, zero where there is no motor.

        Parameters
        ----------
        tau : (nv,) array_like
            Joint forces, N m or N.

        Returns
        -------
        (nv,) array
            The same, clipped.
        """
        wanted = vector(tau, self.model.nv, "tau")[self.rows]
        return self.spread(np.minimum(np.maximum(wanted, -self.limits), self.limits))
