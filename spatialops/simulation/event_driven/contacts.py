"""What touches at a state, and how contacts move along with it, by the stepping loop's kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops.collision import _layout as col
from spatialops.collision.contact_set import ContactSet, ContactTables
from spatialops.collision.detector import (
    Search,
    find_contacts,
    place_geoms,
)
from spatialops.collision.known_contacts import nothing_known
from spatialops.collision.narrow_phase.scratch import new_scratch
from spatialops.contact.constraint_rows import CONTACT, DRY, STOP
from spatialops.contact.friction import put_frames
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.simulation.event_driven.joint_stops import Stops
from spatialops.simulation.event_driven.pair_bounds import put_closing_speeds, put_gaps
from spatialops.simulation.scales import scales_of
from spatialops.simulation.scene.joint_constraints import JointRows
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.state import integrate_kernel

# Pair, features of A and B, and which of several with the same ones.
Key: TypeAlias = tuple[int, int, int, int]
HASTE = 1.1  # speeds within a step may exceed those at both of its ends by so much
_MOVE = 3e-6  # m or rad: how far a state is moved to see how rows turn
_SLOWEST = 1e-3  # m/s or rad/s: a slower state is moved for no longer


@dataclass(frozen=True, eq=False)
class Contacts:
    """Contacts at a state, one row each."""

    keys: tuple[Key, ...]
    ints: IntArray
    floats: Array

    @property
    def gaps(self) -> Array:
        """(m,), m."""
        return self.floats[:, col.GAP]

    @property
    def links(self) -> IntArray:
        """(m, 2), -1 for the world."""
        return self.ints[:, [col.CONTACT_A, col.CONTACT_B]]

    @property
    def points(self) -> Array:
        """(m, 3), m."""
        return self.floats[:, col.POINT : col.POINT + 3]

    @property
    def frames(self) -> Array:
        """(m, 3, 3): rows normal, tangent, tangent."""
        return self.floats[:, col.NORMAL : col.NORMAL + 9].reshape(-1, 3, 3)

    @property
    def velocities(self) -> Array:
        """(m, 3) along the frames, m/s."""
        return self.floats[:, col.APPROACH : col.APPROACH + 3]

    @property
    def friction(self) -> Array:
        """(m,)."""
        return self.floats[:, col.MU]

    @property
    def kinds(self) -> IntArray:
        """(m,): CONTACT, STOP or DRY of `contact.constraint_rows`."""
        features = self.ints[:, col.CONTACT_FEATURE_A]
        return np.select([features == col.STOP, features == col.DRY], [STOP, DRY], CONTACT)

    @property
    def pairs(self) -> IntArray:
        """(m,) numbers of the scene's pairs; stops are numbered after those."""
        return self.ints[:, col.CONTACT_PAIR]

    @property
    def of_geoms(self) -> Contacts:
        """Without those of joints."""
        return self.take(np.flatnonzero(self.kinds == CONTACT))

    @property
    def restitution(self) -> Array:
        """(m,)."""
        return self.floats[:, col.RESTITUTION]

    @property
    def world_velocities(self) -> Array:
        """(m, 3) of A against B in world axes, m/s."""
        return np.asarray((self.velocities[:, None, :] @ self.frames)[:, 0])

    def take(self, rows: Sequence[int] | IntArray) -> Contacts:
        """Some of them."""
        index = np.asarray(rows, dtype=np.int64)
        return Contacts(tuple(self.keys[i] for i in index), self.ints[index], self.floats[index])

    def with_impulses(self, impulses: Array) -> ContactSet:
        """As `StepInfo` and controllers have them, with impulses (m, 3), N s."""
        floats = self.floats.copy()
        floats[:, col.IMPULSE : col.IMPULSE + 3] = impulses
        return ContactSet.from_tables(self.ints, floats)


