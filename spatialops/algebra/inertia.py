"""Rigid-body inertia: ten parameters, from shapes, shifted, turned, summed and checked."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from spatialops._arrays import Array, ArrayLike, array, given, three_numbers
from spatialops.errors import ModelError

# What a tensor may be off by: parts of its largest entry, and m^2 a kg.
_ASYMMETRY = 1e-9
_ROUNDED = 1e-6  # files round their numbers
_NOISE = 1e-14  # sums of point masses leave it behind
_UNTURNED = np.eye(3)


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass, centre of mass and inertia about it, in the axes of a body.

    Parameters
    ----------
    mass : float
        kg, positive.
    center : (3,) array_like
        Centre of mass in the body's frame, m; default: the frame's origin.
    tensor : (3, 3) array_like
        Inertia about the centre of mass along the body's axes, kg m^2; default: a point mass.
    checked : bool
        False takes finite numbers as they are, also those that no body can have: files of real
        robots hold such. Default: True.

    Raises
    ------
    ModelError
        For NaN, a mass that is not positive, a tensor that is not symmetric and positive, or
        principal moments that no distribution of mass has (triangle inequality a + b >= c).

    Examples
    --------
    >>> import spatialops as so
    >>> ball = so.Inertia.sphere(radius=0.5, mass=2.0)
    >>> float(ball.tensor[0, 0])
    0.2

    Inertias of one frame add up:

    >>> (ball + ball.shifted((1.0, 0.0, 0.0))).center
    array([0.5, 0. , 0. ])
    """

    mass: float
    center: Array = given((0.0, 0.0, 0.0))
    tensor: Array = given(((0.0, 0.0, 0.0),) * 3)
    checked: bool = True

    if TYPE_CHECKING:  # what may be given, where the fields say what becomes of it

        def __init__(
            self,
            mass: float,
            center: ArrayLike = ...,
            tensor: ArrayLike = ...,
            checked: bool = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        try:
            mass, center = float(self.mass), np.array(self.center, dtype=np.float64)
            tensor = np.array(self.tensor, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ModelError(f"inertia: expected numbers: {error}") from None
        if center.shape != (3,) or tensor.shape != (3, 3):
            raise ModelError(
                f"inertia: center must be (3,), tensor (3, 3); got {center.shape} and "
                f"{tensor.shape}"
            )
        if not (np.isfinite(mass) and np.isfinite(center).all() and np.isfinite(tensor).all()):
            raise ModelError("inertia: mass, center and tensor must be finite, got NaN or infinity")
        if self.checked and mass <= 0.0:
            raise ModelError(f"inertia: mass must be positive, got {mass:g} kg")
        tensor = _checked_tensor(tensor, mass) if self.checked else 0.5 * (tensor + tensor.T)
        center.flags.writeable = tensor.flags.writeable = False
        for name, value in (("mass", mass), ("center", center), ("tensor", tensor)):
            object.__setattr__(self, name, value)

    @classmethod
    def sphere(
        cls, radius: float, *, mass: float | None = None, density: float | None = None
    ) -> Inertia:
        """Solid sphere about its centre.

        Parameters
        ----------
        radius : float
            m, positive.
        mass : float, optional
            kg; give either this or `density`.
        density : float, optional
            kg/m^3.

        Returns
        -------
        Inertia
            With its centre of mass at the origin.

        Raises
        ------
        ModelError
            For a length that is not positive, or both or neither of mass and density.

        Examples
        --------
        >>> import spatialops as so
        >>> so.Inertia.sphere(0.1, mass=5.0).tensor.diagonal().round(9).tolist()
        [0.02, 0.02, 0.02]
        """
        (r,) = _lengths(radius=radius)
        m = _mass(mass, density, 4.0 / 3.0 * math.pi * r**3)
        return cls(m, tensor=np.eye(3) * (0.4 * m * r * r))

    @classmethod
    def box(
        cls, size: ArrayLike, *, mass: float | None = None, density: float | None = None
    ) -> Inertia:
        """Solid box about its centre, edges along the axes.

        Parameters
        ----------
        size : (3,) array_like
            Full edge lengths, m, positive.
        mass : float, optional
            kg; give either this or `density`.
        density : float, optional
            kg/m^3.

        Returns
        -------
        Inertia
            With its centre of mass at the origin.

        Raises
        ------
        ModelError
            For a length that is not positive, or both or neither of mass and density.

        Examples
        --------
        >>> import spatialops as so
        >>> brick = so.Inertia.box((0.2, 0.1, 0.05), density=2000.0)
        >>> round(brick.mass, 9), brick.center.tolist()
        (2.0, [0.0, 0.0, 0.0])
        """
        x, y, z = _lengths(**dict(zip(("size x", "size y", "size z"), _three(size), strict=True)))
        m = _mass(mass, density, x * y * z)
        return cls(m, tensor=np.diag([y * y + z * z, x * x + z * z, x * x + y * y]) * (m / 12.0))

    @classmethod
    def ellipsoid(
        cls, semi_axes: ArrayLike, *, mass: float | None = None, density: float | None = None
    ) -> Inertia:
        """Solid ellipsoid about its centre, semi-axes along the axes.

        Parameters
        ----------
        semi_axes : (3,) array_like
            m, positive.
        mass : float, optional
            kg; give either this or `density`.
        density : float, optional
            kg/m^3.

        Returns
        -------
        Inertia
            With its centre of mass at the origin.

        Raises
        ------
        ModelError
            For a length that is not positive, or both or neither of mass and density.
        """
        x, y, z = _lengths(
            **dict(
                zip(("semi_axes x", "semi_axes y", "semi_axes z"), _three(semi_axes), strict=True)
            )
        )
        m = _mass(mass, density, 4.0 / 3.0 * math.pi * x * y * z)
        return cls(m, tensor=np.diag([y * y + z * z, x * x + z * z, x * x + y * y]) * (m / 5.0))

    @classmethod
    def cylinder(
        cls,
        radius: float,
        length: float,
        *,
        mass: float | None = None,
        density: float | None = None,
    ) -> Inertia:
        """Solid cylinder along z about its centre.

        Parameters
        ----------
        radius : float
            m, positive.
        length : float
            m, positive.
        mass : float, optional
            kg; give either this or `density`.
        density : float, optional
            kg/m^3.

        Returns
        -------
        Inertia
            With its centre of mass at the origin.

        Raises
        ------
        ModelError
            For a length that is not positive, or both or neither of mass and density.

        Examples
        --------
        >>> import spatialops as so
        >>> wheel = so.Inertia.cylinder(0.2, 0.1, mass=1.0)
        >>> round(float(wheel.tensor[2, 2]), 9)
        0.02
        """
        r, h = _lengths(radius=radius, length=length)
        m = _mass(mass, density, math.pi * r * r * h)
        side = m * (3.0 * r * r + h * h) / 12.0
        return cls(m, tensor=np.diag([side, side, 0.5 * m * r * r]))

    @classmethod
    def capsule(
        cls,
        radius: float,
        length: float,
        *,
        mass: float | None = None,
        density: float | None = None,
    ) -> Inertia:
        """Solid capsule along z about its centre.

        Parameters
        ----------
        radius : float
            Of the cylinder and of the half balls at its ends, m, positive.
        length : float
            Of the cylindrical part, m, positive.
        mass : float, optional
            kg; give either this or `density`.
        density : float, optional
            kg/m^3.

        Returns
        -------
        Inertia
            With its centre of mass at the origin.

        Raises
        ------
        ModelError
            For a length that is not positive, or both or neither of mass and density.

        Examples
        --------
        >>> import numpy as np, spatialops as so
        >>> rod = so.Inertia.capsule(0.1, 1.0, density=1000.0)
        >>> bool(np.isclose(rod.mass, 1000.0 * np.pi * (0.1**2 * 1.0 + 4.0 / 3.0 * 0.1**3)))
        True
        """
        r, h = _lengths(radius=radius, length=length)
        tube, ball = math.pi * r * r * h, 4.0 / 3.0 * math.pi * r**3
        m = _mass(mass, density, tube + ball)
        a, b = m * tube / (tube + ball), m * ball / (tube + ball)
        # A half ball's centre lies 3 r / 8 from its face; Steiner from there to the capsule's
        # centre.
        side = a * (3.0 * r * r + h * h) / 12.0 + b * (0.4 * r * r + 0.25 * h * h + 0.375 * h * r)
        return cls(m, tensor=np.diag([side, side, 0.5 * a * r * r + 0.4 * b * r * r]))

    @classmethod
    def cone(
        cls,
        radius: float,
        height: float,
        *,
        mass: float | None = None,
        density: float | None = None,
    ) -> Inertia:
        """Solid cone along z, its base at z = -height / 2 and its tip at height / 2.

        Parameters
        ----------
        radius : float
            Of the base, m, positive.
        height : float
            m, positive.
        mass : float, optional
            kg; give either this or `density`.
        density : float, optional
            kg/m^3.

        Returns
        -------
        Inertia
            With its centre of mass at z = -height / 4.

        Raises
        ------
        ModelError
            For a length that is not positive, or both or neither of mass and density.
        """
        r, h = _lengths(radius=radius, height=height)
        m = _mass(mass, density, math.pi * r * r * h / 3.0)
        side = m * (0.15 * r * r + 0.0375 * h * h)
        return cls(m, (0.0, 0.0, -0.25 * h), np.diag([side, side, 0.3 * m * r * r]))

    def shifted(self, offset: ArrayLike) -> Inertia:
        """The same mass moved.

        Parameters
        ----------
        offset : (3,) array_like
            By how much, in the frame's axes, m.

        Returns
        -------
        Inertia
            With the same tensor about a centre that lies elsewhere.

        Raises
        ------
        ModelError
            For anything but three finite numbers.

        Examples
        --------
        >>> import spatialops as so
        >>> rod = so.Inertia.box((0.0001, 0.0001, 1.0), mass=3.0).shifted((0.0, 0.0, -0.5))
        >>> round(float(rod.tensor[0, 0]), 6), rod.center.tolist()
        (0.25, [0.0, 0.0, -0.5])
        """
        way = three_numbers(offset, "offset", ModelError)
        return replace(self, center=self.center + way) if way.any() else self

    def rotated(self, rotation: ArrayLike) -> Inertia:
        """The same mass turned about the frame's origin.

        Parameters
        ----------
        rotation : (3, 3) array_like
            Rotation matrix, in the frame's axes.

        Returns
        -------
        Inertia
            With centre and tensor turned.

        Raises
        ------
        ArgumentError
            For a wrong shape, NaN or infinity.
        """
        turn = array(rotation, (3, 3), "rotation", finite=True)
        if (turn == _UNTURNED).all():  # as most bodies of a scene are: it saves checking them again
            return self
        return replace(self, center=turn @ self.center, tensor=turn @ self.tensor @ turn.T)

    def scaled(self, factor: float) -> Inertia:
        """The same body of another density.

        Parameters
        ----------
        factor : float
            What mass and moments are multiplied by; positive.

        Returns
        -------
        Inertia
            With the same centre of mass.
        """
        return replace(self, mass=self.mass * factor, tensor=self.tensor * factor)

    def __add__(self, other: Inertia) -> Inertia:
        mass = self.mass + other.mass
        center = (
            (self.mass * self.center + other.mass * other.center) / mass
            if mass > 0.0
            else self.center
        )
        return Inertia(
            mass, center, self.about(center) + other.about(center), self.checked and other.checked
        )

    def about(self, point: ArrayLike) -> Array:
        """Inertia tensor about any point of the body's frame (Steiner).

        Parameters
        ----------
        point : (3,) array_like
            m, in the body's frame.

        Returns
        -------
        (3, 3) array
            Along the body's axes, kg m^2.

        Raises
        ------
        ModelError
            For anything but three finite numbers.
        """
        d = self.center - three_numbers(point, "point", ModelError)
        result: Array = self.tensor + self.mass * (d @ d * np.eye(3) - np.outer(d, d))
        return result

    @property
    def parameters(self) -> Array:
        """The ten numbers that dynamics is linear in, (10,).

        Mass, mass times centre (3), inertia about the origin (xx, xy, xz, yy, yz, zz).
        """
        about = self.about(np.zeros(3))
        return np.concatenate([[self.mass], self.mass * self.center, about[np.triu_indices(3)]])

    @classmethod
    def from_parameters(cls, parameters: ArrayLike) -> Inertia:
        """Inverse of `parameters`.

        Parameters
        ----------
        parameters : (10,) array_like
            Mass, mass times centre (3), inertia about the origin (xx, xy, xz, yy, yz, zz).

        Returns
        -------
        Inertia
            With the tensor about its centre of mass.

        Raises
        ------
        ModelError
            For another shape, a mass that is not positive, or moments that no body can have.
        """
        p = np.asarray(parameters, dtype=np.float64)
        if p.shape != (10,):
            raise ModelError(f"inertia: expected 10 parameters, got shape {p.shape}")
        if not p[0] > 0.0:
            raise ModelError(f"inertia: mass must be positive, got {p[0]:g} kg")
        center = p[1:4] / p[0]
        about = np.empty((3, 3))
        about[np.triu_indices(3)] = p[4:]
        about.T[np.triu_indices(3)] = p[4:]
        return cls(
            p[0], center, about - p[0] * (center @ center * np.eye(3) - np.outer(center, center))
        )

    @property
    def spatial(self) -> Array:
        """(6, 6) spatial inertia [angular; linear] about the frame's origin."""
        m = self.mass
        x, y, z = m * self.center
        skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return np.block([[self.about(np.zeros(3)), skew], [skew.T, m * np.eye(3)]])


def _checked_tensor(tensor: Array, mass: float) -> Array:
    scale = float(np.abs(tensor).max())
    noise = _NOISE * mass
    if np.abs(tensor - tensor.T).max() > _ASYMMETRY * scale + noise:
        raise ModelError("inertia: tensor must be symmetric")
    tensor = 0.5 * tensor + 0.5 * tensor.T  # whose sum may be too large for a number
    a, b, c = np.linalg.eigvalsh(tensor)
    slack = _ROUNDED * scale + noise
    if a < -slack:
        raise ModelError(
            f"inertia: principal moments must not be negative, got {a:g}, {b:g}, {c:g} kg m^2"
        )
    if a + b < c - slack:
        raise ModelError(
            f"inertia: principal moments {a:g}, {b:g}, {c:g} kg m^2 break the triangle inequality "
            "(the two smaller "
            "must reach the largest): no distribution of mass has them"
        )
    return tensor


def _three(values: ArrayLike) -> tuple[float, float, float]:
    try:
        x, y, z = np.asarray(values)
    except (TypeError, ValueError):
        raise ModelError(f"inertia: expected 3 lengths, got {values!r}") from None
    return x, y, z


def _lengths(**lengths: float) -> tuple[float, ...]:
    numbers = {name: _number(value, name) for name, value in lengths.items()}
    for name, value in numbers.items():
        if not (math.isfinite(value) and value > 0.0):
            raise ModelError(f"inertia: {name} must be positive, got {value!r} m")
    return tuple(numbers.values())


def _mass(mass: float | None, density: float | None, volume: float) -> float:
    if (mass is None) == (density is None):
        raise ModelError("inertia: give either mass (kg) or density (kg/m^3)")
    return _number(mass, "mass") if density is None else _number(density, "density") * volume


def _number(value: object, name: str) -> float:
    try:
        return float(value)  # type: ignore[arg-type]  # refused below where it is none
    except (TypeError, ValueError):
        raise ModelError(f"inertia: {name}: expected a number, got {value!r}") from None
