"""Closing a mechanism: closures drawn at a configuration, and configurations they allow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from spatialops._arrays import NOTHING, Array, ArrayLike, AxisLike, array, scalar, several, vector
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.dynamics.jacobian import body_poses
from spatialops.dynamics.kinematics import velocities_kernel
from spatialops.dynamics.loops.closure_factors import LoopsLike, Span, checked_loops, present
from spatialops.dynamics.loops.elimination import TOLERANCE
from spatialops.dynamics.loops.rows import closure_jacobian, closure_velocities
from spatialops.errors import ArgumentError, ModelError
from spatialops.tree.loop import Loop, LoopKind
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model, not_a_model
from spatialops.tree.state import integrate

Least = Callable[[Span, Array, float], Array]

_RATE = 1e-9  # of the largest rate: closures that miss theirs by more contradict each other
_OPEN = 0.1  # of the largest error: the rows that a refusal names
_INDEPENDENT = 1e-4  # the most that rows must differ by far from closed configurations
_STEPS = 60
_HALVINGS = 12


def loop_at(
    model: Model,
    q: ArrayLike,
    kind: LoopKind,
    a: str | int,
    b: str | int = "world",
    *,
    point: ArrayLike,
    axis: AxisLike = "z",
    **options: Any,
) -> Loop:
    """The closure that is closed at q, with its frames at a world point and its axis along one.

    Parameters
    ----------
    model : Model
        The tree.
    q : (nq,) array_like
        Coordinates, rad and m.
    kind : {"ball", "weld", "revolute", "prismatic"}
        What it holds, as for `Loop`.
    a : str or int
        Body A, by name or index.
    b : str or int
        Body B; default: "world".
    point : (3,) array_like
        Where its frames are, m, world axes.
    axis : (3,) array_like or {"x", "y", "z"}
        Of a revolute or prismatic closure, world axes; default: "z".
    **options : object
        The name and the rate, as for `Loop`.

    Returns
    -------
    Loop
        Closed at q.

    Raises
    ------
    ArgumentError, ModelError
        For a wrong shape, NaN, infinity or an unknown body; as `Loop`.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, q = so.models.pendulum(2).model, [0.3, -0.2]
    >>> tip = so.node_positions(model, q, [so.Node("link2", (0.0, 0.0, -1.0))])[0]
    >>> loop = so.loop_at(model, q, "ball", "link2", point=tip)
    >>> bool(np.abs(so.loop_errors(model, loop, q)).max() < 1e-12)
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    q = vector(q, model.nq, "q")
    place = array(point, (3,), "point", finite=True)
    poses = body_poses(model, q)
    sides: dict[str, Any] = {}
    for side, body in (("a", a), ("b", b)):
        frame = (
            model.frame(body)
            if isinstance(body, str)
            else model.frame(model.body_names[model.body_index(body)])
        )
        turn = np.eye(3) if frame.body < 0 else poses.rotations[frame.body]
        origin = np.zeros(3) if frame.body < 0 else poses.positions[frame.body]
        rotation, position = turn @ frame.rotation, origin + turn @ frame.position
        sides[f"position_{side}"] = rotation.T @ (place - position)
        sides[f"rotation_{side}"] = rotation.T
    return Loop(kind=kind, a=a, b=b, axis=axis, **sides, **options)


@overload
def close_loops(
    model: Model,
    loops: LoopsLike,
    q: ArrayLike,
    v: None = None,
    *,
    hold: Sequence[str] = (),
    t: float = 0.0,
    tolerance: float = 1e-12,
) -> Array: ...


@overload
def close_loops(
    model: Model,
    loops: LoopsLike,
    q: ArrayLike,
    v: ArrayLike,
    *,
    hold: Sequence[str] = (),
    t: float = 0.0,
    tolerance: float = 1e-12,
) -> tuple[Array, Array]: ...