class ContactDetector:
    """Contacts of a scene at any state, stops of joints among them; `friction` is of classes."""

    def __init__(self, scene: Scene, friction: Array, joints: JointRows) -> None:
        self.scene = scene
        self.stops = Stops(scene.model, joints, scene.n_pairs)
        self._move = _MOVE * scales_of(scene).length
        n_geoms = len(scene.geoms)
        room = scene.most_contacts
        self._places = np.zeros((n_geoms + 1, col.PLACE_COLUMNS))
        self._places[-1, col.TURN : col.TURN + 9] = np.eye(3).ravel()
        self._scratch = new_scratch(scene.geom_ints, scene.tables.lists)
        solids = scene.tables.solids.copy()  # its last rows are written to
        self._tables = scene.tables._replace(solids=solids)
        classes = scene.pair_table.classes
        values = classes.values.copy()
        values[:, col.PAIR_FRICTION] = friction
        self._classes = classes._replace(values=values)
        self._near = _all_pairs(scene)
        self._ints = np.zeros((room, col.CONTACT_INTS), dtype=np.int64)
        self._floats = np.zeros((room, col.CONTACT_COLUMNS))
        self._work = np.zeros((scene.model.nv, layout.WORK_COLUMNS))
        self._moved = np.zeros(scene.model.nq)
        self._nothing = nothing_known()
        self.widths = scene.pair_widths

    def detect_at(self, q: Array, v: Array, limit: float) -> Contacts:
        """Contacts with gaps up to `limit`, with frames and velocities."""
        self._place(q, v)
        found = find_contacts(
            self._tables,
            self._classes,
            self._places,
            self._near,
            self._work,
            Search(limit, 0.0, self._nothing),
            self._scratch,
            ContactTables(self._ints, self._floats),
        )
        put_frames(self._ints, self._floats, found, self._work)
        ints, floats = self._ints[:found].copy(), self._floats[:found].copy()
        if len(self.stops):
            of_joints = self.stops.rows(self._work, q, v, limit)
            ints, floats = (
                np.concatenate([ints, of_joints[0]]),
                np.concatenate([floats, of_joints[1]]),
            )
        return Contacts(_keys(ints), ints, floats)

    def names(self, pair: int) -> tuple[str, str]:
        """Of the geoms of a pair, or of a joint and its stop."""
        return self.scene.pair_names(pair) if pair < self.scene.n_pairs else self.stops.names(pair)

    def classes(self, pairs: IntArray) -> IntArray:
        """Classes of pairs, see `Scene.classes_of`; stops are numbered behind those."""
        n = self.scene.n_pairs
        found = pairs - n + len(self._classes.values)
        found[pairs < n] = self.scene.classes_of(pairs[pairs < n])
        return found

    def turning(self, q: Array, v: Array, contacts: Contacts, limit: float) -> Array:
        """d/dt of the contacts' velocities (m, 3) along their frames where v stays, m/s^2.

        By a central difference along v: curvature, rolling and moving features are all in it. It is
        the rate of the normal velocity itself, and of the velocity at the point of contact, which
        may move over both bodies.
        """
        speed = float(np.abs(v).max(initial=0.0))
        if not len(contacts.keys) or speed == 0.0:
            return np.zeros((len(contacts.keys), 3))
        step = self._move / max(speed, _SLOWEST)
        ends = []
        for sign in (1.0, -1.0):
            integrate_kernel(self.scene.model.tree, q, v, sign * step, self._moved)
            ends.append(matched(contacts, self.detect_at(self._moved.copy(), v, limit)))
        world = (ends[0][0] - ends[1][0]) / (2.0 * step)
        rates = np.einsum("mij,mj->mi", contacts.frames, world)
        rates[:, 0] = (ends[0][1] - ends[1][1]) / (2.0 * step)
        rates[contacts.kinds != CONTACT] = 0.0  # v_k itself, which stays
        return np.asarray(rates)

    def far(self, q: Array, v: Array, skip: set[int]) -> tuple[Array, Array]:
        """Gaps (m) of all pairs, infinite for those to `skip`, and speeds (m/s) of approach."""
        speeds = self.closing_speeds(q, v)
        gaps = np.zeros(len(speeds))
        gaps[[pair for pair in skip if pair < len(gaps)]] = np.inf
        put_gaps(self._tables, self.scene.pairs, self._places, self._scratch, gaps)
        return gaps, speeds

    def closing_speeds(self, q: Array, v: Array) -> Array:
        """Speeds (m/s) of approach of all pairs."""
        self._place(q, v)
        speeds = np.zeros(self.scene.n_pairs)
        put_closing_speeds(self._tables, self.scene.pairs, self._places, self._work, speeds)
        return speeds

    def _place(self, q: Array, v: Array) -> None:
        model = self.scene.model
        poses_kernel(model.tree, model.links, q, self._work)
        velocities_kernel(model.tree, model.links, v, self._work)
        place_geoms(self.scene.geom_ints, self.scene.geom_floats, self._work, self._places)


def _all_pairs(scene: Scene) -> IntArray:
    """A list that has all pairs as near."""
    near = np.zeros((scene.n_pairs + 1, col.NEAR_COLUMNS), dtype=np.int64)
    near[:-1, col.NEAR_PAIR] = np.arange(scene.n_pairs)
    near[:-1, col.NEAR_A :] = scene.pairs
    near[-1, col.NEAR_PAIR] = scene.n_pairs
    return near


def matched(contacts: Contacts, other: Contacts) -> tuple[Array, Array]:
    """World velocities (m, 3) and normal ones (m,) that the same contacts have at another state.

    By their names; a contact whose features have changed is that of its pair whose point is the
    nearest.
    """
    index = {key: i for i, key in enumerate(other.keys)}
    world, normal = other.world_velocities, other.velocities[:, 0]
    rows = []
    for i, key in enumerate(contacts.keys):
        row = index.get(key, -1)
        if row < 0:
            row = nearest(contacts, i, other)
        rows.append(row)
    if min(rows) >= 0:
        return world[rows], normal[rows]
    own, own_normal = contacts.world_velocities, contacts.velocities[:, 0]
    return (
        np.array([world[r] if r >= 0 else own[i] for i, r in enumerate(rows)]),
        np.array([normal[r] if r >= 0 else own_normal[i] for i, r in enumerate(rows)]),
    )


def nearest(contacts: Contacts, i: int, other: Contacts) -> int:
    """The contact of the same pair whose point is the nearest; -1 where there is none."""
    same = [j for j, key in enumerate(other.keys) if key[0] == contacts.keys[i][0]]
    if not same:
        return -1
    apart = other.points[same] - contacts.points[i]
    return same[int(np.argmin(np.einsum("ij,ij->i", apart, apart)))]


def _keys(ints: IntArray) -> tuple[Key, ...]:
    keys: list[Key] = []
    counts: dict[tuple[int, int, int], int] = {}
    for row in ints[:, [col.CONTACT_PAIR, col.CONTACT_FEATURE_A, col.CONTACT_FEATURE_B]].tolist():
        name = (row[0], row[1], row[2])
        counts[name] = counts.get(name, -1) + 1
        keys.append((*name, counts[name]))
    return tuple(keys)
