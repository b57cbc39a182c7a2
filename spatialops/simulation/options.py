"""The options of a simulator, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from spatialops._arrays import ArrayLike, flag, is_one_of, scalar
from spatialops.contact.formulations import check_formulation
from spatialops.contact.formulations.formulation import Formulation
from spatialops.contact.laws import check_law
from spatialops.contact.laws.law import Law
from spatialops.contact.lcp.solver import Solver
from spatialops.contact.solve import check_solver
from spatialops.errors import ArgumentError
from spatialops.simulation import _layout as at
from spatialops.simulation import scales as usual
from spatialops.simulation.scales import Scales
from spatialops.simulation.scene.pair_options import Restitution

Integrator: TypeAlias = Literal["moreau", "semi-implicit", "rk4"]
Certify: TypeAlias = Literal["raise", "warn", "off", "full"]
Propagation: TypeAlias = Literal["simultaneous", "propagated"]
LawName: TypeAlias = Literal[
    "coulomb",
    "cone",
    "convex",
    "no-slip",
    "frictionless",
    "max-dissipation",
    "viscous",
    "pairwise",
]
FormulationName: TypeAlias = Literal["os", "nmc", "mc", "rmc", "nmc/os", "trinkle"]
SolverName: TypeAlias = Literal[
    "auto",
    "lemke",
    "principal-pivoting",
    "gauss-seidel",
    "newton",
    "interior-point",
    "enumeration",
    "exact",
    "qp",
]

# Of `TimeStepping`, by default.
TOLERANCE = 1e-9  # residual of contact problems, relative to their scale
ACCEPTED = 1e-6  # that of piles which jam, where a failed certificate does not end a run
SETTLED = 1e-8  # what the middle velocity may be off, relative

INTEGRATORS: dict[Integrator, int] = {
    "semi-implicit": at.SEMI_IMPLICIT,
    "moreau": at.MOREAU,
    "rk4": at.RK4,
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Options:
    """What `Simulator` was given, checked, with defaults put in; see there.

    Attributes
    ----------
    law : Law or None
        None is Coulomb's law by `formulation` and `solver`.
    """

    formulation: Formulation
    solver: Literal["auto"] | Solver
    law: Law | None
    restitution: Restitution
    impacts: Propagation
    dt: float
    integrator: Integrator
    impact_threshold: float
    margin: float
    certify: Certify
    depth_limit: float
    loop_limit: float
    joint_limits: bool
    stop_restitution: ArrayLike
    dry_friction: bool
    clip_effort: bool


def checked_options(
    scales: Scales,
    *,
    formulation: FormulationName | Formulation,
    solver: SolverName | Solver,
    law: LawName | Law,
    restitution: Restitution,
    impacts: Propagation,
    dt: float,
    integrator: Integrator,
    impact_threshold: float | None,
    margin: float | None,
    certify: Certify,
    depth_limit: float | None,
    loop_limit: float,
    joint_limits: bool,
    stop_restitution: ArrayLike,
    dry_friction: bool,
    clip_effort: bool,
) -> Options:
    """The options of a simulator; those left to it follow from the scales of the scene.

    Raises
    ------
    ArgumentError
        For an option out of its range.
    """
    for name, value, known in (
        ("integrator", integrator, Integrator),
        ("certify", certify, Certify),
        ("restitution", restitution, Restitution),
        ("impacts", impacts, Propagation),
    ):
        names = get_args(known)
        if not is_one_of(value, names):
            raise ArgumentError(f"{name}: expected one of {', '.join(names)}, got {value!r}")
    made = Options(
        formulation=check_formulation(formulation),
        solver=check_solver(solver),
        law=None if isinstance(law, str) and law == "coulomb" else check_law(law),
        restitution=restitution,
        impacts=impacts,
        dt=scalar(dt, "dt", low=0.0, strict=True),
        integrator=integrator,
        impact_threshold=_or_usual(
            impact_threshold, "impact_threshold", usual.IMPACT_THRESHOLD * scales.speed
        ),
        margin=_or_usual(margin, "margin", usual.MARGIN * scales.length),
        certify=certify,
        depth_limit=_or_usual(depth_limit, "depth_limit", usual.DEPTH_LIMIT * scales.length),
        loop_limit=scalar(loop_limit, "loop_limit", low=0.0),
        joint_limits=flag(joint_limits, "joint_limits"),
        stop_restitution=stop_restitution,
        dry_friction=flag(dry_friction, "dry_friction"),
        clip_effort=flag(clip_effort, "clip_effort"),
    )
    plain = isinstance(formulation, str) and formulation == "os" and solver == "auto"
    if made.law is not None and not plain:
        raise ArgumentError(
            "law: `formulation` and `solver` are options of the law 'coulomb'; others have their "
            "own"
        )
    return made


def _or_usual(value: float | None, name: str, default: float) -> float:
    return default if value is None else scalar(value, name, low=0.0)
