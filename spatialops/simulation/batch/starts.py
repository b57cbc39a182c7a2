"""Where the environments of a batch begin: states as rows of one table, checked."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, BoolArray, IntArray, array, dimensions
from spatialops.errors import ArgumentError
from spatialops.simulation.runs.setup import Setup
from spatialops.tree.model import Model
from spatialops.tree.state import State

_SURELY_UNIT = 1e-13  # error of the square of a quaternion's length that is surely left alone


class Starts:
    """Where environments of these simulators begin.

    Parameters
    ----------
    setups : list of n Setup
        One for each.
    """

    def __init__(self, setups: list[Setup]) -> None:
        self._setups = setups
        kinds = list(map(id, setups))
        self._alike = len(set(kinds)) == 1
        found: list[_Bounds] = []
        for kind, setup in dict(zip(kinds, setups)).items():
            mine = slice(None) if self._alike else np.flatnonzero(np.array(kinds) == kind)
            found.extend(_Bounds.of(setup.scene.model, mine))
        self._bounds = found

    def rows(
        self,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        time: ArrayLike = 0.0,
        activation: ArrayLike | None = None,
    ) -> Array:
        """Rows (n, nq + nv + 1 + n_states) of q, v, time and activations.

        Parameters
        ----------
        q, v : (nq,) or (n, nq), (nv,) or (n, nv) array_like or None
            None: of the scenes' states.
        time : float or (n,) array_like
            s.
        activation : (n_states,) or (n, n_states) array_like or None
            None: of the scenes' states.

        Raises
        ------
        ArgumentError
            As for a state of a run; it says of which environment.
        """
        setups = self._setups[:1] if self._alike else self._setups
        states, model = [setup.scene.state for setup in setups], setups[0].scene.model
        nq, end = model.nq, model.nq + model.nv
        own = [setup.scene.activations(setup.scene.state) for setup in setups]
        rows = np.empty((len(self._setups), end + 1 + len(own[0])))
        _put(rows[:, :nq], q, [state.q for state in states], "q")
        _put(rows[:, nq:end], v, [state.v for state in states], "v")
        if not (type(time) is float and math.isfinite(time)):
            one = dimensions(time, "time") == 0
            time = array(time, () if one else rows[:, 0].shape, "time", finite=True)
        rows[:, end] = time
        _put(rows[:, end + 1 :], activation, own, "activation")
        one_place = q is None and self._alike
        doubtful = self._doubtful(model, rows[:1] if one_place else rows)
        if doubtful is not None and doubtful.any():
            for e in np.flatnonzero(np.broadcast_to(doubtful, len(rows))).tolist():
                rows[e, :end] = _checked(self._setups[e], rows[e], e)
        return rows

    def _doubtful(self, model: Model, rows: Array) -> BoolArray | None:
        """Where a quaternion is not surely of unit length, or a joint beyond its limits.

        `Setup.checked` says by how much it may be, and leaves alone what is surely right.
        """
        if not self._bounds and not len(model.quaternions):
            return None
        doubtful = np.zeros(len(rows), dtype=bool)
        for i in model.quaternions:
            doubtful |= np.abs((rows[:, i : i + 4] ** 2).sum(axis=1) - 1.0) > _SURELY_UNIT
        for bounds in self._bounds:
            q = rows[bounds.which][:, bounds.columns]
            doubtful[bounds.which] |= ((q < bounds.lower) | (q > bounds.upper)).any(axis=1)
        return doubtful


class _Bounds(NamedTuple):
    """Limits of joints that have any, of environments of one model."""

    which: slice | IntArray
    columns: IntArray
    lower: Array
    upper: Array

    @classmethod
    def of(cls, model: Model, which: slice | IntArray) -> list[_Bounds]:
        """Of a model; none where none has any."""
        limited = np.isfinite(model.lower) | np.isfinite(model.upper)
        if not limited.any():
            return []
        columns = model.tree[limited, layout.FIRST_Q]
        return [cls(which, columns, model.lower[limited], model.upper[limited])]


def _put(rows: Array, values: ArrayLike | None, own: list[Array], name: str) -> None:
    """One row for all, or rows, or the own ones of environments."""
    if values is None:
        rows[:] = own[0] if len(own) == 1 else np.stack(own)
    else:
        shape = rows.shape[1:] if dimensions(values, name) == 1 else rows.shape
        rows[:] = array(values, shape, name, finite=True)


def stacked(rows: list[Array]) -> Array:
    """Rows of a table, to be read only: of environments of one simulator all are the same array."""
    if len(set(map(id, rows))) == 1:
        return np.broadcast_to(rows[0], (len(rows), *rows[0].shape))
    return np.stack(rows)


def state_in(row: Array, model: Model) -> State:
    """The state that a row holds."""
    end = model.nq + model.nv
    return State(row[: model.nq], row[model.nq : end], float(row[end]), row[end + 1 :])


def _checked(setup: Setup, row: Array, e: int) -> Array:
    try:
        state = setup.checked(state_in(row, setup.scene.model))
    except ArgumentError as error:
        raise ArgumentError(f"environment {e}: {error}") from error
    return np.concatenate([state.q, state.v])
