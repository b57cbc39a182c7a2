"""Inverse kinematics: damped Gauss-Newton on the manifold of the joints, within their limits.

Every step is a bounded linear least-squares problem of its own,

    min |r + J dv|^2 + damping |dv|^2 + rest_weight |q + dv - rest|^2,   lower <= q + dv <= upper,

with the damping of Levenberg and Marquardt (Nocedal and Wright, *Numerical Optimization*, 10.3):
less after a step that helped, more after one that did not. It ends where a bounded step can lower
the errors no more: at the targets, or as near as they can be reached from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import lsq_linear

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, scalar, several, vector, whole
from spatialops.errors import ArgumentError
from spatialops.kinematics.targets import Errors, Target, errors_at
from spatialops.tree.model import Model, not_a_model
from spatialops.tree.state import difference, integrate

_MOST_TRIES = 12  # of more damping within one iteration
_LEAST_STEP = 1e-12  # rad or m: smaller ones change nothing
_LEAST_GAIN = 1e-14  # of the sum of squares


@dataclass(frozen=True, eq=False)
class KinematicSolution:
    """What `inverse_kinematics` found.

    Parameters
    ----------
    q : (nq,) array
        Coordinates, within the limits.
    reached : bool
        Whether every target is met to the tolerance.
    distances : (n,) array
        How far each target's position is off, m.
    angles : (n,) array
        How far each target's rotation is off, rad.
    iterations : int
        Gauss-Newton steps.
    message : str
        What came out, in words.
    """

    q: Array
    reached: bool
    distances: Array
    angles: Array
    iterations: int
    message: str


def inverse_kinematics(
    model: Model,
    targets: Sequence[Target] | Target,
    q: ArrayLike | None = None,
    *,
    fixed: Sequence[str] = (),
    rest: ArrayLike | None = None,
    rest_weight: float = 1e-3,
    tolerance: float = 1e-9,
    restarts: int = 16,
    seed: int = 0,
) -> KinematicSolution:
    """Coordinates at which nodes are where they should be, within the joints' limits.

    Parameters
    ----------
    model : Model
        The mechanism; its free joints move like the others.
    targets : Target or sequence of Target
        What is to be reached, all at once; their weights count where not all can be.
    q : (nq,) array_like, optional
        Where the search begins. Default: all joints at zero, or the limit next to it.
    fixed : sequence of str
        Joints that keep their coordinates: the base of a robot that stands, for example. Default
        none.
    rest : (nq,) array_like, optional
        Posture that joints stay near where targets leave them freedom. Default: none.
    rest_weight : float
        How much of a metre a radian away from `rest` counts for, beside the targets. Default 1e-3;
        it is let go of in the end, so that targets are met exactly.
    tolerance : float
        Error of a target that counts as met, m and rad. Default 1e-9.
    restarts : int
        Random postures that are tried where the search ends before the targets. Default 16.
    seed : int
        Of these postures. Default 0.

    Returns
    -------
    KinematicSolution
        The first posture that meets all targets, else the nearest of all tries; `reached` and
        `message` say which.

    Raises
    ------
    ArgumentError
        For wrong shapes, an unknown body or joint, or no target.

    References
    ----------
    Levenberg 1944; Marquardt 1963; Nocedal and Wright, *Numerical Optimization*, section 10.3.

    Examples
    --------
    >>> import spatialops as so
    >>> model = so.models.pendulum(3).model
    >>> tip = so.Node("link3", (0.0, 0.0, -2.0))
    >>> found = so.inverse_kinematics(model, so.Target(tip, position=(3.0, 0.0, 7.0)))
    >>> found.reached, so.node_positions(model, found.q, [tip]).round(9)
    (True, array([[3., 0., 7.]]))
    """
    if type(model) is not Model:
        raise not_a_model(model)
    search = _Search(
        model, _checked(model, targets), several(fixed, "fixed", "names of joints"), tolerance
    )
    begin = search.within(model.neutral() if q is None else vector(q, model.nq, "q").copy())
    posture = None if rest is None else vector(rest, model.nq, "rest")
    pull = scalar(rest_weight, "rest_weight", low=0.0)
    rng = np.random.default_rng(whole(seed, "seed", low=0))
    best = search.run(begin, posture, pull)
    for _ in range(whole(restarts, "restarts", low=0)):
        if best.reached:
            break
        again = search.run(search.kept(begin, model.random(rng)), posture, pull)
        if search.size(again) < search.size(best):
            best = again
    return best


class _Search:
    """The problem, and one descent from a posture."""

    def __init__(
        self, model: Model, targets: tuple[Target, ...], fixed: tuple[str, ...], tolerance: float
    ) -> None:
        self.model = model
        self.targets = targets
        self.tolerance = scalar(tolerance, "tolerance", low=0.0, strict=True)
        self.fixed = fixed
        self.free = np.ones(model.nv, dtype=bool)
        for name in fixed:
            self.free[model.v_slice(name)] = False
        # Velocities whose coordinate is a number of its own, which limits are for.
        frames = model.tree[:, layout.FRAME]
        plain = ~np.isin(frames, (layout.ATTITUDE, layout.POSE, layout.SAME))
        self.limited = np.flatnonzero(plain)
        self.places = model.tree[self.limited, layout.FIRST_Q]

    def kept(self, begin: Array, q: Array) -> Array:
        """Other coordinates, with those of fixed and free joints as they were."""
        for name, kind in zip(self.model.joint_names, self.model.joint_kinds):
            if name in self.fixed or kind == "free":
                part = self.model.q_slice(name)
                q[part] = begin[part]
        return q

    def within(self, q: Array) -> Array:
        """Coordinates moved into the limits, but for those of fixed joints."""
        lower, upper = self.model.lower[self.limited], self.model.upper[self.limited]
        moved = np.clip(q[self.places], lower, upper)
        q[self.places] = np.where(self.free[self.limited], moved, q[self.places])
        return q

    def size(self, found: KinematicSolution) -> float:
        """Weighted error of a solution."""
        rows = errors_at(self.model, found.q, self.targets).rows
        return float(rows @ rows)

    def run(self, q: Array, rest: Array | None, pull: float) -> KinematicSolution:
        """Descend with the posture's pull, then without."""
        count = 0
        if rest is not None and pull > 0.0:
            q, count = self._descend(q, rest, pull)
        q, more = self._descend(q, None, 0.0)
        found = errors_at(self.model, q, self.targets)
        return self._told(q, found, count + more)

    def _descend(self, q: Array, rest: Array | None, pull: float) -> tuple[Array, int]:
        damping, count = 1e-3, 0
        now = self._rows(q, rest, pull)
        for count in range(1, 201):
            size = float(now.rows @ now.rows)
            if max(now.distances.max(), now.angles.max()) < 1e-2 * self.tolerance and rest is None:
                break
            for _ in range(_MOST_TRIES):
                step = self._step(q, now, damping)
                trial = integrate(self.model, q, step)
                after = self._rows(trial, rest, pull)
                better = float(after.rows @ after.rows)
                if better < size:
                    break
                damping *= 8.0
            else:
                return q, count
            q, now = self.within(trial), after
            damping = max(0.1 * damping, 1e-12)
            small = float(np.abs(step).max(initial=0.0)) < _LEAST_STEP
            if small or size - better < _LEAST_GAIN * size:
                break
        return q, count

    def _rows(self, q: Array, rest: Array | None, pull: float) -> Errors:
        """Errors, and those of the posture behind them."""
        found = errors_at(self.model, q, self.targets)
        if rest is None:
            return found
        away = pull * difference(self.model, rest, q)[self.limited]
        slopes = pull * np.eye(self.model.nv)[self.limited]
        return Errors(
            np.concatenate([found.rows, away]),
            np.vstack([found.slopes, slopes]),
            found.distances,
            found.angles,
        )

    def _step(self, q: Array, now: Errors, damping: float) -> Array:
        """The bounded step."""
        model, free = self.model, self.free
        low = np.full(model.nv, -np.inf)
        high = np.full(model.nv, np.inf)
        low[self.limited] = np.minimum(model.lower[self.limited] - q[self.places], 0.0)
        high[self.limited] = np.maximum(model.upper[self.limited] - q[self.places], 0.0)
        free = free & (high - low > 0.0)
        n = int(free.sum())
        step = np.zeros(model.nv)
        if not n:
            return step
        # Damping goes with the error: quadratic convergence at a target that can be met.
        damp = np.sqrt(damping * float(np.linalg.norm(now.rows)))
        J = np.vstack([now.slopes[:, free], damp * np.eye(n)])
        r = np.concatenate([now.rows, np.zeros(n)])
        plain = np.linalg.lstsq(J, -r, rcond=None)[0]
        if (plain >= low[free]).all() and (plain <= high[free]).all():
            step[free] = plain
        else:
            step[free] = lsq_linear(J, -r, (low[free], high[free]), method="bvls").x
        return step

    def _told(self, q: Array, found: Errors, iterations: int) -> KinematicSolution:
        worst = max(found.distances.max(), found.angles.max())
        reached = bool(worst <= self.tolerance)
        if reached:
            message = f"all targets are met to {worst:.1e} (m, rad)"
        else:
            i = int(np.argmax(np.maximum(found.distances, found.angles)))
            lower, upper = self.model.lower[self.limited], self.model.upper[self.limited]
            stopped = (q[self.places] <= lower) | (q[self.places] >= upper)
            names = [self.model.joint_of_link(int(k)) for k in self.limited[stopped]]
            at_limits = f"; at their limits: {', '.join(names[:6])}" if names else ""
            message = (
                f"target {i} ({self.targets[i].node!r}) is not met: {found.distances[i]:.3g} m and "
                f"{found.angles[i]:.3g} rad are left{at_limits}"
            )
        return KinematicSolution(q, reached, found.distances, found.angles, iterations, message)


def _checked(model: Model, targets: Sequence[Target] | Target) -> tuple[Target, ...]:
    found = (
        (targets,) if isinstance(targets, Target) else several(targets, "targets", "Target objects")
    )
    if not found:
        raise ArgumentError("targets: there is none")
    for i, target in enumerate(found):
        if not isinstance(target, Target):
            raise ArgumentError(f"targets[{i}]: expected a Target, got {target!r}")
    model.resolve([target.node for target in found])
    return found
