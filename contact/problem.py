"""The contact problem that every formulation starts from, and that can be stored and replayed."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray, array, scalar
from spatialops._files import load_arrays, save_arrays
from spatialops._layout import OK, PARENT, TERM_A, TERM_COLUMNS, TERM_INTS, TERM_ROW
from spatialops.contact.lcp.problem import LCPSolution
from spatialops.contact.maximal import MaximalProblem, maximal_problem
from spatialops.contact.response import velocity_change
from spatialops.contact.rows import CONTACT, DRY, STOP, contact_terms, moment_terms
from spatialops.dynamics.articulated_body import factor_kernel, singular_joint
from spatialops.dynamics.loop_rows import closure_jacobian, closure_rows
from spatialops.dynamics.maximal import placed
from spatialops.errors import ArgumentError, AssetError, SpatialOpsError
from spatialops.tree.model import Model

PHASES = ("contact", "compression", "decompression")
_POSITIVE = ("dry", "drag", "torsion", "rolling")
_OF_CONTACTS = (
    "links", "points", "frames", "friction", "closing", "offset", "kinds", "dry", "drag", "sides", "torsion", "rolling",
    "gaps",
)  # fmt: skip
_LATER = ("kinds", "dry", "drag", "sides", "torsion", "rolling", "gaps", "duration", "rest")  # not in the first files


class Response(NamedTuple):
    """How rows answer impulses: the workspace with articulated factors, and L (rows, nv) with G M^-1 G^T = L L^T."""

    work: Array
    L: Array


@dataclass(frozen=True, eq=False)
class ContactProblem:
    """Contacts and loop closures of one instant or one step.

    Find impulses p, those of contacts in their friction cones, so that the velocity v+ = v + M^-1 G^T p satisfies
    unilateral contact and friction, and G_b v+ = targets for the closures. Rows stand in the order closures, then
    normal, tangent, tangent of each contact.

    Parameters
    ----------
    model : Model
    q : (nq,) array
        Configuration at which everything is evaluated.
    velocity : (nv,) array
        v: joint velocities without the impulses that are sought (for a step: the free ones at its end).
    links : (m, 2) int array
        Kernel links A and B of the contacts (`model.body_links[body]`), -1 for the world; the normal points to A.
    points : (m, 3) array
        World positions, m.
    frames : (m, 3, 3) array
        Rows normal, tangent, tangent in world axes, orthonormal.
    friction : (m,) array
        Coefficients mu. Infinite: the contact does not slip while it presses (for the laws that say so).
    closing : (m,) array, optional
        Added to the normal velocities, m/s: a positive gap divided by the step.
    offset : (m,) array, optional
        Normal impulse that already presses (decompression), N s.
    phase : {"contact", "compression", "decompression"}
    loop_ints, loop_terms : (t, 3) int array, (t, 9) array, optional
        Terms of the closures' rows: see TERM_* in `_layout`.
    loop_targets : (n_b,) array, optional
        Velocities of the closures' rows, m/s or rad/s.
    torsion, rolling : (m,) array, optional
        Coefficients of torsional and of rolling friction, m: moments about the normal and about the tangents are at
        most these times the normal force.
    kinds : (m,) int array, optional
        What each is: 0 a contact of bodies; 1 the stop of a joint, whose normal is the axis, to the side that is free;
        2 the dry friction of a joint, whose first tangent is the axis. Those of joints join the joint's link A to its
        parent B, and their rows are rates of the joint (rad/s or m/s; impulses N m s or N s); other rows are zero.
    dry : (m,) array, optional
        Friction impulse that needs no normal one, N s or N m s: friction is at most mu (p_n + offset) + dry.
    drag : (m,) array, optional
        Viscous friction beside the dry one: impulse over slip, N s per m/s. (A coefficient times the duration.)
    sides : (m,) int array, optional
        Directions of the friction polyhedron of each contact, even; 0 for the round cone. For the law that has both,
        `Pairwise`; others have what they have.
    gaps : (m,) array, optional
        Gaps where everything is evaluated, m; `closing` has the positive ones. For laws whose forces depend on them.
    duration : float
        Time in which impulses act, s; 0 in impacts.
    rest : float
        Part of it in which gaps change yet, s.

    Raises
    ------
    ArgumentError
        For wrong shapes, NaN, frames that are not orthonormal, negative friction or links that do not exist.
    """

    model: Model
    q: Any
    velocity: Any
    links: Any
    points: Any
    frames: Any
    friction: Any
    closing: Any = None
    offset: Any = None
    phase: str = "contact"
    loop_ints: Any = field(default=None, repr=False)
    loop_terms: Any = field(default=None, repr=False)
    loop_targets: Any = None
    kinds: Any = None
    dry: Any = None
    drag: Any = None
    sides: Any = None
    torsion: Any = None
    rolling: Any = None
    gaps: Any = None
    duration: Any = 0.0
    rest: Any = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.model, Model):
            raise ArgumentError(f"model: expected a Model, got {type(self.model).__name__}")
        if self.phase not in PHASES:
            raise ArgumentError(f"phase: expected one of {', '.join(PHASES)}, got {self.phase!r}")
        friction = array(self.friction, (None,), "friction")
        m = friction.size
        targets = array([] if self.loop_targets is None else self.loop_targets, (None,), "loop_targets", finite=True)
        links = _links(self.links, m, self.model, "links")
        values: dict[str, Any] = {
            "q": array(self.q, (self.model.nq,), "q", finite=True),
            "velocity": array(self.velocity, (self.model.nv,), "velocity", finite=True),
            "links": links,
            "points": array(self.points, (m, 3), "points", finite=True),
            "frames": array(self.frames, (m, 3, 3), "frames", finite=True),
            "friction": friction,
            "closing": array(np.zeros(m) if self.closing is None else self.closing, (m,), "closing", finite=True),
            "offset": array(np.zeros(m) if self.offset is None else self.offset, (m,), "offset", finite=True),
            "dry": array(np.zeros(m) if self.dry is None else self.dry, (m,), "dry", finite=True),
            "loop_targets": targets,
            "gaps": array(np.zeros(m) if self.gaps is None else self.gaps, (m,), "gaps", finite=True),
            "duration": scalar(self.duration, "duration", low=0.0),
            "rest": scalar(self.rest, "rest", low=0.0),
            "loop_ints": _terms(self.loop_ints, targets.size, self.model),
        }
        values["kinds"] = _kinds(self.kinds, links, self.model)
        values["sides"] = _sides(self.sides, m)
        count = len(values["loop_ints"])
        terms = np.zeros((0, TERM_COLUMNS)) if self.loop_terms is None else self.loop_terms
        values["loop_terms"] = array(terms, (count, TERM_COLUMNS), "loop_terms", finite=True)
        if np.isnan(friction).any():
            raise ArgumentError("friction: holds NaN")
        for name in ("drag", "torsion", "rolling"):
            given = getattr(self, name)
            values[name] = array(np.zeros(m) if given is None else given, (m,), name, finite=True)
        for name, given in (("friction", friction), *((name, values[name]) for name in _POSITIVE)):
            if given.min(initial=0.0) < 0.0:
                raise ArgumentError(f"{name}: must not be negative, got {given.min():g}")
        if friction[values["kinds"] != CONTACT].any():
            raise ArgumentError("friction: must be zero for stops and dry friction of joints")
        frames = values["frames"]
        if np.abs(frames @ frames.transpose(0, 2, 1) - np.eye(3)).max(initial=0.0) > 1e-6:
            raise ArgumentError("frames: rows must be orthonormal: normal, tangent, tangent")
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def n_contacts(self) -> int:
        """Number of contacts m."""
        return len(self.friction)

    @property
    def n_loop_rows(self) -> int:
        """Number of closure rows n_b."""
        return len(self.loop_targets)

    @property
    def has_moments(self) -> bool:
        """Whether a contact has torsional or rolling friction."""
        return bool(self.torsion.any() or self.rolling.any())

    @cached_property
    def spin_terms(self) -> tuple[IntArray, Array]:
        """Terms of the contacts' spins: about normal, tangent, tangent of each."""
        return moment_terms(self.links, self.points, self.frames)

    @cached_property
    def spin_jacobian(self) -> Array:
        """Rows (3 m, nv) of the contacts' spins: angular velocity of A against B along the frames."""
        G = np.empty((3 * self.n_contacts, self.model.nv))
        closure_jacobian(self.model.tree, self.model.links, placed(self.model, self.q), *self.spin_terms, G)
        return G

    @cached_property
    def spin_response(self) -> Array:
        """Their rows of L, as in `response`."""
        L = np.empty((3 * self.n_contacts, self.model.nv))
        closure_rows(self.model.tree, self.model.links, self.response.work, *self.spin_terms, L)
        return L

    def part(self, chosen: Any) -> ContactProblem:
        """The same step with some of its contacts only: a mask (m,), or indices, which may repeat."""
        return replace(self, **{name: getattr(self, name)[chosen] for name in _OF_CONTACTS})

    @cached_property
    def has_joints(self) -> bool:
        """Whether there are stops or dry friction of joints among the contacts."""
        return bool(self.kinds.any())

    @cached_property
    def terms(self) -> tuple[IntArray, Array]:
        """Terms of all rows, those of the closures first."""
        ints, terms = contact_terms(self.links, self.points, self.frames, self.n_loop_rows, self.kinds, self.model.tree)
        if not self.n_loop_rows:
            return ints, terms
        return np.concatenate([self.loop_ints, ints]), np.concatenate([self.loop_terms, terms])

    @cached_property
    def jacobian(self) -> Array:
        """G (n_b + 3 m, nv)."""
        G = np.empty((self.n_loop_rows + 3 * self.n_contacts, self.model.nv))
        closure_jacobian(self.model.tree, self.model.links, placed(self.model, self.q), *self.terms, G)
        return G

    @cached_property
    def response(self) -> Response:
        """The rows' response to impulses in O(N) a row, from the articulated-body factors.

        Raises
        ------
        ModelError
            If the mass matrix is singular here.
        """
        model, work = self.model, placed(self.model, self.q)
        if factor_kernel(model.tree, model.links, work) != OK:
            raise singular_joint(model, work)
        L = np.empty((self.n_loop_rows + 3 * self.n_contacts, model.nv))
        closure_rows(model.tree, model.links, work, *self.terms, L)
        return Response(work, L)

    @cached_property
    def compliance(self) -> Array:
        """G M^-1 G^T (n_b + 3 m square), 1/kg and the like."""
        L = self.response.L
        return L @ L.T

    @cached_property
    def velocities(self) -> Array:
        """Velocities (n_b + 3 m,) of all rows without impulses: closures less targets, contacts with `closing`."""
        u: Array = self.jacobian @ self.velocity
        n_b = self.n_loop_rows
        u[:n_b] -= self.loop_targets
        u[n_b::3] += self.closing
        return u

    @cached_property
    def maximal(self) -> MaximalProblem:
        """The same problem in maximal coordinates."""
        rows = self.n_loop_rows + 3 * self.n_contacts
        return maximal_problem(self.model, self.q, self.velocity, self.terms, rows)

    def after(self, impulses: Array, moments: Array | None = None) -> Array:
        """Joint velocities (nv,) after impulses (n_b + 3 m,) on all rows, by one sweep from the base to the tips.

        `moments` (m, 3) are impulses of the contacts' moments along their frames, N m s.
        """
        model, (work, L) = self.model, self.response
        if moments is not None:
            L, impulses = np.concatenate([L, self.spin_response]), np.concatenate([impulses, moments.ravel()])
        dv = np.empty(model.nv)
        velocity_change(model.tree, model.links, work, L, len(L), np.ascontiguousarray(impulses), dv)
        result: Array = self.velocity + dv
        return result

    def slip(self, velocity: Array) -> Array:
        """Sliding speeds (m,) of the contacts at joint velocities `velocity`, m/s."""
        u = (self.jacobian[self.n_loop_rows :] @ velocity).reshape(-1, 3)
        result: Array = np.hypot(u[:, 1], u[:, 2])
        return result

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the problem to one .npz file, whole or not at all; AssetError if it cannot be written."""
        own = {item.name: np.asarray(getattr(self, item.name)) for item in fields(self) if item.name != "model"}
        return save_arrays(path, own | {f"model.{key}": np.asarray(v) for key, v in self.model.to_arrays().items()})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ContactProblem:
        """Read a problem that `save` wrote.

        Raises
        ------
        AssetError
            If the file is missing or not such a problem.
        """
        data = load_arrays(path, "contact problem")
        try:
            model = Model.from_arrays({key[6:]: value for key, value in data.items() if key.startswith("model.")})
            names = [item.name for item in fields(cls) if item.name != "model"]
            own: dict[str, Any] = {name: data[name] for name in names if name in data or name not in _LATER}
            return cls(model, **{**own, "phase": str(own["phase"])})
        except (SpatialOpsError, ValueError, TypeError, LookupError) as error:
            raise AssetError(f"{path}: not a stored contact problem: {error}") from error


@dataclass(frozen=True, eq=False)
class ContactSolution:
    """What a formulation makes of a solution.

    Attributes
    ----------
    velocity : (nv,) array
        Joint velocities after the impulses.
    impulses : (m, 3) array
        On A along the contacts' frames, N s (without `offset`).
    loop_impulses : (n_b,) array
        Of the closures' rows, N s or N m s.
    slip : (m,) array
        Sliding speeds, m/s.
    moments : (m, 3) array or None
        Impulses of torsional and rolling friction on A along the frames, N m s; None where no contact has any.
    """

    velocity: Array
    impulses: Array
    loop_impulses: Array
    slip: Array
    moments: Array | None = field(default=None, kw_only=True)


def polyhedral_impulses(solution: LCPSolution, start: int, m: int, facets: Array, scale: float) -> Array:
    """Impulses (m, 3) along the frames from the rows F_n, beta_1 .. beta_nf of each contact, from row `start` on."""
    width = len(facets) + 1
    rows = solution.z[start : start + m * width].reshape(m, width) * scale
    return np.column_stack([rows[:, 0], rows[:, 1:] @ facets])


def _links(values: Any, m: int, model: Model, name: str) -> IntArray:
    links = np.array(values)
    if links.size == 0:
        links = np.zeros((0, 2), dtype=np.int64)
    if links.shape != (m, 2) or links.dtype.kind not in "iu":
        raise ArgumentError(f"{name}: expected whole numbers of shape ({m}, 2), got {links.dtype} {links.shape}")
    if links.size and not (-1 <= links.min() and links.max() < model.nv):
        raise ArgumentError(f"{name}: expected links from -1 to {model.nv - 1}, got {links.min()} to {links.max()}")
    return np.ascontiguousarray(links, dtype=np.int64)


def _kinds(values: Any, links: IntArray, model: Model) -> IntArray:
    kinds = np.zeros(len(links), dtype=np.int64) if values is None else np.array(values)
    if kinds.size == 0:
        kinds = np.zeros(0, dtype=np.int64)
    if kinds.shape != (len(links),) or kinds.dtype.kind not in "iu" or not np.isin(kinds, (CONTACT, STOP, DRY)).all():
        raise ArgumentError(f"kinds: expected {len(links)} numbers 0, 1 or 2, got {values!r}")
    joined = links[kinds != CONTACT]
    if (joined[:, 0] < 0).any() or (model.tree[joined[:, 0], PARENT] != joined[:, 1]).any():
        raise ArgumentError("kinds: a stop or dry friction of a joint acts between a link and its parent")
    return np.ascontiguousarray(kinds, dtype=np.int64)


def _sides(values: Any, m: int) -> IntArray:
    sides = np.zeros(m, dtype=np.int64) if values is None else np.array(values)
    if sides.size == 0:
        sides = np.zeros(0, dtype=np.int64)
    if sides.shape != (m,) or sides.dtype.kind not in "iu" or (sides < 0).any() or (sides % 2).any():
        raise ArgumentError(f"sides: expected {m} even numbers of directions, 0 for the round cone, got {values!r}")
    return np.ascontiguousarray(sides, dtype=np.int64)


def _terms(values: Any, rows: int, model: Model) -> IntArray:
    terms = np.zeros((0, TERM_INTS), dtype=np.int64) if values is None else np.array(values)
    if terms.ndim != 2 or terms.shape[1] != TERM_INTS or terms.dtype.kind not in "iu":
        raise ArgumentError(f"loop_ints: expected whole numbers of shape (any, 3), got {terms.dtype} {terms.shape}")
    _links(terms[:, TERM_A:], len(terms), model, "loop_ints")
    if sorted(set(terms[:, TERM_ROW].tolist())) != list(range(rows)):
        raise ArgumentError(f"loop_ints: every one of the {rows} rows of loop_targets needs a term, and no other row")
    return np.ascontiguousarray(terms, dtype=np.int64)
