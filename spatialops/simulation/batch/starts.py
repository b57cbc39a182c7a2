"""Where the environments of a batch begin: states as rows of one table, checked."""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, BoolArray, array
from spatialops.errors import ArgumentError
from spatialops.simulation.runs.setup import Setup
from spatialops.tree.model import Model
from spatialops.tree.state import State

_SURELY_UNIT = 1e-13  # error of the square of a quaternion's length that is surely left alone


def start_rows(
    setups: list[Setup], q: ArrayLike | None, v: ArrayLike | None, time: ArrayLike
) -> Array:
    """Rows (n, nq + nv + 1) of q, v and time, one for each setup.

    Parameters
    ----------
    setups : list of n Setup
        Of the simulators that the environments are of.
    q, v : (nq,) or (n, nq), (nv,) or (n, nv) array_like or None
        None: of the scenes' states.
    time : float or (n,) array_like
        s.

    Raises
    ------
    ArgumentError
        As for a state of a run; it says of which environment.
    """
    n, model = len(setups), setups[0].scene.model
    states = [setup.scene.state for setup in setups]
    rows = np.empty((n, model.nq + model.nv + 1))
    nq = model.nq
    _put(rows[:, :nq], q, [state.q for state in states], "q")
    _put(rows[:, nq:-1], v, [state.v for state in states], "v")
    rows[:, -1] = array(time, (None,) * np.ndim(time), "time", finite=True)
    for e in np.flatnonzero(_to_be_checked(setups[0].scene.model, rows, nq)).tolist():
        rows[e, :-1] = _checked(setups[e], rows[e], nq, e)
    for e in np.flatnonzero(_beyond_limits(setups, rows, nq)).tolist():
        _checked(setups[e], rows[e], nq, e)
    return rows


def _put(rows: Array, values: ArrayLike | None, own: list[Array], name: str) -> None:
    """One row for all, or rows, or the own ones of environments."""
    if values is None:
        rows[:] = stacked(own)
    else:
        shape = rows.shape[1:] if np.ndim(values) == 1 else rows.shape
        rows[:] = array(values, shape, name, finite=True)


def stacked(rows: list[Array]) -> Array:
    """Rows of a table, to be read only: of environments of one simulator all are the same array."""
    if len(set(map(id, rows))) == 1:
        return np.broadcast_to(rows[0], (len(rows), *rows[0].shape))
    return np.stack(rows)


def _checked(setup: Setup, row: Array, nq: int, e: int) -> Array:
    try:
        state = setup.checked(State(row[:nq], row[nq:-1], float(row[-1])))
    except ArgumentError as error:
        raise ArgumentError(f"environment {e}: {error}") from error
    return np.concatenate([state.q, state.v])


def _to_be_checked(model: Model, rows: Array, nq: int) -> BoolArray:
    """Where a quaternion is not surely of unit length."""
    doubtful = np.zeros(len(rows), dtype=bool)
    for i in model.quaternions:
        doubtful |= np.abs((rows[:, i : i + 4] ** 2).sum(axis=1) - 1.0) > _SURELY_UNIT
    return doubtful


def _beyond_limits(setups: list[Setup], rows: Array, nq: int) -> BoolArray:
    """Where a joint may be beyond its limits; `Setup.checked` says by how much it may."""
    models = {id(setup): setup.scene.model for setup in setups}
    beyond = np.zeros(len(rows), dtype=bool)
    of = np.array([id(setup) for setup in setups]) if len(models) > 1 else None
    for key, model in models.items():
        limited = np.isfinite(model.lower) | np.isfinite(model.upper)
        if not limited.any():
            continue
        mine = slice(None) if of is None else of == key
        q = rows[mine][:, model.tree[limited, layout.FIRST_Q]]
        beyond[mine] = ((q < model.lower[limited]) | (q > model.upper[limited])).any(axis=1)
    return beyond
