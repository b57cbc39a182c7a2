"""Constraint embedding: closed mechanisms at the cost of trees, where loops are local.

The links of a loop become one body of variable geometry (`aggregates.py`), and the articulated-body
recursion runs on the tree of these (`embedded_sweeps.py`): O(N) where loops stay small, and without
multipliers. `constrained_dynamics` has the multipliers, at O(N) for every row.
"""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, Vec3, array, not_finite, scalar, vector
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import cross, dot, minus, plus, put3, vec3
from spatialops.dynamics.blocks import gyroscopic_forces, joint_axes, link_inertias
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.dynamics.loops.aggregates import Aggregates, aggregates
from spatialops.dynamics.loops.closure_factors import LoopsLike, checked_loops, present
from spatialops.dynamics.loops.constrained_dynamics import prescribed_accelerations
from spatialops.dynamics.loops.embedded_sweeps import ALL_REGULAR, sweep
from spatialops.dynamics.loops.embedded_tables import Freedom, Placed, Room
from spatialops.dynamics.loops.rows import closure_accelerations
from spatialops.dynamics.loops.terms import put_terms
from spatialops.errors import ModelError
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model, not_a_model

_RANK = 1e-8  # of the largest singular value: rows beyond are redundant


class ConstraintEmbedding:
    """A closed mechanism as the tree of its aggregates.

    Every closure's links, up to the one that carries both its ends, are aggregated into one body of
    variable geometry; closures with links in common share one. Made once for a model, used at any
    coordinates.

    Parameters
    ----------
    model : Model
        The tree.
    loops : Loops, Loop or sequence of Loop
        Its closures.

    Attributes
    ----------
    bodies : tuple of tuple of str
        Bodies of every aggregate that a closure ties.

    Raises
    ------
    ArgumentError, ModelError
        For closures that do not fit the model.

    References
    ----------
    A. Jain, Multibody graph transformations and analysis, part II: closed-chain constraint
    embedding, Nonlinear Dynamics 67 (2012).

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> bar = so.models.four_bar()
    >>> embedding = so.ConstraintEmbedding(bar.model, bar.loops)
    >>> embedding.bodies
    (('crank', 'rocker', 'coupler'),)
    >>> still = np.zeros(3)
    >>> a = embedding.forward_dynamics(bar.state.q, still, still)
    >>> beside = so.constrained_dynamics(bar.model, bar.loops, bar.state.q, still, still)
    >>> np.allclose(a, beside.accelerations)
    True
    """

    def __init__(self, model: Model, loops: LoopsLike) -> None:
        if type(model) is not Model:
            raise not_a_model(model)
        self.model = model
        self._loops = checked_loops(model, loops)
        self._groups = aggregates(self._loops)
        of_row = self._groups.of_row
        order = np.argsort(of_row, kind="stable")
        tied, firsts = np.unique(of_row[order], return_index=True)
        parts = np.split(order, firsts[1:])  # an empty one where there are no closures
        self._rows = dict(zip(tied.tolist(), parts, strict=False))

    def __repr__(self) -> str:
        return f"ConstraintEmbedding({len(self._groups.parents)} aggregates, {self._loops!r})"

    @property
    def bodies(self) -> tuple[tuple[str, ...], ...]:
        """Bodies of every aggregate that a closure ties."""
        of_link = self.model.tree[:, layout.BODY]
        return tuple(
            tuple(self.model.body_names[b] for b in of_link[self._links(g)] if b >= 0)
            for g in self._rows
        )

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external: ArrayLike | None = None,
        *,
        t: float = 0.0,
    ) -> Array:
        """Accelerations of the closed mechanism, as `constrained_dynamics` has them.

        Parameters
        ----------
        q : (nq,) array_like
            Closed coordinates (see `close_loops`).
        v : (nv,) array_like
            With G v = U(t); not checked.
        tau : (nv,) array_like
            Generalised forces, N or N m.
        external : (n_bodies, 6) array_like, optional
            Wrench [moment (N m); force (N)] on each body at its origin, in world axes; default:
            none.
        t : float
            Time for prescribed rates, s. Default: 0.

        Returns
        -------
        (nv,) array
            Time derivatives of v.

        Raises
        ------
        ArgumentError
            For wrong shapes, NaN or infinity.
        ModelError
            Where joints can move, as far as closures let them, and nothing has inertia.

        Examples
        --------
        >>> import numpy as np, spatialops as so
        >>> bar = so.models.four_bar()
        >>> embedding = so.ConstraintEmbedding(bar.model, bar.loops)
        >>> a = embedding.forward_dynamics(bar.state.q, np.zeros(3), np.zeros(3))
        >>> np.allclose(so.loop_jacobian(bar.model, bar.loops, bar.state.q) @ a, 0.0)
        True
        """
        model, n = self.model, self.model.nv
        q = vector(q, model.nq, "q")
        v = vector(v, n, "v")
        tau = vector(tau, n, "tau")
        t = scalar(t, "t")
        work = np.zeros((n, layout.WORK_COLUMNS))
        placed = poses_kernel(model.tree, model.links, q, work) == layout.OK
        if not placed or not np.isfinite(v).all() or not np.isfinite(tau).all():
            raise not_finite(q=q, v=v, tau=tau)
        velocities_kernel(model.tree, model.links, v, work)
        inertias = link_inertias(model.links, work)
        forces = gyroscopic_forces(inertias, work)
        if external is not None:
            forces[model.body_links] -= array(
                external, (model.n_bodies, 6), "external", finite=True
            )
        alpha = work[:, layout.ALPHA : layout.ALPHA + 6].copy()
        links = Placed(
            model.tree[:, layout.PARENT].copy(),
            joint_axes(model.tree, model.links, work),
            work[:, layout.LEVER : layout.LEVER + 3].copy(),
            model.links[:, layout.ARMATURE].copy(),
        )
        g = model.gravity
        base = (-g[0], -g[1], -g[2])
        free = self._freedom(present(self._loops, q, t), links, base, work, t)
        a, P = np.empty(n), inertias.reshape(6 * n, 6)
        room = _room(n, free.basis.shape[1])
        bad = sweep(self._groups, links, free, P, forces, tau, alpha, base, room, a)
        if bad != ALL_REGULAR:
            names = sorted({model.joint_of_link(int(k)) for k in self._links(bad)})
            raise ModelError(
                f"joints {', '.join(map(repr, names))}: nothing to move as far as closures let "
                "them move (singular mass matrix)"
            )
        return a

    def _links(self, g: int) -> IntArray:
        return self._groups.members[self._groups.starts[g] : self._groups.starts[g + 1]]

    def _freedom(self, loops: Loops, links: Placed, base: Vec3, work: Array, t: float) -> Freedom:
        """What the closures leave, aggregate by aggregate: null space, least particular answer."""
        groups, n = self._groups, self.model.nv
        terms, bias = loops.empty_terms(), np.empty(loops.n_rows)
        put_terms(
            self.model.tree, loops.ints, loops.floats, loops.ratios, loops.term_ints, work, terms
        )
        add_motion(links, base, work)
        at = loops.ints, loops.floats, loops.term_ints, terms
        closure_accelerations(*at, base, work, bias)
        demanded = prescribed_accelerations(loops, t) - bias
        columns = np.zeros((n, int(groups.own_row.max(initial=-1)) + 1))
        put_columns(groups, links, loops.term_ints, terms, work, columns)
        if not np.isfinite(columns).all() or not np.isfinite(demanded).all():
            raise not_finite()
        sizes, gamma = np.ones(len(groups.parents), dtype=np.int64), np.zeros(n)
        bases = {}
        for g, rows in self._rows.items():
            own = self._links(g)
            left, sizes_of, right = np.linalg.svd(columns[own, : len(rows)].T)
            rank = int((sizes_of > _RANK * sizes_of.max(initial=0.0)).sum())
            bases[g] = right[rank:].T
            sizes[g] = len(own) - rank
            gamma[own] = right[:rank].T @ (left.T[:rank] @ demanded[rows] / sizes_of[:rank])
        basis = np.zeros((n, max(1, int(sizes.max()))))
        basis[:, 0] = 1.0
        for g, N in bases.items():
            basis[self._links(g)] = 0.0
            basis[self._links(g), : sizes[g]] = N
        return Freedom(sizes, basis, gamma)


