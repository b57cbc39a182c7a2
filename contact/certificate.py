"""The certificate of a contact problem's answer: what each condition is violated by, in units, from the original data.

Everything is computed anew from the impulses alone, by other ways than solvers take: velocities after them by one
sweep with the articulated-body factors and then through the Jacobian, momentum and energy with the composite-body mass
matrix.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from spatialops._arrays import Array, array
from spatialops.contact.laws.solution import unit_compliance
from spatialops.contact.problem import ContactProblem
from spatialops.contact.rows import DRY
from spatialops.dynamics.composite_body import mass_matrix

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
    "Cone": (*COULOMB, "dissipation"),
    "Frictionless": COULOMB,
    "NoSlip": NO_SLIP,
    "MaxDissipation": ("approach", "pull", "cone", *MECHANICS),
    "Convex": ("cone", *MECHANICS),
    "Pairwise": COULOMB,
    "Viscous": ("approach", "pull", "complementarity", *MECHANICS),
}


def promised(law: Any) -> tuple[str, ...]:
    """Entries that a law makes zero: its attribute `promises`, what is known of ours, or what mechanics demands."""
    return tuple(getattr(law, "promises", _PROMISES.get(type(law).__name__, MECHANICS)))


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Largest violations, zero where a condition holds exactly, NaN where it was not measured.

    Attributes
    ----------
    gap : float
        Penetration, m.
    approach : float
        Speed with which a contact still closes after the impulses (a gap that may close in the step counted), m/s.
    pull : float
        Normal impulse that pulls, N s.
    cone : float
        Dry friction impulse beyond mu times the normal one, N s (of contacts that must not slip: what acts while they
        do); moments beyond torsion and rolling, over their length.
    complementarity : float
        |p_n u_n|: impulse where a contact leaves, J.
    dissipation : float
        mu p_n |u_t| + p_t . u_t: friction that does not oppose the slip with all its limit, J.
    slip : float
        Slip of contacts that press (their load as a speed, if that is less), m/s: zero under the law without slip.
    closures : float
        Velocity that opens a closure, m/s or rad/s.
    energy : float
        |change of the kinetic energy - work of the impulses|, J.
    momentum : float
        |M (v+ - v) - G^T p|, N s or N m s.
    residual : float
        The worst of those that the law promises, each relative to the problem's speed, impulse or energy.
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
        """What was measured, by name."""
        data = {item.name: float(getattr(self, item.name)) for item in fields(self)}
        return {name: value for name, value in data.items() if not math.isnan(value)}

    def to_array(self) -> Array:
        """All entries in the order of `UNITS`."""
        return np.array([getattr(self, name) for name in UNITS])

    @classmethod
    def from_array(cls, values: Any) -> Certificate:
        """Inverse of `to_array`."""
        return cls(**{name: float(value) for name, value in zip(UNITS, values, strict=True)})

    @classmethod
    def worst(cls, several: Iterable[Certificate]) -> Certificate:
        """The largest of each entry; what none measured is NaN."""
        table = np.array([one.to_array() for one in several]).reshape(-1, len(UNITS))
        known = np.where(np.isnan(table), -np.inf, table).max(axis=0, initial=-np.inf)
        return cls.from_array(np.where(np.isneginf(known), math.nan, known))


def certify(
    problem: ContactProblem,
    impulses: Any,
    loop_impulses: Any = None,
    moments: Any = None,
    *,
    promises: Iterable[str] = COULOMB,
) -> Certificate:
    """The certificate of impulses of a contact problem.

    Parameters
    ----------
    problem : ContactProblem
    impulses : (m, 3) array_like
        Along the contacts' frames, N s.
    loop_impulses : (n_b,) array_like, optional
        Of the closures; default zero.
    moments : (m, 3) array_like, optional
        Impulses of torsional and rolling friction, N m s.
    promises : iterable of str
        Entries that count for `residual`: those of the law that the impulses are to obey.

    Returns
    -------
    Certificate

    Raises
    ------
    ArgumentError
        For impulses of a wrong shape.
    """
    m, n_b = problem.n_contacts, problem.n_loop_rows
    p = array(impulses, (m, 3), "impulses")
    loops = array(np.zeros(n_b) if loop_impulses is None else loop_impulses, (n_b,), "loop_impulses")
    turning = None if moments is None else array(moments, (m, 3), "moments")
    given = np.concatenate([loops, p.ravel()])
    with np.errstate(all="ignore"):
        after = problem.after(given, turning)
        values, scales = _contact_entries(problem, p, after)
        values["cone"] = max(values["cone"], _moment_excess(problem, p, turning))
        values |= _balances(problem, given, turning, after)
    relative = [_ratio(values[name], scales[UNITS[name]]) for name in promises]
    residual = math.nan if any(math.isnan(r) for r in relative) else max(relative, default=0.0)
    return Certificate(**values, residual=residual)


def certify_contacts(impulses: Array, frictions: Array, *, gap: float, residual: float) -> Certificate:
    """What impulses (m, 3) and coefficients (m,) show by themselves, without the mechanism."""
    sideways = np.hypot(impulses[:, 1], impulses[:, 2])
    beyond = np.where(np.isinf(frictions), 0.0, sideways - _limits(frictions, impulses[:, 0]))
    return Certificate(gap=max(gap, 0.0), pull=_largest(-impulses[:, 0]), cone=_largest(beyond), residual=residual)


def _contact_entries(problem: ContactProblem, p: Array, after: Array) -> tuple[dict[str, float], dict[str, float]]:
    """Entries of the conditions of contact, and what counts as large for each unit."""
    rows = problem.jacobian @ after
    n_b, s = problem.n_loop_rows, unit_compliance(problem)
    u = rows[n_b:].reshape(-1, 3).copy()
    u[:, 0] += problem.closing
    body = problem.kinds != DRY
    dry = p[:, 1:] + problem.drag[:, None] * u[:, 1:]  # without the viscous part
    sideways, speed = np.hypot(dry[:, 0], dry[:, 1]), np.hypot(u[:, 1], u[:, 2])
    load = p[:, 0] + problem.offset
    limit = np.where(body, _limits(problem.friction, load), problem.dry)
    rough = body & (problem.friction > 0.0)
    held = np.isinf(problem.friction) & body
    pressed = np.maximum(load, sideways)
    power = np.where(held, pressed * speed, limit * speed + (dry * u[:, 1:]).sum(axis=1))
    values = {
        "approach": _largest(-u[body, 0]),
        "pull": _largest(-p[body, 0]),
        "cone": _largest(np.where(held, np.minimum(pressed, speed / s), sideways - limit)),
        "complementarity": _largest(np.abs(p[body, 0] * u[body, 0])),
        "dissipation": _largest(np.abs(power)),
        "slip": _largest(np.minimum(speed, s * pressed)[rough]),
        "closures": _largest(np.abs(rows[:n_b] - problem.loop_targets)),
    }
    largest = float(np.abs(problem.velocities).max(initial=0.0))
    impulse = max(largest / s, float(np.abs(p).max(initial=0.0)))
    largest = max(largest, np.finfo(float).eps * s * impulse)
    return values, {"m/s": largest, "N s": impulse, "J": largest * impulse, "m": 1.0}


def _balances(problem: ContactProblem, given: Array, moments: Array | None, after: Array) -> dict[str, float]:
    """Energy and momentum before and after; relative to what is moved they are as large as the largest term."""
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
    load, excess = np.maximum(p[:, 0] + problem.offset, 0.0), 0.0
    kinds = ((problem.torsion, np.abs(moments[:, 0])), (problem.rolling, np.hypot(moments[:, 1], moments[:, 2])))
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
    return value / scale if scale > 0.0 or math.isnan(value) else (0.0 if value == 0.0 else math.inf)
