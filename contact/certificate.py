"""The certificate of an answer: what violates each condition, in units, from the original data.

Everything is computed anew from the impulses alone, by other ways than solvers take: velocities
after them by one sweep with the articulated-body factors and then through the Jacobian, momentum
and energy with the composite-body mass matrix.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from spatialops._arrays import Array, ArrayLike, array, instance, is_one_of, several
from spatialops.contact.constraint_rows import DRY
from spatialops.contact.laws.law import unit_compliance
from spatialops.contact.problem import ContactProblem
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.errors import ArgumentError

UNITS = {
    "gap": "m",
    "approach": "m/s",
    "pull": "N s",
    "cone": "N s",
    "complementarity": "J",
    "dissipation": "J",
    "slip": "m/s",
    "closures": "m/s",
    "energy": "J",
    "momentum": "N s",
    "residual": "",
}
MECHANICS = ("closures", "energy", "momentum")  # what holds under every law
COULOMB = ("approach", "pull", "cone", "complementarity", *MECHANICS)
NO_SLIP = ("approach", "pull", "complementarity", "slip", *MECHANICS)
_PROMISES = {
    "NoneType": COULOMB,
    "Coulomb": COULOMB,
    "ConeCoulomb": (*COULOMB, "dissipation"),
    "Frictionless": COULOMB,
    "NoSlip": NO_SLIP,
    "MaxDissipation": ("approach", "pull", "cone", *MECHANICS),
    "Convex": ("cone", *MECHANICS),
    "Pairwise": COULOMB,
    "Viscous": ("approach", "pull", "complementarity", *MECHANICS),
    "Compliant": MECHANICS,
}


def promised(law: object) -> tuple[str, ...]:
    """Entries that a law makes zero.

    Its attribute `promises`, what is known of ours, or those of Coulomb's law.
    """
    return tuple(getattr(law, "promises", _PROMISES.get(type(law).__name__, COULOMB)))


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Largest violations, zero where a condition holds exactly, NaN where it was not measured.

    Parameters
    ----------
    gap : float, optional
        Penetration, m.
    approach : float, optional
        Speed with which a contact still closes after the impulses (a gap that may close in the step
        counted), m/s.
    pull : float, optional
        Normal impulse that pulls, N s.
    cone : float, optional
        Dry friction impulse beyond mu times the normal one, N s (of contacts that must not slip:
        what acts while they do); moments beyond torsion and rolling, over their length.
    complementarity : float, optional
        |p_n u_n|: impulse where a contact leaves, J.
    dissipation : float, optional
        mu p_n |u_t| + p_t . u_t: friction that does not oppose the slip with all its limit, J.
    slip : float, optional
        Slip of contacts that press (their load as a speed, if that is less), m/s: zero under the
        law without slip.
    closures : float, optional
        Velocity that opens a closure, m/s or rad/s.
    energy : float, optional
        |change of the kinetic energy - work of the impulses|, J.
    momentum : float, optional
        |M (v+ - v) - G^T p|, N s or N m s.
    residual : float, optional
        The worst of those that the law promises, each relative to the problem's speed, impulse or
        energy.
    """

    gap: float = math.nan
    approach: float = math.nan
    pull: float = math.nan
    cone: float = math.nan
    complementarity: float = math.nan
    dissipation: float = math.nan
    slip: float = math.nan
    closures: float = math.nan
    energy: float = math.nan
    momentum: float = math.nan
    residual: float = math.nan

    def __str__(self) -> str:
        known = {name: value for name, value in self.to_data().items() if name != "residual"}
        text = ", ".join(f"{name} {value:.1e} {UNITS[name]}" for name, value in known.items())
        return f"certificate: {text or 'nothing measured'}; worst residual {self.residual:.1e}"

    def to_data(self) -> dict[str, float]:
        """What was measured, by name.

        Returns
        -------
        dict
            Entries that are not NaN.
        """
        data = {item.name: float(getattr(self, item.name)) for item in fields(self)}
        return {name: value for name, value in data.items() if not math.isnan(value)}

    def to_array(self) -> Array:
        """All entries as numbers.

        Returns
        -------
        (11,) array
            In the order of `UNITS`.
        """
        return np.array([getattr(self, name) for name in UNITS])

    @classmethod
    def from_array(cls, values: ArrayLike) -> Certificate:
        """Inverse of `to_array`.

        Parameters
        ----------
        values : (11,) array_like
            In the order of `UNITS`.

        Returns
        -------
        Certificate
            With these entries.
        """
        entries = np.asarray(values, dtype=np.float64).tolist()
        return cls(**dict(zip(UNITS, entries, strict=True)))

    @classmethod
    def worst(cls, several: Iterable[Certificate]) -> Certificate:
        """The largest of each entry.

        Parameters
        ----------
        several : iterable of Certificate
            May be empty.

        Returns
        -------
        Certificate
            NaN where none measured an entry.
        """
        table = np.array([one.to_array() for one in several]).reshape(-1, len(UNITS))
        known = np.where(np.isnan(table), -np.inf, table).max(axis=0, initial=-np.inf)
        return cls.from_array(np.where(np.isneginf(known), math.nan, known))


