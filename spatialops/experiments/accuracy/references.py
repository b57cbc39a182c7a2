"""References of their own equations: a body that rolls on a plane, by SciPy's DOP853.

Nothing of the engine is used here. With gamma the plane's normal and rho the line from the contact
to the centre of mass, both in the body's axes, and L the angular momentum about the contact,

    L = I w + m rho x (w x rho),    gamma' = gamma x w,
    L' = L x w + m rho' x (w x rho) - m g rho x gamma

for a body of any smooth shape that rolls without slipping (A. V. Borisov, I. S. Mamaev, *Rolling of
a rigid body on a plane and sphere*, 2002). A moment that acts on the body, of air for example, adds
to L'.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from spatialops._arrays import Array

GRAVITY = 9.81
_TOLERANCE = 1e-12  # of DOP853: three decades below the smallest figure that is reported


class Surface(Protocol):
    """What the equations ask of a shape: rho, and its derivative by gamma."""

    def lever(self, gamma: Array) -> Array:
        """From the contact to the centre of mass, (3,), body axes."""

    def slope(self, gamma: Array) -> Array:
        """Derivative (3, 3) of `lever` by gamma."""


@dataclass(frozen=True)
class EllipsoidSurface:
    """An ellipsoid about the centre of mass, its axes turned against the body's.

    Parameters
    ----------
    semi_axes : (3,) array
        m.
    rotation : (3, 3) array
        Takes the ellipsoid's axes to the body's.
    """

    semi_axes: Array
    rotation: Array

    def lever(self, gamma: Array) -> Array:
        """From the contact to the centre of mass, (3,), body axes."""
        square = self._square()
        return np.asarray(square @ gamma / np.sqrt(gamma @ square @ gamma))

    def slope(self, gamma: Array) -> Array:
        """Derivative (3, 3) of `lever` by gamma."""
        square = self._square()
        along = square @ gamma
        size = np.sqrt(gamma @ along)
        return np.asarray(square / size - np.outer(along, along) / size**3)

    def _square(self) -> Array:
        return np.asarray(self.rotation @ np.diag(self.semi_axes**2) @ self.rotation.T)


@dataclass(frozen=True)
class DiscSurface:
    """The rim of a disc about the body's z axis, the contact on its lower edge.

    Parameters
    ----------
    radius, half_thickness : float
        m.
    """

    radius: float
    half_thickness: float

    def lever(self, gamma: Array) -> Array:
        """From the contact to the centre of mass, (3,), body axes."""
        along = np.array([gamma[0], gamma[1], 0.0])
        low = np.array([0.0, 0.0, np.sign(gamma[2]) * self.half_thickness])
        return np.asarray(self.radius * along / np.linalg.norm(along) + low)

    def slope(self, gamma: Array) -> Array:
        """Derivative (3, 3) of `lever` by gamma."""
        along = np.array([gamma[0], gamma[1], 0.0])
        size = np.linalg.norm(along)
        flat = np.diag([1.0, 1.0, 0.0])
        return np.asarray(self.radius * (flat / size - np.outer(along, along) / size**3))


@dataclass(frozen=True)
class RollingBody:
    """A body that rolls on a horizontal plane without slipping.

    Parameters
    ----------
    mass : float
        kg.
    inertia : (3, 3) array
        About the centre of mass, body axes, kg m^2.
    surface : Surface
    moment : callable, optional
        Of what else acts, from gamma and w, (3,), body axes, N m; default: none.
    """

    mass: float
    inertia: Array
    surface: Surface
    moment: Callable[[Array, Array], Array] | None = None

    def path(self, gamma: Array, omega: Array, times: Array) -> tuple[Array, Array]:
        """Normals (T, 3) and angular velocities (T, 3) at `times`, body axes."""
        start = np.concatenate([gamma, self._about_contact(gamma) @ omega])
        found = integrate(self._rates, start, times)
        omegas = [np.linalg.solve(self._about_contact(y[:3]), y[3:]) for y in found]
        return found[:, :3], np.array(omegas)

    def _about_contact(self, gamma: Array) -> Array:
        rho = self.surface.lever(gamma)
        return self.inertia + self.mass * (rho @ rho * np.eye(3) - np.outer(rho, rho))

    def _rates(self, time: float, y: Array) -> Array:
        gamma, momentum = y[:3], y[3:]
        omega: Array = np.asarray(np.linalg.solve(self._about_contact(gamma), momentum), np.float64)
        turning = np.cross(gamma, omega)
        rho = self.surface.lever(gamma)
        moving = np.cross(self.surface.slope(gamma) @ turning, np.cross(omega, rho))
        weight = GRAVITY * np.cross(rho, gamma)
        added = np.zeros(3) if self.moment is None else self.moment(gamma, omega)
        rate = np.cross(momentum, omega) + self.mass * (moving - weight)
        return np.concatenate([turning, rate + added])


def integrate(rates: Callable[[float, Array], Array], start: Array, times: Array) -> Array:
    """States (T, n) at `times`, from `start` at the first of them."""
    from scipy.integrate import solve_ivp

    found = solve_ivp(
        rates,
        (times[0], times[-1]),
        start,
        method="DOP853",
        t_eval=times,
        rtol=_TOLERANCE,
        atol=_TOLERANCE,
    )
    return np.asarray(found.y.T)
