"""Tables of all springs and actuators of a mechanism, as kernels read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops.dynamics.mass_solve import mass_solve
from spatialops.errors import ModelError, SpatialOpsError
from spatialops.forces import _layout as of
from spatialops.forces.actuators import Actuator, Dynamics
from spatialops.forces.elements import Elements
from spatialops.forces.paths import TendonPath, links_of
from spatialops.forces.tendons import STOP_RATE, Range, Tendon, arms_of
from spatialops.tree.model import Model

_DYNAMICS: dict[Dynamics, int] = {"none": of.NONE, "integrator": of.INTEGRATOR, "filter": of.FILTER}
_NO_EASE = 1e-9  # 1/kg: nothing moves along the length
_PLACES = 16  # in which the inertia along a tendon is looked at, besides the neutral one
_SINGLE = ("revolute", "prismatic", "screw")


def elements_of(
    model: Model, actuators: Sequence[Actuator] = (), tendons: Sequence[Tendon] = ()
) -> Elements:
    """Tables of all springs and actuators of a mechanism.

    Raises
    ------
    ModelError
        For an unknown joint, or one of several coordinates.
    """
    rows = _Rows()
    for i, one in enumerate(actuators):
        rows.put_actuator(i, one, _length(model, one, f"actuator {one.name!r}"))
    for k in np.flatnonzero(model.stiffness).tolist():
        place = (k, int(model.tree[k, layout.FIRST_Q]), of.NODE)
        length = _Length([place], [1.0])
        rows.put_spring(_spring(model.stiffness[k], 0.0, model.reference[k]), length)
    for tendon in tendons:
        length = _length(model, tendon, f"tendon {tendon.name!r}")
        bounded = np.isfinite(tendon.limits).any()
        for row in _of_tendon(tendon, _least_inertia(model, tendon) if bounded else 1.0):
            rows.put_spring(row, length)
    return rows.tables(len(actuators))


def rows_along_paths(
    model: Model, actuators: Sequence[Actuator], tendons: Sequence[Tendon]
) -> Iterator[tuple[int, TendonPath]]:
    """Rows of `elements_of` whose lengths are those of paths through space, and the paths."""
    for i, one in enumerate(actuators):
        if one.path is not None:
            yield i, one.path
    e = len(actuators) + int(np.count_nonzero(model.stiffness))
    for tendon in tendons:
        count = len(list(_of_tendon(tendon, 1.0)))
        if tendon.path is not None:
            yield from ((row, tendon.path) for row in range(e, e + count))
        e += count


class _Length(NamedTuple):
    """What a length is made of: joints and their arms, or links that move a path, and its points.

    Attributes
    ----------
    joints : list of (int, int)
        Link and coordinate; the last is of points.
    arms : list of float
        Of a path: zeros, which nothing reads.
    path : (points, numbers), optional
        As `TendonPath.points` has them.
    """

    joints: list[tuple[int, int, int]]
    arms: list[float]
    path: tuple[IntArray, Array] | None = None


class _Rows:
    """Rows as they are collected."""

    def __init__(self) -> None:
        self.ints = list[IntArray]()
        self.floats = list[Array]()
        self.joints = list[tuple[int, int, int]]()
        self.arms = list[float]()
        self.paths = dict[int, tuple[IntArray, Array]]()
        self.n_states = 0

    def put_actuator(self, control: int, one: Actuator, length: _Length) -> None:
        """An actuator with its control; its activation is the next one, if it has any."""
        parts = (one.gain, one.bias, one.ctrl_range, one.force_range, [one.time_constant])
        row = np.concatenate([*parts, one.activation_range])
        state = -1
        if one.dynamics != "none":
            state = self.n_states
            self.n_states += 1
        self._put(row, [control, _DYNAMICS[one.dynamics], state], length)

    def put_spring(self, row: Array, length: _Length) -> None:
        """What nobody controls."""
        self._put(row, [-1, of.NONE, -1], length)

    def _put(self, row: Array, kind: list[int], length: _Length) -> None:
        place = [len(self.arms), len(length.arms)]
        if length.path is not None:
            self.paths[len(self.ints)] = length.path
        self.ints.append(np.array([*place, *kind, 0, 0], dtype=np.int64))
        self.floats.append(row)
        self.joints += length.joints
        self.arms += length.arms

    def _put_points(self) -> None:
        """The points of paths, behind the joints of all."""
        for e, (points, numbers) in self.paths.items():
            self.ints[e][[of.POINT, of.POINTS]] = len(self.joints), len(points)
            self.joints += [(k, len(self.arms) + at, kind) for k, at, kind in points.tolist()]
            self.arms += numbers.tolist()

    def tables(self, n_actuators: int) -> Elements:
        """All of them."""
        self._put_points()
        return Elements(
            np.array(self.ints, dtype=np.int64).reshape(-1, of.ELEMENT_INTS),
            np.array(self.floats).reshape(-1, of.ELEMENT_FLOATS),
            np.array(self.joints, dtype=np.int64).reshape(-1, of.JOINT_INTS),
            np.array(self.arms, dtype=np.float64),
            n_actuators,
            self.n_states,
        )


def _of_tendon(tendon: Tendon, inertia: float) -> Iterator[Array]:
    """Springs that a tendon is made of: one without slack, else one a side; a damper; stops.

    Stops are as stiff as the least inertia along the tendon asks for.
    """
    low, high = tendon.slack
    if low == high and (tendon.stiffness or tendon.damping):
        yield _spring(tendon.stiffness, tendon.damping, low)
    elif low != high:
        yield from _sides(tendon.stiffness, 0.0, (low, high))
        if tendon.damping:
            yield _spring(0.0, tendon.damping, 0.0)
    if np.isfinite(tendon.limits).any():
        yield from _sides(inertia * STOP_RATE**2, 2.0 * inertia * STOP_RATE, tendon.limits)


def _least_inertia(model: Model, tendon: Tendon) -> float:
    """The least inertia 1 / c M^-1 c^T that a length has for its own changes, in some places."""
    rng = np.random.default_rng(0)
    ease = _NO_EASE
    for q in (model.neutral(), *(model.random(rng) for _ in range(_PLACES))):
        arms = arms_of(model, tendon, q)
        ease = max(ease, float(arms @ mass_solve(model, q, arms)))
    return 1.0 / ease


def _sides(stiffness: float, damping: float, between: Range) -> Iterator[Array]:
    """Springs that push back below a range, and pull back above it; none within."""
    for rest, bounds in zip(between, ((0.0, np.inf), (-np.inf, 0.0)), strict=True):
        if stiffness and np.isfinite(rest):
            row = _spring(stiffness, damping, rest)
            row[[of.FORCE_LOW, of.FORCE_HIGH]] = bounds
            yield row


def _spring(stiffness: float, damping: float, rest: float) -> Array:
    row = np.zeros(of.ELEMENT_FLOATS)
    row[of.BIAS : of.BIAS + 3] = stiffness * rest, -stiffness, -damping
    row[[of.CONTROL_LOW, of.FORCE_LOW, of.STATE_LOW]] = -np.inf
    row[[of.CONTROL_HIGH, of.FORCE_HIGH, of.STATE_HIGH]] = np.inf
    return row


def _length(model: Model, one: Actuator | Tendon, where: str) -> _Length:
    if one.path is None:
        return _Length(_places(model, one.joints, where), list(one.joints.values()))
    try:
        points, numbers = one.path.points(model)
    except SpatialOpsError as error:
        raise ModelError(f"{where}: {error}") from None
    moved = links_of(model, points[:, of.LINK])
    return _Length([(k, 0, 0) for k in moved], [0.0] * len(moved), (points, numbers))


def _places(model: Model, factors: Mapping[str, float], where: str) -> list[tuple[int, int, int]]:
    """Velocity and coordinate of each joint."""
    found = []
    for name in factors:
        if name not in model.joint_names:
            raise ModelError(f"{where}: there is no joint {name!r}")
        kind = model.joint_kinds[model.joint_names.index(name)]
        if kind not in _SINGLE:
            raise ModelError(
                f"{where}: joint {name!r} is {kind}; a length is made of {', '.join(_SINGLE)} ones"
            )
        found.append((model.v_slice(name).start, model.q_slice(name).start, of.NODE))
    return found
