"""Fingers of a hand against its thumb: opened to an angle, or squeezing with a force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, scalar
from spatialops.control.trajectory import Pose
from spatialops.dynamics.jacobian import jacobian
from spatialops.tree.model import Model
from spatialops.tree.node import Node


@dataclass(frozen=True)
class Open:
    """Fingers go to an angle.

    Parameters
    ----------
    angle : float, default -0.4
        rad, closing is positive.
    rate : float, default 1.5
        rad/s.
    """

    angle: float = -0.4
    rate: float = 1.5


@dataclass(frozen=True)
class Squeeze:
    """The thumb pushes with a force, and the fingers against it with as much together.

    Parameters
    ----------
    force : float
        N.
    rate : float, default 100
        At which it is reached, N/s.

    Examples
    --------
    >>> from spatialops.control import Squeeze
    >>> firm = Squeeze(20.0)
    >>> firm.force / firm.rate
    0.2
    """

    force: float
    rate: float = 100.0

    def __post_init__(self) -> None:
        scalar(self.force, "force", low=0.0)
        scalar(self.rate, "rate", low=0.0, strict=True)


Grip = Open | Squeeze


@dataclass(frozen=True, kw_only=True)
class FingerGains:
    """Gains of the joints of fingers.

    Parameters
    ----------
    stiffness : float, default 20
        Of opened fingers, and of the joints that only hold (spread), N m/rad.
    damping : float, default 0.4
        Of all joints, N m s/rad.
    centring : float, default 30
        Keeps the middle between fingers and thumb in the middle of the hand while they squeeze,
        N m/rad.
    evenness : float, default 20
        Keeps the fingers of one side abreast, N m/rad.

    Raises
    ------
    ArgumentError
        For gains that are negative.
    """

    stiffness: float = 20.0
    damping: float = 0.4
    centring: float = 30.0
    evenness: float = 20.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            scalar(value, name, low=0.0)


class GraspForce:
    """Joint forces of a hand's fingers: J^T f for a squeeze along its x axis, springs across it.

    Forces along the squeeze add up to nothing on what is held; springs hold it in the middle of the
    hand.

    Parameters
    ----------
    model : Model
        The robot alone.
    palm : str
        Frame whose x axis fingers and thumb squeeze along: fingers from +x.
    fingers, thumb : sequence of str, str
        Joints that close at positive rates; frames "<joint>_tip" are where they press.
    held : sequence of str, optional
        Joints that stay at zero.
    gains : FingerGains, optional
        Default: `FingerGains()`.
    dt : float, default 5e-4
        Time between two calls, s.

    Attributes
    ----------
    grip : Open or Squeeze
        The last command.
    force : float
        With which it squeezes now, N.

    Raises
    ------
    ArgumentError
        For a time that is not positive.
    """

    def __init__(
        self,
        model: Model,
        palm: str,
        fingers: Sequence[str],
        thumb: str,
        *,
        held: Sequence[str] = (),
        gains: FingerGains | None = None,
        dt: float = 5e-4,
    ) -> None:
        self.model = model
        self.gains = gains or FingerGains()
        self.dt = scalar(dt, "dt", low=0.0, strict=True)
        self.palm, self.closing = palm, (*fingers, thumb)
        self._rows = np.array([model.v_slice(name).start for name in self.closing])
        self._at = np.array([model.q_slice(name).start for name in self.closing])
        self._held = [(model.q_slice(name).start, model.v_slice(name).start) for name in held]
        self._nodes = [Node(f"{name}_tip") for name in self.closing]
        n = len(fingers)
        self._shares = np.array([1.0 / n] * n + [1.0])
        self._sides = np.array([-1.0] * n + [1.0])  # the way that closing pushes along x
        self._levers = np.zeros(n + 1)
        self.grip: Grip = Open()
        self.force, self._angles = 0.0, np.zeros(0)

    def command(self, grip: Grip) -> None:
        """What to do from now on.

        Parameters
        ----------
        grip : Open or Squeeze
            Open to an angle, or squeeze with a force.
        """
        if isinstance(grip, Open) and isinstance(self.grip, Squeeze):
            self._angles = np.zeros(0)
        self.grip = grip

    def observe(self, q: Array, pose: Pose) -> None:
        """Observe levers of the fingertips: how far a unit rate moves each tip along the squeeze.

        Parameters
        ----------
        q : (nq,) array
            Coordinates of the robot.
        pose : Pose
            Of the palm.
        """
        J = jacobian(self.model, q, self._nodes)
        axis = pose.rotation[:, 0]
        for i, row in enumerate(self._rows):
            self._levers[i] = self._sides[i] * (axis @ J[6 * i + 3 : 6 * i + 6, row])

    def torques(self, q: Array, v: Array, tau: Array) -> None:
        """Add the forces of the fingers' joints to joint forces.

        Parameters
        ----------
        q : (nq,) array
            Coordinates of the robot.
        v : (nv,) array
            Its velocities.
        tau : (nv,) array
            Joint forces, N m or N; changed in place.
        """
        gains = self.gains
        angles = q[self._at]
        rates = v[self._rows]
        for at, row in self._held:
            tau[row] -= gains.stiffness * q[at] + gains.damping * v[row]
        if isinstance(self.grip, Open):
            self.force = 0.0
            if not self._angles.size:
                self._angles = angles.copy()
            step = self.grip.rate * self.dt
            self._angles += np.clip(self.grip.angle - self._angles, -step, step)
            tau[self._rows] += gains.stiffness * (self._angles - angles) - gains.damping * rates
            return
        step = self.grip.rate * self.dt
        self.force += min(max(self.grip.force - self.force, -step), step)
        mean = angles[:-1].mean()
        # Fingers follow the thumb, and it follows them.
        centring = gains.centring * (angles[-1] - mean) * -self._sides
        evenness = np.append(gains.evenness * (mean - angles[:-1]), 0.0)
        tau[self._rows] += (
            self._shares * (self.force * self._levers + centring) + evenness - gains.damping * rates
        )
