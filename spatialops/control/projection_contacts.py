"""Contacts as constraints: rows that hold points, or flat feet, of bodies where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from spatialops._arrays import Array, IntArray, array, scalar
from spatialops.collision.contact_set import ContactSet
from spatialops.control.projection_nodes import Points
from spatialops.dynamics.jacobian import body_poses
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model, Node

_WORLD = np.eye(3)


@dataclass(frozen=True, eq=False, kw_only=True)
class HeldContact:
    """A contact that must not slip, open or tip.

    Parameters
    ----------
    node : Node
        The point on the body that the force is on.
    other : Node, optional
        The point on the body that it stands on; default: the world, which does not move.
    friction : float
        Coefficient mu > 0.
    normal : (3,) array_like
        From the other body to the first one, world axes.
    half_lengths : (2,) array_like, optional
        Of a flat foot's rectangle along the first and second tangent, m: the foot is also held against turning, the
        centre of pressure stays in the rectangle ([A] 34), and the moment about the normal below `torsion` N_n.
    torsion : float
        m; of a flat foot, positive. Of a point: it is soft, held against spinning about the normal too, by a moment
        below `torsion` N_n.
    radius : float
        Of a round foot about the node, m: the point of contact is that far along -normal, and the foot rolls on it.
    slide : (3,) array_like, optional
        Direction in which it slides: only the normal row is held, and friction is mu `pressed` against it. A controller
        regulates the normal force to `pressed`, so that friction is known.
    pressed : float
        N; of a sliding contact, positive.
    least, most : float
        Bounds of the normal force, N.
    tangent : (3,) array_like, optional
        Direction of the first tangent.
    name : str
    """

    node: Node
    other: Node | None = None
    friction: float = 0.5
    normal: Any = (0.0, 0.0, 1.0)
    half_lengths: Any = None
    torsion: float = 0.0
    radius: float = 0.0
    slide: Any = None
    pressed: float = 0.0
    least: float = 0.0
    most: float = np.inf
    tangent: Any = None
    name: str = ""

    def __post_init__(self) -> None:
        scalar(self.friction, "friction", low=0.0, strict=True)
        scalar(self.least, "least", low=0.0)
        scalar(self.radius, "radius", low=0.0)
        scalar(self.torsion, "torsion", low=0.0)
        if not self.most > self.least:
            raise ArgumentError(f"most: expected more than least = {self.least:g} N, got {self.most:g}")
        if self.half_lengths is not None:
            lengths = array(self.half_lengths, (2,), "half_lengths", finite=True)
            if not (lengths.min() > 0.0 and self.torsion > 0.0):
                raise ArgumentError("half_lengths, torsion: a flat foot needs positive ones")
        if self.slide is not None:
            direction = array(self.slide, (3,), "slide", finite=True)
            if not (np.linalg.norm(direction) > 0.0 and self.pressed > 0.0 and self.half_lengths is None):
                raise ArgumentError(
                    "slide: needs a direction with a length, a positive pressed force, and no flat foot"
                )
        object.__setattr__(self, "name", self.name or f"contact of {self.node[0]}")

    @property
    def rows(self) -> int:
        """Number of its rows: 3 of a point, 4 if it is soft, 6 of a flat foot, 1 while it slides."""
        if self.slide is not None:
            return 1
        if self.half_lengths is not None:
            return 6
        return 4 if self.torsion > 0.0 else 3

    def frame(self) -> Array:
        """Rows normal, tangent, tangent (3, 3)."""
        return frame_of(self.normal, self.tangent)


def frame_of(normal: Any, tangent: Any = None) -> Array:
    """A right-handed frame with rows normal, tangent, tangent; the first tangent near the one given.

    Raises
    ------
    ArgumentError
        For a normal of no length.
    """
    n = array(normal, (3,), "normal", finite=True)
    length = float(np.linalg.norm(n))
    if not length > 0.0:
        raise ArgumentError("normal: has no length")
    n = n / length
    near = _WORLD[int(np.argmin(np.abs(n)))] if tangent is None else array(tangent, (3,), "tangent", finite=True)
    first = near - (near @ n) * n
    if not np.linalg.norm(first) > 1e-9:
        raise ArgumentError("tangent: is along the normal")
    first = first / np.linalg.norm(first)
    return np.array([n, first, np.cross(n, first)])


class HeldContacts:
    """Several contacts of one model and their rows A, A v = 0: [normal, tangent, tangent], then angular ones.

    Multipliers are forces on the first body along the contact's frame, N, and moments, N m.
    """

    def __init__(self, model: Model, contacts: Sequence[HeldContact]) -> None:
        self.model, self.contacts = model, tuple(contacts)
        self.gripping = tuple(contact for contact in self.contacts if contact.slide is None)
        self.sliding = tuple(contact for contact in self.contacts if contact.slide is not None)
        self.mu = np.array([contact.friction for contact in self.gripping])
        self.frames = np.array([contact.frame() for contact in self.contacts]).reshape(-1, 3, 3)
        self._nodes = [contact.node for contact in self.contacts]
        self._others = [i for i, contact in enumerate(self.contacts) if contact.other is not None]
        self._nodes += [contact.other for contact in self.contacts if contact.other is not None]
        self._rolls = [
            i for i in self._others if self.contacts[i].radius > 0.0 or self.contacts[i].rows == 4
        ]  # fmt: skip
        counts = np.array([contact.rows for contact in self.contacts], dtype=np.int64)
        self.first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._maps = [self._map(i, contact.radius) for i, contact in enumerate(self.contacts)]
        self._plain = np.array(self._maps) if (counts == 3).all() and not self._others and len(counts) else None
        grips = np.array([i for i, contact in enumerate(self.contacts) if contact.slide is None], dtype=np.int64)
        self.force_rows: IntArray = (self.first[grips, None] + np.arange(3)).ravel()
        self.pressed_rows: IntArray = np.delete(self.first[:-1], grips)
        self.pressed = np.array([contact.pressed for contact in self.sliding])

    @cached_property
    def cone_names(self) -> tuple[str, ...]:
        """Names of the friction cones of contacts that grip."""
        return tuple(f"{contact.name}: cone" for contact in self.gripping)

    def __len__(self) -> int:
        return len(self.contacts)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.first[-1])

    def _map(self, i: int, radius: float) -> Array:
        """Rows (rows, 6) of a contact from a point's [angular; linear] motion; it is touched -radius n off."""
        frame, count = self.frames[i], self.contacts[i].rows
        lever = -radius * frame[0]
        result = np.zeros((count, 6))
        result[:3, 3:] = frame[: min(count, 3)]
        result[:3, :3] = np.cross(lever, frame[: min(count, 3)])
        if count > 3:
            result[3:, :3] = frame[: count - 3]
        return result

    @cached_property
    def _points(self) -> Points:
        return Points(self.model, self._nodes)

    def rows(self, q: Array, v: Array) -> tuple[Array, Array]:
        """A (n_rows, nv), and Adot v (n_rows,) where A v = 0."""
        if not self.contacts:
            return np.zeros((0, self.model.nv)), np.zeros(0)
        found = self._points.rows(q, v)
        drift = self._of(found.drift[:, :, None])[:, 0]
        return self._of(found.J), drift + self._rolling(found.velocities[:, :3]) if self._rolls else drift

    def jacobian(self, q: Array) -> Array:
        """Rows A (n_rows, nv)."""
        return self.rows(q, np.zeros(self.model.nv))[0]

    def drift(self, q: Array, v: Array) -> Array:
        """Adot v (n_rows,), where A v = 0."""
        return self.rows(q, v)[1]

    def _of(self, blocks: Array) -> Array:
        """Rows from blocks (nodes, 6, columns): those of the contacts' own nodes less those of the other bodies."""
        k = len(self.contacts)
        if self._plain is not None:
            return (self._plain @ blocks).reshape(3 * k, -1)
        result = np.concatenate([mapped @ block for mapped, block in zip(self._maps, blocks[:k], strict=True)])
        for place, i in enumerate(self._others):
            result[self.first[i] : self.first[i + 1]] -= self._map(i, 0.0) @ blocks[k + place]
        return result

    def _rolling(self, spins: Array) -> Array:
        """What rolling on a body that turns adds to the drift, where A v = 0.

        The normal turns with that body, ndot = W x n, and the point of contact travels by r (w - W) x n over it.
        """
        extra = np.zeros(self.n_rows)
        for i in self._rolls:
            contact, n, first = self.contacts[i], self.frames[i, 0], self.first[i]
            w, W = spins[i], spins[len(self.contacts) + self._others.index(i)]
            turn = np.cross(W, n)
            bend = -contact.radius * (np.cross(w, turn) + np.cross(W, np.cross(w - W, n)))
            extra[first : first + min(3, contact.rows)] = (self.frames[i] @ bend)[: contact.rows]
            if contact.rows == 4:
                extra[first + 3] = turn @ (w - W)
        return extra

    def sliding_friction(self, q: Array) -> Array:
        """Generalised force (nv,) of the sliding contacts' friction."""
        force = np.zeros(self.model.nv)
        for contact in self.sliding:
            direction = np.asarray(contact.slide, dtype=np.float64)
            gripping = HeldContacts(self.model, [replace(contact, slide=None, pressed=0.0)])
            across = direction - (gripping.frames[0, 0] @ direction) * gripping.frames[0, 0]
            across /= np.linalg.norm(across)
            pull = gripping.frames[0] @ (-contact.friction * contact.pressed * across)
            force += gripping.jacobian(q).T @ pull
        return force

    @cached_property
    def limits(self) -> tuple[Array, Array, tuple[str, ...]]:
        """Inequalities F lambda + f >= 0 of the multipliers: bounds of normal forces, and of a foot's moments."""
        rows, offsets, names = [], [], []

        def add(name: str, offset: float, *entries: tuple[int, float]) -> None:
            row = np.zeros(self.n_rows)
            for at, value in entries:
                row[at] = value
            rows.append(row)
            offsets.append(offset)
            names.append(name)

        for contact, first in zip(self.contacts, self.first, strict=False):
            if contact.slide is not None:  # its normal force is given
                continue
            add(f"{contact.name}: normal force", -contact.least, (first, 1.0))
            if np.isfinite(contact.most):
                add(f"{contact.name}: largest force", contact.most, (first, -1.0))
            for sign, word in ((1.0, "+"), (-1.0, "-")) if contact.rows > 3 else ():
                add(f"{contact.name}: torsion {word}", 0.0, (first, contact.torsion), (first + 3, sign))
            if contact.rows == 6:
                a, b = contact.half_lengths
                for sign, word in ((1.0, "+"), (-1.0, "-")):
                    # r x f with r = a t1 + b t2 in the plane: its moments are b f_n about t1, -a f_n about t2.
                    add(f"{contact.name}: edge {word}t2", 0.0, (first, b), (first + 4, -sign))
                    add(f"{contact.name}: edge {word}t1", 0.0, (first, a), (first + 5, sign))
        return np.array(rows).reshape(len(rows), self.n_rows), np.array(offsets), tuple(names)


def held(model: Model, q: Array, contacts: ContactSet, *, touching: float = 1e-4) -> HeldContacts:
    """The contacts of a simulator's step that touch (gap below `touching`, m) and have friction, as held ones.

    Contact points are taken as fixed to both bodies: of round feet that roll, what is left out is the acceleration
    omega^2 r of the point.
    """
    poses, found = body_poses(model, q), []
    index = {int(link): body for body, link in enumerate(model.body_links)}

    def node(link: int, point: Array) -> Node:
        body = index[int(link)]
        return Node(body, poses.rotations[body].T @ (point - poses.positions[body]))

    for i in np.flatnonzero((contacts.gaps < touching) & (contacts.frictions > 0.0)):
        (a, b), point, frame, sign = contacts.links[i], contacts.positions[i], contacts.frames[i], 1.0
        if a < 0:  # the world is on side A: turn the contact round
            a, b, sign = b, a, -1.0
        found.append(
            HeldContact(
                node=node(a, point), other=None if b < 0 else node(b, point), friction=float(contacts.frictions[i]),
                normal=sign * frame[0], tangent=frame[1], name=f"contact {i} of {model.body_names[index[int(a)]]}",
            )
        )  # fmt: skip
    return HeldContacts(model, found)