def certify(
    problem: ContactProblem,
    impulses: ArrayLike,
    loop_impulses: ArrayLike | None = None,
    moments: ArrayLike | None = None,
    *,
    promises: Iterable[str] = COULOMB,
) -> Certificate:
    """The certificate of impulses of a contact problem.

    Parameters
    ----------
    problem : ContactProblem
        What they are to solve.
    impulses : (m, 3) array_like
        Along the contacts' frames, N s.
    loop_impulses : (n_b,) array_like, optional
        Of the closures; default zero.
    moments : (m, 3) array_like, optional
        Impulses of torsional and rolling friction, N m s.
    promises : iterable of str, optional
        Entries that count for `residual`: those of the law that the impulses are to obey.
        Default: those of Coulomb's law.

    Returns
    -------
    Certificate
        Of these impulses; NaN among them makes NaN of what they enter.

    Raises
    ------
    ArgumentError
        For impulses of a wrong shape.

    Examples
    --------
    >>> import numpy as np
    >>> from spatialops.contact import ContactProblem, Coulomb, certify
    >>> from spatialops.models import pendulum
    >>> q, tip, frame = [np.pi / 2.0], [[1.0, 0.0, 0.0]], [[[0, 0, 1], [1, 0, 0], [0, 1, 0]]]
    >>> problem = ContactProblem(pendulum(1).model, q, [1.0], [[0, -1]], tip, frame, [0.5])
    >>> certify(problem, Coulomb().solve(problem).impulses).residual < 1e-9
    True
    """
    instance(problem, ContactProblem, "problem")
    m, n_b = problem.n_contacts, problem.n_loop_rows
    p = array(impulses, (m, 3), "impulses")
    loops = array(
        np.zeros(n_b) if loop_impulses is None else loop_impulses, (n_b,), "loop_impulses"
    )
    turning = None if moments is None else array(moments, (m, 3), "moments")
    given = np.concatenate([loops, p.ravel()])
    with np.errstate(all="ignore"):
        after = problem.after(given, turning)
        values, scales = _contact_entries(problem, p, after)
        values["cone"] = max(values["cone"], _moment_excess(problem, p, turning))
        values |= _balances(problem, given, turning, after)
    asked = several(promises, "promises", "names of entries")
    if not all(is_one_of(name, UNITS) for name in asked):
        raise ArgumentError(f"promises: expected names among {', '.join(UNITS)}, got {asked}")
    relative = [_ratio(values[name], scales[UNITS[name]]) for name in asked]
    residual = math.nan if any(math.isnan(r) for r in relative) else max(relative, default=0.0)
    return Certificate(**values, residual=residual)