def _room(n: int, width: int) -> Room:
    H, U, Phi, gains = (np.empty((n * width, 6)) for _ in range(4))
    D, shift = np.empty((width, width)), np.empty((6, 6))
    return Room(np.empty((n, 3)), H, U, Phi, gains, np.empty((n, width)), D, shift)


@kernel
def add_motion(links: Placed, base: Vec3, work: Array) -> None:
    """Accelerations of all links while the joints' are zero, from those less the parents'."""
    for k in range(links.up.size):
        up = links.up[k]
        accel = plus(vec3(work, k, layout.ACCEL), base)
        if up >= 0:
            turn, lever = vec3(work, up, layout.ALPHA), vec3(links.levers, k, 0)
            carried = plus(vec3(work, up, layout.ACCEL), cross(turn, lever))
            accel = plus(vec3(work, k, layout.ACCEL), carried)
            put3(work, k, layout.ALPHA, plus(vec3(work, k, layout.ALPHA), turn))
        put3(work, k, layout.ACCEL, accel)


@kernel
def put_columns(
    groups: Aggregates, links: Placed, term_ints: IntArray, terms: Array, work: Array, out: Array
) -> None:
    """Add to out (n, rows), zeros: what each link does to the closure rows of its aggregate."""
    for n in range(term_ints.shape[0]):
        row = term_ints[n, layout.TERM_ROW]
        outside, own = groups.parents[groups.of_row[row]], groups.own_row[row]
        point = vec3(terms, n, layout.TERM_POINT)
        angular, linear = vec3(terms, n, layout.TERM_ANGULAR), vec3(terms, n, layout.TERM_LINEAR)
        for side in range(2):
            k = term_ints[n, layout.TERM_A + side]
            sign = 1.0 - 2.0 * side
            while k > outside:
                turn = vec3(links.axes, k, 0)
                arm = minus(point, vec3(work, k, layout.ORIGIN))
                slide = plus(vec3(links.axes, k, 3), cross(turn, arm))
                out[k, own] += sign * (dot(angular, turn) + dot(linear, slide))
                k = links.up[k]
