"""Where the centre of mass has to be while feet come and go: the linear inverted pendulum.

A mass that stays at one height h above the ground and does not turn is pushed away from the centre
of pressure p by g / h times its distance from it:

    c'' = (g / h) (c - p).

Forwards in time any error of c grows. Given p over all the time, and rest over p at both ends, it
is a two-point boundary value problem with one smooth answer: the mass leaves before the foot does.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import solve_banded

from spatialops._arrays import Array, ArrayLike, array, scalar
from spatialops.errors import ArgumentError


class PendulumPath:
    """Path of a centre of mass whose centre of pressure is given.

    What a `Tracking` of `CenterOfMassTask(axes=(0, 1))` takes. Before its beginning and after its
    end the centre stays where it is there.

    Parameters
    ----------
    times : (k,) array_like
        s; evenly spaced, at least four. A few milliseconds apart follow any step.
    pressure : (k, d) array_like
        Centre of pressure at these times, m. Where it is the same for about a second at either end,
        the path begins and ends at rest.
    height : float
        Of the centre of mass above the ground, m.
    gravity : float, default 9.81
        m/s^2.

    Raises
    ------
    ArgumentError
        For times that are not evenly spaced, and numbers out of range.

    References
    ----------
    S. Kajita et al., Proc. IEEE Int. Conf. Robotics and Automation (2003).

    Examples
    --------
    >>> import numpy as np
    >>> from spatialops.control import PendulumPath
    >>> times = np.arange(0.0, 4.0, 0.01)
    >>> over = np.where(times < 2.0, -0.1, 0.1)[:, None]  # from the right foot to the left one
    >>> path = PendulumPath(times, over, height=0.8)
    >>> [round(float(path(time)[0][0]), 3) for time in (0.0, 1.7, 2.3, 4.0)]
    [-0.1, -0.064, 0.066, 0.1]
    """

    def __init__(
        self, times: ArrayLike, pressure: ArrayLike, *, height: float, gravity: float = 9.81
    ) -> None:
        at = array(times, (None,), "times", finite=True)
        p = array(pressure, (at.size, None), "pressure", finite=True)
        h = scalar(height, "height", low=0.0, strict=True)
        g = scalar(gravity, "gravity", low=0.0, strict=True)
        if at.size < 4:
            raise ArgumentError(f"times: expected at least four, got {at.size}")
        steps = np.diff(at)
        if steps[0] <= 0.0 or np.abs(steps - steps[0]).max() > 1e-6 * steps[0]:
            raise ArgumentError("times: expected them to grow, evenly spaced")
        self._first, self._last = float(at[0]), float(at[-1])
        self._step = float(steps[0])
        rate = float(np.sqrt(g / h))
        self._path = CubicSpline(at, _centres(p, rate * float(steps[0])), bc_type="natural")

    def __call__(self, time: float) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration.

        Parameters
        ----------
        time : float
            Time, s.

        Returns
        -------
        x, rate, acceleration : (d,) arrays
            m, m/s and m/s^2.
        """
        inside = min(max(time, self._first), self._last)
        at = min(int((inside - self._first) / self._step), self._path.c.shape[1] - 1)
        s = inside - float(self._path.x[at])
        moves = 1.0 if inside == time else 0.0
        powers = (
            (s * s * s, s * s, s, 1.0),
            (moves * 3.0 * s * s, moves * 2.0 * s, moves, 0.0),
            (moves * 6.0 * s, moves * 2.0, 0.0, 0.0),
        )
        x, rate, acceleration = np.array(powers) @ self._path.c[:, at]
        return x, rate, acceleration


def _centres(p: Array, phase: float) -> Array:
    """C with c - c'' / w^2 = p by central differences, c = p at both ends; `phase` is w dt."""
    n = len(p)
    beside = -1.0 / phase**2
    bands = np.zeros((3, n))
    bands[0, 2:] = beside
    bands[1] = 1.0
    bands[1, 1:-1] -= 2.0 * beside
    bands[2, :-2] = beside
    return np.asarray(solve_banded((1, 1), bands, p))
