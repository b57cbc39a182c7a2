"""Contact forces of a run in the frames of a replay or video."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.simulation import _layout as at
from spatialops.simulation.records.acting_contacts import GeomForces
from spatialops.simulation.scene.scene import Scene

if TYPE_CHECKING:
    from spatialops.simulation.records.record import Record

# Of a step: where in it its contacts are looked up. Frames may begin at its ends or in its middle.
_INSIDE = 0.25


class _Framed(NamedTuple):
    """Of K contacts that pushed: frame, pair, kind; points (m) and mean forces (N), (K, 3)."""

    frames: IntArray
    pairs: IntArray
    kinds: IntArray
    points: Array
    forces: Array


def frame_forces(record: Record, times: Array) -> list[Array]:
    """Per frame its contacts (k, 7): position (m), mean force (N), 1 for an impact.

    A frame lasts from half-way after the one before to half-way to the next. Contacts of a pair
    within a frame are one arrow: the sum of their impulses over the frame's length, or over its
    recorded steps where others are not known, at the mean of their positions weighted by impulse.
    Where both bodies move, each gets its arrow.
    """
    given = _framed(record, times)
    if not len(given.forces):
        return [np.zeros((0, 7)) for _ in times]
    rows, frame = _arrows(record.scene, given)
    order = np.argsort(frame, kind="stable")
    return np.split(rows[order], np.searchsorted(frame[order], np.arange(1, len(times))))


def pair_arrows(
    scene: Scene, pairs: IntArray, kinds: IntArray, points: Array, forces: Array
) -> Array:
    """The arrows (k, 7) of one frame, as of `frame_forces`, from its contacts that pushed."""
    acting = forces.any(axis=1)
    frame = np.zeros(int(acting.sum()), dtype=np.int64)
    given = _Framed(frame, pairs[acting], kinds[acting], points[acting], forces[acting])
    return _arrows(scene, given)[0]


def _arrows(scene: Scene, given: _Framed) -> tuple[Array, IntArray]:
    """Arrows (k, 7), and the frame of each."""
    most = scene.n_pairs
    keys, group = np.unique(
        (given.frames * most + given.pairs) * 2 + given.kinds, return_inverse=True
    )
    weight = np.linalg.norm(given.forces, axis=1)[:, None]
    sums = np.zeros((len(keys), 7))
    np.add.at(sums, group.reshape(-1), np.hstack([weight * given.points, given.forces, weight]))
    frame, pair = keys // 2 // most, keys // 2 % most
    rows = np.column_stack([sums[:, :3] / sums[:, 6:], sums[:, 3:6], keys % 2])
    both = np.asarray(scene.bodies)[scene.sides_of(pair)[:, 1]] >= 0
    rows = np.vstack([rows, rows[both] * [1, 1, 1, -1, -1, -1, 1]])
    return rows, np.concatenate([frame, frame[both]])


def frame_geom_forces(record: Record, times: Array) -> GeomForces:
    """The forces of `frame_forces` on every geom of a body that was touched, by frame."""
    given = _framed(record, times)
    scene = record.scene
    forces = np.zeros((len(times), len(scene.geoms), 3))
    sides = scene.sides_of(given.pairs)
    np.add.at(forces, (given.frames, sides[:, 0]), given.forces)
    np.add.at(forces, (given.frames, sides[:, 1]), -given.forces)
    moving = np.asarray(scene.bodies, dtype=np.int64) >= 0
    touched = np.flatnonzero(moving & forces.any(axis=(0, 2)))
    return GeomForces([scene.geoms[g].name for g in touched], forces[:, touched])


def _framed(record: Record, times: Array) -> _Framed:
    """Contacts that pushed, each with its frame, and its impulse over the frame's length."""
    edges = np.concatenate([times[:1], 0.5 * (times[1:] + times[:-1]), times[-1:]])
    rows = record.contact_records
    rows = rows[np.any(rows[:, at.RECORD_IMPULSE :] != 0.0, axis=1)]
    if len(times) < 2:
        rows = rows[:0]
    kind = rows[:, at.RECORD_KIND].astype(np.int64)
    inside = np.where(kind == 0, _INSIDE * record.metadata["dt"], 0.0)
    frame = _frame_at(edges, rows[:, at.RECORD_TIME] + inside)
    lengths = np.stack([_known_lengths(record, edges), np.diff(edges)])
    return _Framed(
        frame,
        rows[:, at.RECORD_PAIR].astype(np.int64),
        kind,
        rows[:, at.RECORD_POINT : at.RECORD_POINT + 3],
        rows[:, at.RECORD_IMPULSE :] / lengths[kind, frame][:, None],
    )


def _frame_at(edges: Array, times: Array) -> IntArray:
    return np.clip(np.searchsorted(edges, times, side="right") - 1, 0, len(edges) - 2)


def _known_lengths(record: Record, edges: Array) -> Array:
    """How much of every frame the recorded contacts are of, s: all of it in older records."""
    if "record_every" not in record.metadata:
        return np.diff(edges)
    dt = float(record.metadata["dt"])
    steps = _frame_at(edges, record.times[1:] - (1.0 - _INSIDE) * dt)
    return dt * np.maximum(np.bincount(steps, minlength=len(edges) - 1), 1)
