"""The contact problem that every formulation starts from, and that can be stored and replayed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias, TypeVar, get_args

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, BoolArray, IntArray, array, is_one_of, vector
from spatialops._files import load_arrays, save_arrays
from spatialops.contact.constraint_rows import contact_terms, moment_terms
from spatialops.contact.lcp.problem import LCPSolution
from spatialops.contact.long_branches import LONG, compliance_by_nodes
from spatialops.contact.maximal import MaximalProblem, maximal_problem
from spatialops.contact.problem_checks import ZERO_BY_DEFAULT, Fields, checked_fields
from spatialops.dynamics.articulated_body import factor_kernel, singular_joint
from spatialops.dynamics.compliance.along_rows import (
    compliance_along_rows,
    nodes_of_rows,
    velocities_after,
)
from spatialops.dynamics.loops.rows import (
    closure_jacobian,
    closure_rows,
    closure_velocities,
)
from spatialops.dynamics.maximal import placed
from spatialops.dynamics.response import velocities_from
from spatialops.errors import ArgumentError, AssetError, SpatialOpsError
from spatialops.tree.model import Model

Result = TypeVar("Result")
Phase: TypeAlias = Literal["contact", "compression", "decompression"]

PHASES = get_args(Phase)
_OF_CONTACTS = (
    "links",
    "points",
    "frames",
    "friction",
    "drift",
    "kinds",
    "polygon_sides",
    *ZERO_BY_DEFAULT,
)
# Not in the first files.
_LATER = (
    "kinds",
    "dry",
    "viscous",
    "polygon_sides",
    "torsion",
    "rolling",
    "gaps",
    "drift",
    "duration",
    "remaining",
)
_ABSENT: Any = None  # the default of a field that is an array once it is checked


class Response(NamedTuple):
    """How rows answer impulses.

    Parameters
    ----------
    work : array
        The workspace with articulated factors.
    L : (n_b + 3 m, nv) array
        G M^-1 G^T = L L^T.
    """

    work: Array
    L: Array


@dataclass(frozen=True, eq=False)
class ContactProblem:
    """Contacts and loop closures of one instant or one step.

    Find impulses p, those of contacts in their friction cones, so that the velocity v+ = v + M^-1
    G^T p satisfies unilateral contact and friction, and G_b v+ = targets for the closures. Rows
    stand in the order closures, then normal, tangent, tangent of each contact. Arguments may be
    anything that makes such arrays; absent ones become arrays of zeros.

    Parameters
    ----------
    model : Model
        The mechanism, a tree.
    q : (nq,) array
        Configuration at which everything is evaluated.
    velocity : (nv,) array
        v: joint velocities without the impulses that are sought (for a step: the free ones at its
        end).
    links : (m, 2) int array
        Kernel links A and B of the contacts (`model.body_links[body]`), -1 for the world; the
        normal points to A.
    points : (m, 3) array
        World positions, m.
    frames : (m, 3, 3) array
        Rows normal, tangent, tangent in world axes, orthonormal.
    friction : (m,) array
        Coefficients mu. Infinite: the contact does not slip while it presses (for the laws that say
        so).
    gap_bias : (m,) array, optional
        Added to the normal velocities, m/s: a positive gap divided by the step.
    prior_normal_impulse : (m,) array, optional
        Normal impulse that already presses (decompression), N s.
    phase : {"contact", "compression", "decompression"}, optional
        What the problem is: of a step, the default, or a half of an impact.
    loop_ints : (t, 3) int array, optional
        Terms of the closures' rows, and
    loop_terms : (t, 9) array, optional
        their numbers: see TERM_* in `_layout`.
    loop_targets : (n_b,) array, optional
        Velocities of the closures' rows, m/s or rad/s.
    kinds : (m,) int array, optional
        What each is: 0 a contact of bodies; 1 the stop of a joint, whose normal is the axis, to the
        side that is free; 2 the dry friction of a joint, whose first tangent is the axis. Those of
        joints join the joint's link A to its parent B, and their rows are rates of the joint (rad/s
        or m/s; impulses N m s or N s); other rows are zero.
    dry : (m,) array, optional
        Friction impulse that needs no normal one, N s or N m s: friction is at most mu (p_n +
        prior) + dry.
    viscous : (m,) array, optional
        Viscous friction beside the dry one: impulse over slip, N s per m/s. (A coefficient times
        the duration.)
    polygon_sides : (m,) int array, optional
        Directions of the friction polyhedron of each contact, even; 0 for the round cone. For the
        law that has both, `Pairwise`; others have what they have.
    torsion, rolling : (m,) array, optional
        Coefficients of torsional and of rolling friction, m: moments about the normal and about the
        tangents are at most these times the normal force.
    gaps : (m,) array, optional
        Gaps where everything is evaluated, m; `gap_bias` has the positive ones. For laws whose
        forces depend on them.
    drift : (m, 3) array, optional
        Added to the velocities along the frames, m/s: what motion alone changes until the end of
        the step.
    duration : float, optional
        Time in which impulses act, s; 0, the default, in impacts.
    remaining : float, optional
        Part of it in which gaps change yet, s. Default: 0.

    Raises
    ------
    ArgumentError
        For wrong shapes, NaN, frames that are not orthonormal, negative friction or links that do
        not exist.

    Examples
    --------
    A pendulum's tip on the ground, which it meets at 1 m/s:

    >>> import numpy as np
    >>> from spatialops.contact import ContactProblem, Coulomb
    >>> from spatialops.models import pendulum
    >>> model = pendulum(1).model
    >>> q, tip, frame = [np.pi / 2.0], [[1.0, 0.0, 0.0]], [[[0, 0, 1], [1, 0, 0], [0, 1, 0]]]
    >>> problem = ContactProblem(model, q, [1.0], [[0, -1]], tip, frame, [0.5])
    >>> problem.n_contacts, problem.jacobian.shape
    (1, (3, 1))
    """

    model: Model
    q: Array
    velocity: Array
    links: IntArray
    points: Array
    frames: Array
    friction: Array
    gap_bias: Array = _ABSENT
    prior_normal_impulse: Array = _ABSENT
    phase: Phase = "contact"
    loop_ints: IntArray = field(default=_ABSENT, repr=False)
    loop_terms: Array = field(default=_ABSENT, repr=False)
    loop_targets: Array = _ABSENT
    kinds: IntArray = _ABSENT
    dry: Array = _ABSENT
    viscous: Array = _ABSENT
    polygon_sides: IntArray = _ABSENT
    torsion: Array = _ABSENT
    rolling: Array = _ABSENT
    gaps: Array = _ABSENT
    drift: Array = _ABSENT
    duration: float = 0.0
    remaining: float = 0.0

    if TYPE_CHECKING:  # array-like in, arrays out

        def __init__(
            self,
            model: Model,
            q: ArrayLike,
            velocity: ArrayLike,
            links: ArrayLike,
            points: ArrayLike,
            frames: ArrayLike,
            friction: ArrayLike,
            gap_bias: ArrayLike | None = None,
            prior_normal_impulse: ArrayLike | None = None,
            phase: Phase = "contact",
            loop_ints: ArrayLike | None = None,
            loop_terms: ArrayLike | None = None,
            loop_targets: ArrayLike | None = None,
            kinds: ArrayLike | None = None,
            dry: ArrayLike | None = None,
            viscous: ArrayLike | None = None,
            polygon_sides: ArrayLike | None = None,
            torsion: ArrayLike | None = None,
            rolling: ArrayLike | None = None,
            gaps: ArrayLike | None = None,
            drift: ArrayLike | None = None,
            duration: float = 0.0,
            remaining: float = 0.0,
        ) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.model, Model):
            raise ArgumentError(f"model: expected a Model, got {type(self.model).__name__}")
        if not is_one_of(self.phase, PHASES):
            raise ArgumentError(f"phase: expected one of {', '.join(PHASES)}, got {self.phase!r}")
        given: Fields = {item.name: getattr(self, item.name) for item in fields(self)}
        for name, value in checked_fields(given, self.model).items():
            object.__setattr__(self, name, value)

    @classmethod
    def of_checked(cls, fields_: Fields) -> Self:
        """A problem of fields that need no check, all of them: the loop's own, or another's.

        Parameters
        ----------
        fields_ : dict of str to object
            By name; arrays in C order of the right shapes, which are not copied.

        Returns
        -------
        ContactProblem
            The problem.
        """
        made = object.__new__(cls)
        made.__dict__.update(fields_)
        return made

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
        """Rows (3 m, nv) of the contacts' spins, angular velocity of A against B in the frames."""
        G = np.empty((3 * self.n_contacts, self.model.nv))
        closure_jacobian(self.model.tree, self.model.links, self._placed, *self.spin_terms, G)
        return G

    @cached_property
    def spin_response(self) -> Array:
        """Rows (3 m, nv) of L of the contacts' spins, as in `response`."""
        L = np.empty((3 * self.n_contacts, self.model.nv))
        closure_rows(
            self.model.tree, self.model.links, self.response.work, *self.spin_terms, (0, 0), L
        )
        return L

    def part(self, chosen: BoolArray | IntArray | slice) -> ContactProblem:
        """The same step with some of its contacts only.

        Parameters
        ----------
        chosen : (m,) bool array, int array or slice
            A mask, or indices, which may repeat.

        Returns
        -------
        ContactProblem
            With the same closures.
        """
        return replace(self, **{name: getattr(self, name)[chosen] for name in _OF_CONTACTS})

    @cached_property
    def has_joints(self) -> bool:
        """Whether there are stops or dry friction of joints among the contacts."""
        return bool(self.kinds.any())

    @cached_property
    def terms(self) -> tuple[IntArray, Array]:
        """Terms of all rows, those of the closures first."""
        ints, terms = contact_terms(
            self.links, self.points, self.frames, self.n_loop_rows, self.kinds, self.model.tree
        )
        if not self.n_loop_rows:
            return ints, terms
        return np.concatenate([self.loop_ints, ints]), np.concatenate([self.loop_terms, terms])

    @cached_property
    def jacobian(self) -> Array:
        """G (n_b + 3 m, nv): velocities of the rows are G v."""
        G = np.empty((self.n_loop_rows + 3 * self.n_contacts, self.model.nv))
        closure_jacobian(self.model.tree, self.model.links, self._placed, *self.terms, G)
        return G

    @cached_property
    def response(self) -> Response:
        """The rows' response to impulses in O(N) a row, from the articulated-body factors.

        Raises
        ------
        ModelError
            If the mass matrix is singular here.
        """
        model, work = self.model, self._factors
        L = np.empty((self.n_loop_rows + 3 * self.n_contacts, model.nv))
        closure_rows(model.tree, model.links, work, *self.terms, (0, 0), L)
        return Response(work, L)

    @cached_property
    def _placed(self) -> Array:
        """The workspace with poses and the velocities without impulses."""
        return placed(self.model, self.q, self.velocity)

    @cached_property
    def _factors(self) -> Array:
        """The same workspace, with articulated factors."""
        model, work = self.model, self._placed
        if factor_kernel(model.tree, model.links, work) != layout.OK:
            raise singular_joint(model, work)
        return work

    @cached_property
    def _nodes(self) -> IntArray | None:
        """The links that rows push, where W is cheaper by Lambda of these than by rows of L.

        Closures, and rows of joints, are of links next to each other, whose entries of Lambda
        would cancel.
        """
        if self.n_loop_rows or self.has_joints:
            return None
        return nodes_of_rows(self.model, self.terms[0])

    @cached_property
    def compliance(self) -> Array:
        """G M^-1 G^T (n_b + 3 m square), 1/kg and the like.

        As L L^T, or by [J] 50 where there are many rows on long branches.
        """
        plain = not self.n_loop_rows and not self.has_joints
        if plain and self.model.nv >= LONG and "_nodes" not in self.__dict__:
            W = compliance_by_nodes(self)
            if W is not None:
                return W
        if self._nodes is not None:
            rows = self._nodes, *self.terms
            return compliance_along_rows(self.model, self.q, self._placed, *rows)
        L = self.response.L
        return L @ L.T

    @cached_property
    def velocities(self) -> Array:
        """Velocities (n_b + 3 m,) without impulses, less targets, contacts' with their bias."""
        n_b, u = self.n_loop_rows, self._along_rows(self.velocity)
        u[:n_b] -= self.loop_targets
        u[n_b:] += self.bias.ravel()
        return u

    def _along_rows(self, velocity: Array) -> Array:
        """G v."""
        if self.has_joints:  # of inner links of a joint, whose velocities nobody keeps
            return np.asarray(self.jacobian @ velocity, dtype=np.float64)
        u = np.empty(self.n_loop_rows + 3 * self.n_contacts)
        same = velocity is self.velocity
        work = self._placed if same else placed(self.model, self.q, velocity)
        closure_velocities(*self.terms, work, u)
        return u

    @cached_property
    def bias(self) -> Array:
        """What is added to the contacts' velocities, (m, 3): `drift`, and `gap_bias` to normals."""
        made: Array = self.drift.copy()
        made[:, 0] += self.gap_bias
        return made

    @cached_property
    def maximal(self) -> MaximalProblem:
        """The same problem in maximal coordinates."""
        counts = self.n_loop_rows, 3 * self.n_contacts
        return maximal_problem(self.model, self.q, self.velocity, self.terms, counts)

    def once(self, make: Callable[[ContactProblem], Result]) -> Result:
        """What a function makes of this problem: made at the first call, and kept with it.

        Parameters
        ----------
        make : callable
            Of this problem; it is its own name.

        Returns
        -------
        object
            `make(self)`.
        """
        kept = self.__dict__.setdefault("_kept", {})
        if make not in kept:
            kept[make] = make(self)
        result: Result = kept[make]
        return result

    def forget(self) -> None:
        """Drop everything that was computed from the problem; it will be computed again."""
        for name in self.__dict__.keys() - self.__dataclass_fields__.keys():
            del self.__dict__[name]

    def after(self, impulses: ArrayLike, moments: ArrayLike | None = None) -> Array:
        """Joint velocities after impulses on all rows, by one sweep from the base to the tips.

        Parameters
        ----------
        impulses : (n_b + 3 m,) array_like
            Of closures, then along the contacts' frames, N s and N m s.
        moments : (m, 3) array_like, optional
            Impulses of torsional and rolling friction along the contacts' frames, N m s.

        Returns
        -------
        (nv,) array
            v + M^-1 G^T p.

        Raises
        ------
        ArgumentError
            For a wrong shape.
        """
        model = self.model
        impulses = vector(impulses, self.n_loop_rows + 3 * self.n_contacts, "impulses")
        if self._nodes is not None and moments is None:
            dv, factors = np.zeros(model.nv), self._factors
            velocities_after(model.tree, model.links, factors, *self.terms, impulses, dv)
            return np.asarray(self.velocity + dv, dtype=np.float64)
        work, L = self.response
        if moments is not None:
            L = np.concatenate([L, self.spin_response])
            spins = array(moments, (self.n_contacts, 3), "moments")
            impulses = np.concatenate([impulses, spins.ravel()])
        dv = L.T @ impulses
        velocities_from(model.tree, model.links, work, dv)
        result: Array = self.velocity + dv
        return result

    def slip(self, velocity: ArrayLike) -> Array:
        """Sliding speeds of the contacts.

        Parameters
        ----------
        velocity : (nv,) array_like
            Joint velocities.

        Returns
        -------
        (m,) array
            m/s.

        Raises
        ------
        ArgumentError
            For a wrong shape.
        """
        v = vector(velocity, self.model.nv, "velocity")
        u = self._along_rows(v)[self.n_loop_rows :].reshape(-1, 3) + self.drift
        result: Array = np.hypot(u[:, 1], u[:, 2])
        return result

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the problem, its model included, to one .npz file, whole or not at all.

        Parameters
        ----------
        path : path-like
            Where; missing folders are made.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        AssetError
            If it cannot be written.
        """
        own = {
            item.name: np.asarray(getattr(self, item.name))
            for item in fields(self)
            if item.name != "model"
        }
        return save_arrays(
            path, own | {f"model.{key}": np.asarray(v) for key, v in self.model.to_arrays().items()}
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ContactProblem:
        """Read a problem that `save` wrote.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        ContactProblem
            The same to the last bit.

        Raises
        ------
        AssetError
            If the file is missing or not such a problem.
        """
        data = load_arrays(path, "contact problem")
        if "header" in data:
            raise AssetError(
                f"{path}: not a stored contact problem, but the record of a run, which "
                "`spatialops plot` and `replay` show; error.problem.save(path) keeps the problem "
                "of a SolverFailed"
            )
        try:
            model = Model.from_arrays(
                {key[6:]: value for key, value in data.items() if key.startswith("model.")}
            )
            names = [item.name for item in fields(cls) if item.name != "model"]
            own: Fields = {name: data[name] for name in names if name in data or name not in _LATER}
            return cls(model, **{**own, "phase": str(own["phase"])})
        except (SpatialOpsError, ValueError, TypeError, LookupError) as error:
            raise AssetError(f"{path}: not a stored contact problem: {error}") from error


@dataclass(frozen=True, eq=False)
class ContactSolution:
    """What a formulation makes of a solution.

    Parameters
    ----------
    velocity : (nv,) array
        Joint velocities after the impulses.
    impulses : (m, 3) array
        On A along the contacts' frames, N s (without `prior_normal_impulse`).
    loop_impulses : (n_b,) array
        Of the closures' rows, N s or N m s.
    slip : (m,) array
        Sliding speeds, m/s.
    moments : (m, 3) array, optional
        Impulses of torsional and rolling friction on A along the frames, N m s; None where no
        contact has any.
    """

    velocity: Array
    impulses: Array
    loop_impulses: Array
    slip: Array
    moments: Array | None = field(default=None, kw_only=True)


def polyhedral_impulses(
    solution: LCPSolution, start: int, m: int, facets: Array, scale: float
) -> Array:
    """Impulses (m, 3) along the frames from rows F_n, beta_1 .. beta_nf, from `start` on."""
    width = len(facets) + 1
    rows = solution.z[start : start + m * width].reshape(m, width) * scale
    return np.column_stack([rows[:, 0], rows[:, 1:] @ facets])
