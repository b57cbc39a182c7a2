"""The one place where a record is made: what time methods write down, chunk by chunk."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, constant
from spatialops.contact.certificate import UNITS, Certificate
from spatialops.simulation import _layout as at
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.records.record import Record
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import State

_ROOMS = slice(at.ROWS, at.EVENT_ROWS + 1)  # of rows, contacts and events
_bytes_of = attrgetter("nbytes")
_FEW = 1000  # chunks that are kept apart: those of single steps weigh more than their numbers


class Chunk(NamedTuple):
    """What has happened since the chunk before: k rows, and what came between them.

    Columns are those of `simulation._layout`.
    """

    rows: Array
    states: Array
    loop_forces: Array
    joints: Array
    contact_records: Array
    events: Array


class RecordBuilder:
    """Collects the chunks of a run.

    Parameters
    ----------
    scene : Scene
        What is simulated.
    metadata : callable
        Makes the options, when the record is made.
    brief : bool
        Whether contacts and impacts are left out.
    activation : (n_states,) array, optional
        Of actuators where the run begins. Default: the record is not of its beginning.

    Attributes
    ----------
    n_bytes : int
        Of all that is kept.
    """

    def __init__(
        self,
        scene: Scene,
        metadata: Callable[[], PlainData],
        *,
        brief: bool = False,
        activation: Array | None = None,
    ) -> None:
        self.scene = scene
        self.metadata = metadata
        self.brief = brief
        self._empty: Chunk | None = None
        self._since: list[Certificate] = []
        self.clear()
        self._begun: PlainData = {}  # what a record of the beginning says of it
        if activation is not None and len(activation):
            self._begun = {"activation": activation.tolist()}

    def clear(self) -> None:
        """Forget the chunks: a record has been made of them."""
        self.n_bytes = 0
        self._n_rows = 0
        self._begun = {}
        self._merged: list[Chunk] = []  # of `_FEW` chunks each
        self._chunks: list[Chunk] = []
        self._certified: dict[int, Array] = {}  # certificates by row
        self._readings: list[Array] = []  # of sensors, a row each

    @property
    def since(self) -> Certificate:
        """The worst certificate since the last row."""
        return Certificate.worst(self._since)

    def add(self, chunk: Chunk, certificate: Certificate | None = None) -> None:
        """Append a chunk, and the certificate of what was done in it if there is one."""
        self._since += [] if certificate is None else [certificate]
        if len(chunk.rows) and self._since:
            self._certified[self._n_rows + len(chunk.rows) - 1] = self.since.to_array()
            self._since = []
        if self.brief:
            chunk = chunk._replace(
                contact_records=np.zeros((0, at.RECORD_COLUMNS)),
                events=np.zeros((0, at.EVENT_COLUMNS)),
            )
        if self._empty is None:
            self._empty = chunk
        if not (len(chunk.rows) or len(chunk.contact_records) or len(chunk.events)):
            return
        self._n_rows += len(chunk.rows)
        self.n_bytes += sum(map(_bytes_of, chunk))
        self._chunks.append(chunk)
        if len(self._chunks) == _FEW:
            self._merged.append(_joined(self._chunks))
            self._chunks = []

    def read(self, readings: Array) -> None:
        """Append what sensors read for the row that comes next, or came last."""
        self._readings.append(readings)
        self.n_bytes += readings.nbytes

    def take(self, t: Tables, certificate: Certificate | None = None) -> None:
        """Move the loop's rows here."""
        n_rows, n_contacts, n_events = t.control[_ROOMS].tolist()
        if not (n_rows or n_contacts or n_events) and self._empty is not None:
            self._since += [] if certificate is None else [certificate]
            return
        chunk = Chunk(
            t.rows[:n_rows].copy(),
            t.row_states[:n_rows].copy(),
            t.row_forces[:n_rows].copy(),
            t.row_joints[:n_rows].copy(),
            t.contact_records[:n_contacts].copy(),
            t.events[:n_events].copy(),
        )
        self.add(chunk, certificate)
        t.control[_ROOMS] = 0

    def last_finite(self) -> State:
        """The last recorded state of finite numbers."""
        nq = self.scene.model.nq
        for chunk in reversed([*self._merged, *self._chunks]):
            for row, state in zip(chunk.rows[::-1], chunk.states[::-1]):
                if np.isfinite(state).all():
                    return State(state[:nq].copy(), state[nq:].copy(), float(row[at.ROW_TIME]))
        return self.scene.state

    def record(self, end: State, counts: Mapping[str, object]) -> Record:
        """All that was added, which ends at a state, with counts beside the options."""
        chunk = self._all_chunks()
        rows = chunk.rows
        states = chunk.states
        joints = chunk.joints
        nq = self.scene.model.nq
        # Moments have the pair -1 - pair: see `simulation.stepping.constraints.torsional_rolling`.
        pushing = moments = chunk.contact_records
        if len(moments):
            turning = moments[:, at.RECORD_PAIR] < 0
            moments = moments[turning]
            moments[:, at.RECORD_PAIR] = -1 - moments[:, at.RECORD_PAIR]
            pushing = pushing[~turning] if len(moments) else pushing
        return Record(
            scene=self.scene,
            times=rows[:, at.ROW_TIME],
            q=states[:, :nq],
            v=states[:, nq:],
            kinetic=rows[:, at.ROW_KINETIC],
            potential=rows[:, at.ROW_POTENTIAL],
            contact_counts=rows[:, at.ROW_CONTACTS],
            impact_counts=rows[:, at.ROW_IMPACTS],
            residuals=rows[:, at.ROW_RESIDUAL],
            penetrations=0.0 - rows[:, at.ROW_GAP],  # never -0.0
            closure_errors=rows[:, at.ROW_OPENING],
            loop_forces=chunk.loop_forces,
            moments=moments,
            stop_impulses=joints[:, at.STOP_SUM],
            dry_impulses=joints[:, at.DRY_SUM],
            joint_work=joints[:, at.WORK_SUM],
            certificates=self._certificates(),
            readings=self._all_readings(),
            pivots=rows[:, at.ROW_PIVOTS],
            contact_records=pushing,
            events=chunk.events,
            metadata={**self.metadata(), **counts, **self._begun, "versions": dict(versions())},
            end=np.concatenate([[end.time], end.q, end.v, end.activation]),
        )

    def _all_chunks(self) -> Chunk:
        """All that was added, in one."""
        chunks = [*self._merged, *self._chunks]
        if not chunks and self._empty is not None:
            chunks = [Chunk(*(column[:0] for column in self._empty))]
        return _joined(chunks)

    def _certificates(self) -> Array:
        """Certificates of all rows, NaN where there is none; without any they take no memory."""
        shape = (self._n_rows, len(UNITS))
        if not self._certified:
            return constant(np.nan, shape)
        table = np.full(shape, np.nan)
        table[list(self._certified)] = list(self._certified.values())
        return table

    def _all_readings(self) -> Array:
        """Readings of all rows, NaN for a row whose step failed; without sensors no columns."""
        if not self._readings:
            return np.zeros((self._n_rows, 0))
        table = np.full((self._n_rows, len(self._readings[0])), np.nan)
        count = min(self._n_rows, len(self._readings))
        table[:count] = self._readings[:count]
        return table


def _joined(chunks: Sequence[Chunk]) -> Chunk:
    if len(chunks) == 1:
        return chunks[0]
    return Chunk(*(np.concatenate(column) for column in zip(*chunks)))


@cache
def versions() -> dict[str, str]:
    """Of Python and the packages that results depend on; looked up once, which takes 5 ms."""
    found = {"python": platform.python_version()}
    for name in ("spatialops", "numpy", "numba", "scipy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
