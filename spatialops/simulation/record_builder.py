"""The one place where a record is made: what time methods write down, chunk by chunk."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.certificate import UNITS, Certificate
from spatialops.simulation import _layout as at
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.record import Record
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import State


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
    """

    def __init__(self, scene: Scene, metadata: Callable[[], PlainData]) -> None:
        self.scene = scene
        self.metadata = metadata
        self._chunks: list[Chunk] = []
        self._certificates: list[Array] = []
        self._since: list[Certificate] = []

    def add(self, chunk: Chunk, certificate: Certificate | None = None) -> None:
        """Append a chunk, and the certificate of what was done in it if there is one."""
        self._chunks.append(chunk)
        self._since += [] if certificate is None else [certificate]
        if not len(chunk.rows):
            return
        rows = np.full((len(chunk.rows), len(UNITS)), np.nan)
        rows[-1] = Certificate.worst(self._since).to_array()
        self._certificates.append(rows)
        self._since = []

    def take(self, t: Tables, certificate: Certificate | None = None) -> None:
        """Move the loop's rows here."""
        n_rows, n_contacts, n_events = t.control[[at.ROWS, at.CONTACT_ROWS, at.EVENT_ROWS]]
        chunk = Chunk(
            t.rows[:n_rows].copy(),
            t.row_states[:n_rows].copy(),
            t.row_forces[:n_rows].copy(),
            t.row_joints[:n_rows].copy(),
            t.contact_records[:n_contacts].copy(),
            t.events[:n_events].copy(),
        )
        self.add(chunk, certificate)
        t.control[[at.ROWS, at.CONTACT_ROWS, at.EVENT_ROWS]] = 0

    def last_finite(self) -> State:
        """The last recorded state of finite numbers."""
        nq = self.scene.model.nq
        for chunk in reversed(self._chunks):
            for row, state in zip(chunk.rows[::-1], chunk.states[::-1]):
                if np.isfinite(state).all():
                    return State(state[:nq].copy(), state[nq:].copy(), float(row[at.ROW_TIME]))
        return self.scene.state

    def record(self, end: State, counts: Mapping[str, object]) -> Record:
        """The whole, which ends at a state, with counts beside the options."""
        chunk = Chunk(*(np.concatenate(column) for column in zip(*self._chunks)))
        rows = chunk.rows
        states = chunk.states
        joints = chunk.joints
        nq = self.scene.model.nq
        # Moments have the pair -1 - pair: see `simulation.stepping.constraints.torsional_rolling`.
        turning = chunk.contact_records[:, at.RECORD_PAIR] < 0
        moments = chunk.contact_records[turning]
        moments[:, at.RECORD_PAIR] = -1 - moments[:, at.RECORD_PAIR]
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
            certificates=np.concatenate(self._certificates),
            pivots=rows[:, at.ROW_PIVOTS],
            contact_records=chunk.contact_records[~turning],
            events=chunk.events,
            metadata={**self.metadata(), **counts, "versions": dict(versions())},
            end=np.concatenate([[end.time], end.q, end.v]),
        )


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
