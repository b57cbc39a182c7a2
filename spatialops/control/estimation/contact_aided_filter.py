"""The state of a legged robot from its IMU, encoders and contacts: an invariant Kalman filter.

The accelerometer f and gyroscope w, with biases b, carry the IMU's pose on,

    R' = R (w - b_w)x,   v' = R (f - b_f) + g,   p' = v,   d_i' = what rolling does,

and each foot that touches says R^T (d_i - p) = h_i(q), its place in the IMU's frame by the
encoders: a foot that stands still in the world tells how the base moves. Where the base is in the
plane and how it is turned about the vertical nothing says, so that these drift; with `ground` its
height does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from spatialops._arrays import Array, ArrayLike, BoolArray, array, instance, scalar, several
from spatialops.algebra.rotation import rotation_matrix, to_quaternion
from spatialops.control.estimation.invariant_error import exponential, moved, skew
from spatialops.control.memory import Remembers, put_in
from spatialops.control.task_space.points import Points
from spatialops.errors import ArgumentError
from spatialops.tree.free_frames import FreeFrame
from spatialops.tree.model import Model
from spatialops.tree.node import Node
from spatialops.tree.state import State, checked_state

# Places of the errors: phi, v, p, feet; then biases.
_V = slice(3, 6)
_P = slice(6, 9)
_FEET = 9
_ESTIMATE = (
    "_R",
    "_x",
    "_spin",
    "_held",
    "gyroscope_bias",
    "accelerometer_bias",
    "covariance",
)
_SLIPS = 1e-2  # s for which the velocity of a foot that is soft on the ground keeps


@dataclass(frozen=True, kw_only=True)
class FilterNoise:
    """Standard deviations that a filter counts on.

    Parameters
    ----------
    gyroscope : float, default 0.01
        Of a reading, rad/s.
    accelerometer : float, default 0.1
        Of a reading, m/s^2.
    gyroscope_bias, accelerometer_bias : float, default 1e-4 and 1e-3
        By which biases change in a second, rad/s and m/s^2.
    foot : float, default 0.02
        Velocity of a foot that touches, m/s: soft ground, slip.
    encoder : float, default 1e-3
        rad or m.
    ground : float, default 1e-3
        Height of the ground, m.
    """

    gyroscope: float = 0.01
    accelerometer: float = 0.1
    gyroscope_bias: float = 1e-4
    accelerometer_bias: float = 1e-3
    foot: float = 0.02
    encoder: float = 1e-3
    ground: float = 1e-3

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            scalar(value, name, low=0.0, strict=True)


class ContactAidedFilter(Remembers):
    """A state for controllers, from what a legged robot can measure.

    Parameters
    ----------
    model : Model
        The robot: a free joint, whose body carries the IMU, and joints with encoders.
    feet : sequence of Node
        Points that stand still while they touch: middles of round feet, see `radius`.
    base : str, default "base"
        The free joint.
    imu : Node, optional
        Where the IMU sits; default: the origin of the free joint's body.
    rotation : (3, 3) or (4,) array_like, optional
        Of its axes in that body's frame: matrix or quaternion. Default: the body's.
    radius : float, default 0
        Of round feet, m, that roll on level ground.
    ground : float, optional
        Height of level ground, m; default: unknown.
    noise : FilterNoise, optional
        What to count on.
    gate : float, default 25
        Squared innovation of a foot, relative to its variance, from which on it slips, and tells
        nothing.

    Attributes
    ----------
    gyroscope_bias, accelerometer_bias : (3,) arrays
        rad/s and m/s^2, axes of the IMU.
    covariance : (15 + 3 k, 15 + 3 k) array
        Of the errors of attitude, velocity, place and feet (world axes, right-invariant), then
        of the biases.

    Raises
    ------
    ArgumentError
        For an IMU that is not on the base, feet that do not hang on it, and numbers out of range.

    References
    ----------
    R. Hartley, M. Ghaffari, R. Eustice, J. Grizzle, Contact-aided invariant extended Kalman
    filtering for robot state estimation, Int. J. Robotics Research 39 (2020).
    M. Bloesch et al., State estimation for legged robots, Robotics: Science and Systems (2012).

    Examples
    --------
    A robot that stands, and feels its weight:

    >>> import numpy as np
    >>> import spatialops as so
    >>> from spatialops.control import ContactAidedFilter
    >>> robot = so.models.quadruped()
    >>> feet = [so.Node(name) for name in robot.feet]
    >>> estimate = ContactAidedFilter(robot.model, feet)
    >>> estimate.start(robot.state)
    >>> q, v = robot.state.q, robot.state.v
    >>> imu = np.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0])
    >>> state = estimate(1e-3, imu, q[7:], v[6:], np.ones(4, dtype=bool))
    >>> bool(np.abs(state.q - q).max() < 1e-9)
    True
    """

    def __init__(
        self,
        model: Model,
        feet: Sequence[Node],
        *,
        base: str = "base",
        imu: Node | None = None,
        rotation: ArrayLike | None = None,
        radius: float = 0.0,
        ground: float | None = None,
        noise: FilterNoise | None = None,
        gate: float = 25.0,
    ) -> None:
        self.model = model
        self.noise = FilterNoise() if noise is None else noise
        self.radius = scalar(radius, "radius", low=0.0)
        self.ground = None if ground is None else scalar(ground, "ground")
        self.gate = scalar(gate, "gate", low=0.0, strict=True)
        instance(model, Model, "model")
        self._q = np.arange(model.nq)[model.q_slice(base)]
        self._v = np.arange(model.nv)[model.v_slice(base)]
        if len(self._q) != 7:
            raise ArgumentError(f"base: expected a free joint, {base!r} is none")
        self._home = FreeFrame.of(model, base)
        self._joints_q = np.delete(np.arange(model.nq), self._q)
        self._joints_v = np.delete(np.arange(model.nv), self._v)
        where = Node(model.joint_names.index(base)) if imu is None else imu
        self._points = Points(model, [*several(feet, "feet", "nodes"), where])
        rest = self._points.rows(self._at_origin(), np.zeros(model.nv))
        if np.delete(rest.J[-1], self._v, axis=1).any():
            raise ArgumentError("imu: expected a node on the base")
        if not rest.J[:-1, :, self._v].any(axis=(1, 2)).all():
            raise ArgumentError("feet: expected nodes on bodies that hang on the base")
        self._turn = rotation_matrix(rotation)  # of the IMU in the base
        self._lever = rest.points[-1]
        self._count = len(feet)
        self.start(State(model.neutral(), np.zeros(model.nv)))

    def start(
        self, state: State, *, tilt: float = 0.05, velocity: float = 0.1, place: float = 0.01
    ) -> None:
        """Begin at a state.

        Parameters
        ----------
        state : State
            Configuration and velocity.
        tilt, velocity, place : float
            Standard deviations of its attitude, rad, velocity, m/s, and place, m. Default: 0.05,
            0.1 and 0.01. Attitude about the vertical is taken as it is.

        Raises
        ------
        ArgumentError
            For a state of another model.
        """
        state = checked_state(state, self.model)
        spin, linear = state.v[self._v[:3]], state.v[self._v[3:]]
        pose = self._home.in_world(state.q[self._q])
        R = rotation_matrix(pose[3:])
        self._R = R @ self._turn
        h, _, _ = self._feet(state.q[self._joints_q], state.v[self._joints_v])
        p = pose[:3] + R @ self._lever
        v = R @ (linear + np.cross(spin, self._lever))
        self._x = np.vstack([v, p, p + h @ self._R.T])
        self.gyroscope_bias = np.zeros(3)
        self.accelerometer_bias = np.zeros(3)
        self._spin = self._turn.T @ spin
        self._held = np.zeros(self._count, dtype=np.bool_)
        n = _FEET + 3 * self._count
        tilt = scalar(tilt, "tilt", low=0.0)
        velocity, place = scalar(velocity, "velocity", low=0.0), scalar(place, "place", low=0.0)
        level = np.array([tilt, tilt, 1e-6])
        deviations = np.concatenate([level, np.full(3, velocity), np.full(n - 6, place)])
        size = np.concatenate([deviations, np.full(3, 0.01), np.full(3, 0.1)])
        self.covariance = np.diag(size**2)
        for i in range(self._count):
            self._anchor(i, h[i])

    def __call__(
        self, dt: float, imu: ArrayLike, q: ArrayLike, v: ArrayLike, touching: ArrayLike
    ) -> State:
        """The state after another step.

        Parameters
        ----------
        dt : float
            Since the call before, s.
        imu : (6,) array_like
            As of `sensors.IMU`: mean proper acceleration since then, m/s^2, and angular velocity
            now, rad/s, along the IMU's axes.
        q : (nq - 7,) array_like
            Coordinates of the joints, in their order.
        v : (nv - 6,) array_like
            Their velocities.
        touching : (k,) array_like of bool
            Which feet press on the ground.

        Returns
        -------
        State
            Of the whole robot; its time is not set.

        Raises
        ------
        ArgumentError
            For arrays of another shape, NaN or infinity, as of sensors before their first step,
            numbers that overflow, and quaternions of joints that are zero; the estimate stays what
            it was.
        """
        dt = scalar(dt, "dt", low=0.0, strict=True)
        reading = array(imu, (6,), "imu", finite=True)
        joints = array(q, (len(self._joints_q),), "q", finite=True)
        rates = array(v, (len(self._joints_v),), "v", finite=True)
        touches = array(touching, (self._count,), "touching", finite=True) > 0.0
        feet = self._feet(joints, rates)
        before = {name: item.copy() for name, item in self._remembered().items()}
        try:
            with np.errstate(over="raise", invalid="raise"):
                self._follow(dt, reading, feet, touches)
                return self._state(joints, rates)
        except (ArithmeticError, np.linalg.LinAlgError) as error:
            vars(self).update(before)
            raise ArgumentError(
                f"imu, q, v: no state follows from numbers so large after {dt:.3g} s"
            ) from error

    def _follow(
        self, dt: float, reading: Array, feet: tuple[Array, Array, Array], touches: BoolArray
    ) -> None:
        """Carried on by the IMU, corrected by feet."""
        h, J, spins = feet
        spin = reading[3:] - self.gyroscope_bias
        mean = 0.5 * (spin + self._spin)
        self._carry(dt, mean, reading[:3] - self.accelerometer_bias)
        self._roll(dt, mean, spins)
        for i in np.flatnonzero(~touches | ~self._held):
            self._anchor(int(i), h[i])
        self._held = touches
        self._correct(h, J, touches)
        self._spin = reading[3:] - self.gyroscope_bias

    def _remembered(self) -> Mapping[str, Array]:
        return {name: getattr(self, name) for name in _ESTIMATE}

    def _remember(self, kept: Mapping[str, Array]) -> None:
        put_in(self._remembered(), kept)

    def _feet(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Feet in the IMU's frame: places (k, 3), Jacobian (k, 3, n), angular velocities (k, 3)."""
        state = self._at_origin()
        speeds = np.zeros(self.model.nv)
        state[self._joints_q] = q
        speeds[self._joints_v] = v
        given = State(state, speeds).checked(self.model)  # quaternions of joints made unit
        rows = self._points.rows(given.q, given.v)
        T = self._turn
        h = (rows.points[:-1] - self._lever) @ T
        J = T.T @ rows.J[:-1, 3:][:, :, self._joints_v]
        return h, J, rows.velocities[:-1, :3] @ T

    def _at_origin(self) -> Array:
        """Coordinates with the base at the world's origin, unturned, and joints at zero."""
        q = self.model.neutral()
        q[self._q] = self._home.of_origin()
        return q

    def _carry(self, dt: float, spin: Array, proper: Array) -> None:
        """By the IMU over a step, with the covariance of errors."""
        n = _FEET + 3 * self._count
        v, p = self._x[0].copy(), self._x[1].copy()
        gravity = np.asarray(self.model.gravity)
        half = self._R @ exponential(0.5 * dt * spin)[0]
        A = np.zeros((n + 6, n + 6))
        A[_V, :3] = skew(gravity)
        A[_P, _V] = np.eye(3)
        spread = np.vstack([half, *(skew(x) @ half for x in self._x)])  # of a turn of the IMU
        A[:n, n : n + 3] = -spread
        A[_V, n + 3 :] = -half
        step = np.eye(n + 6) + dt * A + (0.5 * dt * dt) * (A @ A)
        noise = self.noise
        drive = np.zeros((n + 6, n + 6))
        drive[:n, :n] = (noise.gyroscope * dt) ** 2 * (spread @ spread.T)
        steps = np.concatenate(
            [
                np.full(3, noise.accelerometer * dt),
                np.zeros(3),
                np.full(3 * self._count, noise.foot * np.sqrt(dt * _SLIPS)),
                np.full(3, noise.gyroscope_bias * np.sqrt(dt)),
                np.full(3, noise.accelerometer_bias * np.sqrt(dt)),
            ]
        )
        drive[np.arange(3, n + 6), np.arange(3, n + 6)] += steps**2
        self.covariance = step @ self.covariance @ step.T + drive
        a = half @ proper + gravity
        self._R = self._R @ exponential(dt * spin)[0]
        self._x[0] = v + dt * a
        self._x[1] = p + dt * v + (0.5 * dt * dt) * a

    def _roll(self, dt: float, spin: Array, spins: Array) -> None:
        """Middles of round feet go with the turn of their links."""
        if self.radius:
            turns = (spins + spin) @ self._R.T
            self._x[2:] += (dt * self.radius) * np.cross(turns, [0.0, 0.0, 1.0])

    def _anchor(self, i: int, h: Array) -> None:
        """A foot that has not stood is where the encoders say."""
        self._x[2 + i] = self._x[1] + self._R @ h
        P = self.covariance
        foot = slice(_FEET + 3 * i, _FEET + 3 * i + 3)
        P[foot] = P[_P]
        P[:, foot] = P[:, _P]
        P[foot, foot] = P[_P, _P] + self.noise.encoder**2 * np.eye(3)

    def _correct(self, h: Array, J: Array, touches: BoolArray) -> None:
        """By the places of feet that touch, and by the height of the ground."""
        variance = self.noise.encoder**2
        rows = []
        missed = []
        noises = []
        for i in np.flatnonzero(touches):
            H = np.zeros((3, len(self.covariance)))
            H[:, _P] = -np.eye(3)
            H[:, _FEET + 3 * i : _FEET + 3 * i + 3] = np.eye(3)
            turned = self._R @ J[i]
            N = variance * (turned @ turned.T) + (1e-3 * self.noise.encoder) ** 2 * np.eye(3)
            z = self._R @ h[i] + self._x[1] - self._x[2 + i]
            if z @ np.linalg.solve(H @ self.covariance @ H.T + N, z) > self.gate:
                self._anchor(int(i), h[i])
                continue
            rows.append(H)
            missed.append(z)
            noises.append(N)
            if self.ground is not None:
                d = self._x[2 + i]
                level = np.zeros((1, len(self.covariance)))
                level[0, :3] = np.cross(d, [0.0, 0.0, 1.0])
                level[0, _FEET + 3 * i + 2] = 1.0
                rows.append(level)
                missed.append(np.array([self.ground + self.radius - d[2]]))
                noises.append(np.array([[self.noise.ground**2]]))
        if rows:
            self._take(np.vstack(rows), np.concatenate(missed), block_diag(*noises))

    def _take(self, H: Array, z: Array, N: Array) -> None:
        """Kalman's correction by innovations z = H x + noise."""
        P = self.covariance
        S = H @ P @ H.T + N
        gain = np.linalg.solve(S, H @ P).T
        x = gain @ z
        keep = np.eye(len(P)) - gain @ H
        P = keep @ P @ keep.T + gain @ N @ gain.T
        self.covariance = 0.5 * (P + P.T)
        n = _FEET + 3 * self._count
        self._R = exponential(x[:3])[0] @ self._R
        self._x = moved(self._x, x[:n])
        self.gyroscope_bias = self.gyroscope_bias + x[n : n + 3]
        self.accelerometer_bias = self.accelerometer_bias + x[n + 3 :]

    def _state(self, q: Array, v: Array) -> State:
        """The robot's own coordinates."""
        R = self._R @ self._turn.T
        spin = self._turn @ self._spin
        result = self.model.neutral()
        speeds = np.zeros(self.model.nv)
        result[self._joints_q] = q
        speeds[self._joints_v] = v
        place = self._x[1] - R @ self._lever
        result[self._q] = self._home.coordinates(np.concatenate([place, to_quaternion(R)]))
        speeds[self._v[:3]] = spin
        speeds[self._v[3:]] = R.T @ self._x[0] - np.cross(spin, self._lever)
        return State(result, speeds).checked(self.model)