def certify_contacts(
    impulses: Array, frictions: Array, *, gap: float, residual: float
) -> Certificate:
    """What impulses (m, 3) and coefficients (m,) show by themselves, without the mechanism."""
    sideways = np.hypot(impulses[:, 1], impulses[:, 2])
    beyond = np.where(np.isinf(frictions), 0.0, sideways - _limits(frictions, impulses[:, 0]))
    return Certificate(
        gap=max(gap, 0.0), pull=_largest(-impulses[:, 0]), cone=_largest(beyond), residual=residual
    )


def _contact_entries(
    problem: ContactProblem, p: Array, after: Array
) -> tuple[dict[str, float], dict[str, float]]:
    """Entries of the conditions of contact, and what counts as large for each unit."""
    rows = problem.jacobian @ after
    n_b, s = problem.n_loop_rows, unit_compliance(problem)
    u = rows[n_b:].reshape(-1, 3) + problem.bias
    body = problem.kinds != DRY
    dry = p[:, 1:] + problem.viscous[:, None] * u[:, 1:]  # without the viscous part
    sideways, speed = np.hypot(dry[:, 0], dry[:, 1]), np.hypot(u[:, 1], u[:, 2])
    load = p[:, 0] + problem.prior_normal_impulse
    limit = np.where(body, _limits(problem.friction, load), problem.dry)
    has_friction = body & (problem.friction > 0.0)
    held = np.isinf(problem.friction) & body
    pressing = np.maximum(load, sideways)
    power = np.where(held, pressing * speed, limit * speed + (dry * u[:, 1:]).sum(axis=1))
    values = {
        "approach": _largest(-u[body, 0]),
        "pull": _largest(-p[body, 0]),
        "cone": _largest(np.where(held, np.minimum(pressing, speed / s), sideways - limit)),
        "complementarity": _largest(np.abs(p[body, 0] * u[body, 0])),
        "dissipation": _largest(np.abs(power)),
        "slip": _largest(np.minimum(speed, s * pressing)[has_friction]),
        "closures": _largest(np.abs(rows[:n_b] - problem.loop_targets)),
    }
    largest = float(np.abs(problem.velocities).max(initial=0.0))
    impulse = max(largest / s, float(np.abs(p).max(initial=0.0)))
    largest = max(largest, np.finfo(float).eps * s * impulse)
    return values, {"m/s": largest, "N s": impulse, "J": largest * impulse, "m": 1.0}


def _balances(
    problem: ContactProblem, given: Array, moments: Array | None, after: Array
) -> dict[str, float]:
    """How far energy and momentum before and after differ from what impulses did."""
    G = problem.jacobian
    pushed = G.T @ given
    if moments is not None:
        pushed = pushed + problem.spin_jacobian.T @ moments.ravel()
    change = after - problem.velocity
    gained = mass_matrix(problem.model, problem.q) @ change
    work = 0.5 * float(pushed @ (after + problem.velocity))
    kinetic = 0.5 * float(gained @ (after + problem.velocity))
    return {"energy": abs(kinetic - work), "momentum": _largest(np.abs(gained - pushed))}


def _moment_excess(problem: ContactProblem, p: Array, moments: Array | None) -> float:
    """Moments beyond their limits over the length that limits them, N s."""
    if moments is None:
        return 0.0
    load, excess = np.maximum(p[:, 0] + problem.prior_normal_impulse, 0.0), 0.0
    kinds = (
        (problem.torsion, np.abs(moments[:, 0])),
        (problem.rolling, np.hypot(moments[:, 1], moments[:, 2])),
    )
    for length, size in kinds:
        some = length > 0.0
        excess = max(excess, _largest(size[some] / length[some] - load[some]))
    return excess


def _limits(friction: Array, load: Array) -> Array:
    """Limits mu p_n of finite coefficients, (m,)."""
    finite = np.where(np.isinf(friction), 0.0, friction)
    return np.asarray(finite * np.maximum(load, 0.0))


def _largest(values: Array) -> float:
    """Largest value, at least zero; NaN stays NaN."""
    return float(np.max(values, initial=0.0))


def _ratio(value: float, scale: float) -> float:
    if scale > 0.0 or math.isnan(value):
        return value / scale
    return 0.0 if value == 0.0 else math.inf