def close_loops(
    model: Model,
    loops: LoopsLike,
    q: ArrayLike,
    v: ArrayLike | None = None,
    *,
    hold: Sequence[str] = (),
    t: float = 0.0,
    tolerance: float = 1e-12,
) -> Array | tuple[Array, Array]:
    """Coordinates near q that close the loops, and velocities near v that keep them closed.

    Newton steps, each the least motion in the metric of M (where that leads nowhere: the least
    change of coordinates), halved while they do not help. A driven closure stands where it is in
    the directions (linear, angular) in which it has a rate: only velocities are to fit it there.

    Parameters
    ----------
    model : Model
        The tree.
    loops : Loops, Loop or sequence of Loop
        Its closures.
    q : (nq,) array_like
        Coordinates to start from, rad and m.
    v : (nv,) array_like, optional
        Velocities to start from, rad/s and m/s; default: none are wanted.
    hold : sequence of str
        Joints of one degree of freedom whose coordinate (and velocity) is kept; default: none.
    t : float
        Time for prescribed rates, s; default: 0.
    tolerance : float
        Error that every row must reach, m and rad; default: 1e-12, near the limit of rounding for
        mechanisms some metres across.

    Returns
    -------
    (nq,) array, or two arrays (nq,) and (nv,)
        The second where `v` is given.

    Raises
    ------
    ModelError
        If no closed configuration is found from there; it says which closures stay open.
    ArgumentError
        For a wrong shape, NaN or infinity.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> four_bar = so.models.four_bar()
    >>> q = so.close_loops(four_bar.model, four_bar.loops, four_bar.state.q + 0.1, hold=["crank"])
    >>> bool(np.abs(so.loop_errors(four_bar.model, four_bar.loops, q)).max() < 1e-12)
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    given, q = checked_loops(model, loops), vector(q, model.nq, "q").copy()
    hold = several(hold, "hold", "names of joints")
    if not all(isinstance(joint, str) for joint in hold):
        raise ArgumentError(f"hold: expected names of joints, got {hold}")
    kept = [
        Loop(kind="coupler", joints={j: 1.0}, offset=q[model.q_slice(j)][0], name=f"hold {j}")
        for j in hold
    ]
    span = Span(model, present(Loops(model, [*given.items, *kept]), q, t))
    q = newton(span, q, scalar(tolerance, "tolerance", low=0.0, strict=True))
    if v is None:
        return q
    v, rates = vector(v, model.nv, "v").copy(), np.empty(span.loops.n_rows)
    wanted = np.concatenate([given.rates(t), *(v[model.v_slice(j)] for j in hold)])
    for _ in range(2):  # the second takes away what rounding of the first left
        span.place(q)
        velocities_kernel(model.tree, model.links, v, span.work)
        closure_velocities(span.loops.term_ints, span.terms, span.work, rates)
        factor_kernel(model.tree, model.links, span.work)
        span.factor()
        v += span.answer(wanted - rates)[0]
    worst = float(np.abs(wanted - rates).max(initial=0.0))
    if worst > _RATE * (1.0 + float(np.abs(wanted).max(initial=0.0))):
        name = span.loops.row_names[int(np.abs(wanted - rates).argmax())]
        raise ModelError(
            f"loops: no velocities fit: {name} misses its rate by {worst:.2e} (m/s or rad/s)"
        )
    return q, v


def newton(span: Span, q: Array, tolerance: float) -> Array:
    """Closed coordinates near q, which is left alone; ModelError where there are none."""
    # The least motion of a long light chain is a wild one of its tip: where it leads nowhere, share
    # the change out.
    for least in (_least_motion, _least_change):
        closed, errors = _descend(span, q, tolerance, least)
        if np.abs(errors).max(initial=0.0) <= tolerance:
            return closed
    worst = sorted(
        {
            span.loops.row_names[i]
            for i in np.flatnonzero(np.abs(errors) > _OPEN * np.abs(errors).max())
        }
    )
    raise ModelError(
        f"loops: cannot be closed from there: {', '.join(worst[:4])} stay open by "
        f"{np.abs(errors).max():.2e} m or rad; "
        "start nearer to a closed configuration, or check lengths"
    )


def _descend(span: Span, q: Array, tolerance: float, least: Least) -> tuple[Array, Array]:
    """Newton steps, halved while errors do not fall: where they end, and the errors there."""
    span.place(q)
    errors = span.errors(q)
    for _ in range(_STEPS):
        size = float(np.abs(errors).max(initial=0.0))
        if size <= tolerance:
            break
        # Off the closed configurations by e, rows that are redundant there look independent by
        # about e.
        step = least(span, -errors, min(max(TOLERANCE, size), _INDEPENDENT))
        step *= min(
            1.0, 1.0 / max(float(np.abs(step).max()), NOTHING)
        )  # by no more than a radian or a metre
        for _ in range(_HALVINGS):
            ahead = integrate(span.model, q, step)
            span.place(ahead)
            tried = span.errors(ahead)
            if np.linalg.norm(tried) < np.linalg.norm(errors):
                break
            step *= 0.5
        else:
            break
        q, errors = ahead, tried
    return q, errors


def _least_motion(span: Span, u: Array, tolerance: float) -> Array:
    """The shortest dq with G dq = u in the metric of M."""
    factor_kernel(span.model.tree, span.model.links, span.work)
    span.factor(tolerance)
    return span.answer(u)[0]


def _least_change(span: Span, u: Array, tolerance: float) -> Array:
    """The shortest dq with G dq = u as plain numbers."""
    G = np.empty((u.size, span.model.nv))
    closure_jacobian(
        span.model.tree, span.model.links, span.work, span.loops.term_ints, span.terms, G
    )
    return np.linalg.lstsq(G, u, rcond=tolerance)[0].astype(np.float64)
