"""What the next step needs: the tables of a run between two steps, as arrays, and back.

State, forces and accelerations of the steps before, contacts seen where the state stands, sums and
counts since the last row: everything that makes the next step what it is, to the last bit. What
comes back is checked as if a stranger had written it, since kernels trust their tables.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from spatialops._arrays import Array, IntArray
from spatialops.collision import _layout as col
from spatialops.collision.broad_phase import near_pairs
from spatialops.collision.pair_runs import count_pairs, put_sides
from spatialops.errors import RecordError
from spatialops.simulation import _layout as at
from spatialops.simulation.records.record_file import Kept
from spatialops.simulation.stepping.constraints.torsional_rolling import KINDS
from spatialops.simulation.stepping.detection_stage import detect_contacts
from spatialops.simulation.stepping.driver import Stepping
from spatialops.simulation.stepping.held.lasting import WHOLE
from spatialops.simulation.stepping.tables import Tables
from spatialops.simulation.stepping.warm.memory_places import put_places

# Controls that say how the loop runs, or that are written before they are read.
_OWN = (
    at.STAGE,
    at.STEPS_LEFT,
    at.PIECES,
    at.EXTERNAL,
    at.SCHEME,
    at.LAW,
    at.EVERY,
    at.UNWEIGHED,
    at.ROWS,
    at.CONTACT_ROWS,
    at.EVENT_ROWS,
    at.CODE,
    at.HOLDS,
    at.DAMPED,
    at.WRENCHED,
    at.BEFORE,
    at.BEFORE_LOOK,
    at.AIMED,
    at.STIRRED,
    at.STILL,
)
_ROOM = 4  # contacts that tables may have room for, as a multiple of what the scene can have


def snapshot(t: Tables) -> dict[str, npt.NDArray[np.generic]]:
    """Copies of what the next step needs, between two steps."""
    seen = max(int(t.control[at.SEEN]), 0) if t.control[at.LOOKED] else 0
    count = int(t.control[at.ACTING])
    near = max(int(near_pairs(t.near)), 0)
    steps = t.memory[: t.control[at.MEMORY_ROWS], at.MEMORY_STEP]
    known = np.flatnonzero(steps >= t.control[at.STEP])
    return {
        **{name: getattr(t, name).copy() for name in WHOLE},
        "control": t.control.copy(),
        "memory": t.memory[known].copy(),
        "forces": t.forces[known].copy(),
        "near": np.append(t.near[:near, col.NEAR_PAIR], near_pairs(t.near)),
        "seen_ints": t.seen_ints[:seen].copy(),
        "seen": t.seen[:seen].copy(),
        "ints": t.ints[:count].copy(),
        "floats": t.floats[:count].copy(),
        "capacity": np.array(len(t.seen_ints)),
    }


def restore(stepping: Stepping, steps: tuple[int, int], kept: Kept) -> Tables:
    """Tables that stand where `snapshot` was taken.

    Raises
    ------
    RecordError
        If they are not those of this scene.
    """
    capacity = ints_of(kept, "capacity", ())
    most = stepping.scene.most_contacts + len(stepping.joints.ints)
    if not 0 < int(capacity) <= _ROOM * max(stepping.capacity, most):
        raise _odd("capacity")
    t = stepping.tables(int(capacity), steps)
    for name in WHOLE:
        getattr(t, name)[:] = floats_of(kept, name, getattr(t, name).shape)
    _put_control(t, ints_of(kept, "control", t.control.shape))
    _put_memory(t, kept)
    _put_near(t, ints_of(kept, "near", (None,)))
    _put_contacts(t, kept)
    return t


def _put_control(t: Tables, control: IntArray) -> None:
    """Counts and switches, none beyond what it counts."""
    own = t.control[list(_OWN)].copy()
    t.control[:] = control
    t.control[list(_OWN)] = own
    n_b = len(t.order)
    most = np.full(at.CONTROLS, np.iinfo(np.int64).max)
    most[[at.SEEN, at.ACTING]] = len(t.seen_ints), len(t.ints)
    most[at.MOMENTS] = max(int(t.control[at.ACTING]), 0)
    most[[at.PAST, at.PUSHES, at.SMOOTH_ORDER, at.PUSHED_ORDER]] = at.REMEMBERED
    most[at.RANK] = n_b
    most[at.SPINNING] = max(t.v.size - 1, 0)
    most[[at.LOOKED, at.QUIET]] = 1, 2
    if (t.control < 0).any() or (t.control > most).any():
        raise _odd("control")
    ranks = t.closure_vectors[[at.RANKS, at.INDEPENDENT]][:, : len(t.mechanisms)]
    if not ((ranks >= 0.0) & (ranks <= t.mechanisms[:, at.CLOSED_ROWS])).all():
        raise _odd("closure_vectors")


def _put_memory(t: Tables, kept: Kept) -> None:
    """Forces of the last contacts, pair by pair."""
    memory = ints_of(kept, "memory", (None, at.MEMORY_COLUMNS))
    count = len(memory)
    pairs = memory[:, at.MEMORY_PAIR]
    first = np.flatnonzero(np.append(True, pairs[1:] != pairs[:-1])[:count])
    fits = count <= len(t.memory) and len(np.unique(pairs)) == len(first)
    if not fits or not _within(pairs, *_numbers(t)):
        raise _odd("memory")
    t.memory[:count] = memory
    t.forces[:count] = floats_of(kept, "forces", (count, 3))
    put_places(t.memory_places, t.memory, count)
    t.control[at.MEMORY_ROWS] = count


def _put_near(t: Tables, near: IntArray) -> None:
    """Pairs of geoms that are near, in their order."""
    count = len(near) - 1
    fits = count >= 0 and near[-1] in (count, -1) and count < len(t.near)
    if (
        not fits
        or (np.diff(near[:-1]) <= 0).any()
        or not _within(near[:-1], 0, count_pairs(t.pair_runs))
    ):
        raise _odd("near")
    t.near[:count, col.NEAR_PAIR] = near[:-1]
    sides = np.zeros((count, 2), dtype=np.int64)
    put_sides(t.geom_ints, t.pair_runs, near[:-1].copy(), sides)
    t.near[:count, col.NEAR_A :] = sides
    t.near[-1, col.NEAR_PAIR] = near[-1]


def _put_contacts(t: Tables, kept: Kept) -> None:
    """Contacts that are seen, which must be found again here, and those that acted."""
    acting = int(t.control[at.ACTING])
    ints = ints_of(kept, "ints", (acting, col.CONTACT_INTS))
    links = ints[:, [col.CONTACT_A, col.CONTACT_B]]
    if not _within(ints[:, col.CONTACT_PAIR], *_numbers(t)) or not _within(links, -1, t.v.size):
        raise _odd("ints")
    t.ints[:acting] = ints
    t.floats[:acting] = floats_of(kept, "floats", (acting, col.CONTACT_COLUMNS))
    if not t.control[at.LOOKED]:
        return
    work, centers = t.work.copy(), t.centers.copy()
    count = int(t.control[at.SEEN])
    seen_ints = ints_of(kept, "seen_ints", (count, col.CONTACT_INTS))
    detect_contacts(t)
    if t.control[at.SEEN] != count or not np.array_equal(t.seen_ints[:count], seen_ints):
        raise _odd("seen_ints")
    t.seen[:count] = floats_of(kept, "seen", (count, col.CONTACT_COLUMNS))
    t.work[:] = work
    t.centers[:] = centers


def _numbers(t: Tables) -> tuple[int, int]:
    """The least number of a pair, of moments, and one past the last, of joints."""
    n_pairs = int(count_pairs(t.pair_runs))
    moments = KINDS * n_pairs if len(t.turning) else 0
    return -moments, n_pairs + len(t.joint_ints)


def floats_of(kept: Kept, name: str, shape: tuple[int | None, ...]) -> Array:
    """The named array, if it has this shape (None: any length) and finite numbers.

    Raises
    ------
    RecordError
    """
    return np.asarray(_checked(kept, name, shape, np.float64), dtype=np.float64)


def ints_of(kept: Kept, name: str, shape: tuple[int | None, ...]) -> IntArray:
    """The named array, if it has this shape (None: any length) and whole numbers.

    Raises
    ------
    RecordError
    """
    return np.asarray(_checked(kept, name, shape, np.int64), dtype=np.int64)


def _checked(
    kept: Kept, name: str, shape: tuple[int | None, ...], kind: type[np.generic]
) -> npt.NDArray[np.generic]:
    found = kept.get(name)
    if found is None or found.dtype != kind or found.ndim != len(shape):
        raise _odd(name)
    if any(want not in (None, have) for want, have in zip(shape, found.shape)):
        raise _odd(name)
    if kind is np.float64 and not np.isfinite(np.asarray(found, dtype=np.float64)).all():
        raise _odd(name)
    return found


def _within(values: IntArray, low: int, beyond: int) -> bool:
    return bool(((values >= low) & (values < beyond)).all())


def _odd(name: str) -> RecordError:
    return RecordError(f"what the next step needs does not fit this scene: {name}")
