"""Several held contacts of one model, and the rows that hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, array, instance, several
from spatialops.control.projected.held_contact import HeldContact, crossed
from spatialops.control.projected.mapped_rows import NodeMaps, rows_of_maps
from spatialops.control.projected.point_rows import rows_of_points
from spatialops.tree.model import Model


class _Limits(NamedTuple):
    """Inequalities of forces, and where among them largest ones are, and of which contacts."""

    F: Array
    f: Array
    names: tuple[str, ...]
    places: IntArray
    bounded: IntArray


class HeldContacts:
    """Several contacts of one model and their rows A, A v = 0.

    Rows of a contact are [normal, tangent, tangent], then angular ones. Multipliers are forces on
    the first body along the contact's frame, N, and moments, N m.

    Parameters
    ----------
    model : Model
        The mechanism.
    contacts : sequence of HeldContact
        What is held.

    Attributes
    ----------
    sliding : tuple of HeldContact
        Contacts that slide.
    mu : (g,) array
        Coefficients of friction of the gripping ones.
    frames : (c, 3, 3) array
        Rows normal, tangent, tangent of each, world axes.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.control import HeldContact, HeldContacts
    >>> robot = so.models.quadruped()
    >>> feet = HeldContacts(robot.model, [HeldContact(node=so.Node(name)) for name in robot.feet])
    >>> feet.jacobian(robot.state.q).shape
    (12, 18)
    """

    def __init__(self, model: Model, contacts: Sequence[HeldContact]) -> None:
        self.model = instance(model, Model, "model")
        given = several(contacts, "contacts", "HeldContact")
        self._contacts = tuple(instance(one, HeldContact, "contacts") for one in given)
        self._most = np.array([contact.most for contact in self._contacts])
        self._kept: dict[bytes, _Limits] = {}  # by which contacts have a largest force
        self.mu = np.array([contact.friction for contact in self.gripping])
        self.frames = np.array([contact.frame() for contact in self.contacts]).reshape(-1, 3, 3)
        self._nodes = [contact.node for contact in self.contacts]
        self._others = [i for i, contact in enumerate(self.contacts) if contact.other is not None]
        self._nodes += [contact.other for contact in self.contacts if contact.other is not None]
        self._rolls = [
            i for i in self._others if self.contacts[i].radius > 0.0 or self.contacts[i].rows == 4
        ]
        counts = np.array([contact.rows for contact in self.contacts], dtype=np.int64)
        self.first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        plain = (counts == 3).all() and not self._others and len(counts) > 0
        round_ = any(contact.radius > 0.0 for contact in self.contacts)
        self._held_points = self._fixed() if plain and not round_ else None
        grips = np.array(
            [i for i, contact in enumerate(self.contacts) if contact.slide is None], dtype=np.int64
        )
        self.force_rows: IntArray = (self.first[grips, None] + np.arange(3)).ravel()
        self.pressed_rows: IntArray = np.delete(self.first[:-1], grips)
        self.pressed = np.array([contact.pressed for contact in self.sliding])

    @cached_property
    def contacts(self) -> tuple[HeldContact, ...]:
        """Each by itself."""
        pairs = zip(self._contacts, self._most.tolist(), strict=True)
        return tuple(replace(own, most=most) if own.most != most else own for own, most in pairs)

    @cached_property
    def sliding(self) -> tuple[HeldContact, ...]:
        """Contacts that slide."""
        return tuple(contact for contact in self.contacts if contact.slide is not None)

    @cached_property
    def gripping(self) -> tuple[HeldContact, ...]:
        """Contacts that hold in all directions."""
        return tuple(contact for contact in self.contacts if contact.slide is None)

    @cached_property
    def cone_names(self) -> tuple[str, ...]:
        """Names of the friction cones of contacts that grip."""
        return tuple(f"{contact.name}: cone" for contact in self.gripping)

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.first[-1])

    def _map(self, i: int, radius: float) -> Array:
        """Rows (rows, 6) of a contact from the motion [angular; linear] of a point radius n off."""
        frame, count = self.frames[i], self.contacts[i].rows
        lever = -radius * frame[0]
        result = np.zeros((count, 6))
        result[:3, 3:] = frame[: min(count, 3)]
        result[:3, :3] = crossed(lever, frame[: min(count, 3)])
        if count > 3:
            result[3:, :3] = frame[: count - 3]
        return result

    def _fixed(self) -> tuple[IntArray, Array, Array]:
        """Links, offsets and frames of points that are fixed to the world."""
        links, points = self.model.resolve(self._nodes)
        sides = np.stack([links, np.full(len(links), -1)], axis=1).astype(np.int64)
        return sides, np.hstack([points, np.zeros_like(points)]), self.frames

    @cached_property
    def _mapped(self) -> NodeMaps:
        """Points of the contacts, then those on other bodies, whose motion counts against them."""
        own = [(i, self._map(i, contact.radius)) for i, contact in enumerate(self.contacts)]
        own += [(i, -self._map(i, 0.0)) for i in self._others]
        places = [(int(self.first[i]), rows) for i, rows in own]
        links, offsets = self.model.resolve(self._nodes)
        return NodeMaps.of(links, offsets, places)

    def rows(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The rows A, and their drift where A v = 0.

        Parameters
        ----------
        q : (nq,) array
            Coordinates.
        v : (nv,) array
            Velocities.

        Returns
        -------
        A : (n_rows, nv) array
            Rows of all contacts.
        drift : (n_rows,) array
            Adot v, m/s^2 and rad/s^2.
        """
        if not self.contacts:
            return np.zeros((0, self.model.nv)), np.zeros(0)
        if self._held_points is not None:
            return rows_of_points(self.model, q, v, *self._held_points)
        A, drift, velocities = rows_of_maps(self.model, q, v, self._mapped, self.n_rows)
        if self._rolls:
            drift += self._rolling(velocities[:, :3])
        return A, drift

    def jacobian(self, q: Array) -> Array:
        """The rows A.

        Parameters
        ----------
        q : (nq,) array
            Coordinates.

        Returns
        -------
        (n_rows, nv) array
            Rows of all contacts.
        """
        return self.rows(q, np.zeros(self.model.nv))[0]

    def drift(self, q: Array, v: Array) -> Array:
        """Adot v, where A v = 0.

        Parameters
        ----------
        q : (nq,) array
            Coordinates.
        v : (nv,) array
            Velocities.

        Returns
        -------
        (n_rows,) array
            The drift, m/s^2 and rad/s^2.
        """
        return self.rows(q, v)[1]

    def _rolling(self, spins: Array) -> Array:
        """What rolling on a body that turns adds to the drift, where A v = 0.

        The normal turns with that body, ndot = W x n, and the point of contact travels over it by
        r (w - W) x n.
        """
        extra = np.zeros(self.n_rows)
        for i in self._rolls:
            contact = self.contacts[i]
            n = self.frames[i, 0]
            first = self.first[i]
            w, W = spins[i], spins[len(self.contacts) + self._others.index(i)]
            turn = np.cross(W, n)
            bend = -contact.radius * (np.cross(w, turn) + np.cross(W, np.cross(w - W, n)))
            extra[first : first + min(3, contact.rows)] = (self.frames[i] @ bend)[: contact.rows]
            if contact.rows == 4:
                extra[first + 3] = turn @ (w - W)
        return extra

    def sliding_friction(self, q: Array) -> Array:
        """Generalised force of the sliding contacts' friction.

        Parameters
        ----------
        q : (nq,) array
            Coordinates.

        Returns
        -------
        (nv,) array
            N m or N, against the direction of sliding.
        """
        force = np.zeros(self.model.nv)
        for contact in self.sliding:
            direction = np.asarray(contact.slide, dtype=np.float64)
            gripping = HeldContacts(self.model, [replace(contact, slide=None, pressed=0.0)])
            across = direction - (gripping.frames[0, 0] @ direction) * gripping.frames[0, 0]
            across /= np.linalg.norm(across)
            pull = gripping.frames[0] @ (-contact.friction * contact.pressed * across)
            force += gripping.jacobian(q).T @ pull
        return force

    def bounded(self, most: ArrayLike) -> HeldContacts:
        """The same contacts with other upper bounds of their normal forces.

        Parameters
        ----------
        most : (c,) array_like
            N, infinite for none; where it is below a contact's own `least`, that is the bound.

        Returns
        -------
        HeldContacts
            A copy that shares all else.

        Raises
        ------
        ArgumentError
            If there are not as many as contacts.
        """
        bounds = array(most, (len(self),), "most")
        result = object.__new__(type(self))
        own = self.__dict__ | {"_most": np.maximum(bounds, self._floors)}
        for name in ("limits", "contacts", "gripping", "sliding"):
            own.pop(name, None)
        result.__dict__ = own
        return result

    @cached_property
    def _floors(self) -> Array:
        """The least bounds (c,) of normal forces that leave a range."""
        return np.nextafter([contact.least for contact in self._contacts], np.inf)

    @cached_property
    def limits(self) -> tuple[Array, Array, tuple[str, ...]]:
        """Inequalities F lambda + f >= 0 of normal forces and of a foot's moments: F, f, names."""
        key = np.isfinite(self._most).tobytes()
        if key not in self._kept:
            self._kept[key] = self._limited()
        F, f, names, places, bounded = self._kept[key]
        if not len(places):
            return F, f, names
        offsets = f.copy()
        offsets[places] = self._most[bounded]
        return F, offsets, names

    def _limited(self) -> _Limits:
        """Inequalities, and where among them largest forces are, and of which contacts."""
        rows = []
        offsets = []
        names = []
        places = []

        def add(name: str, offset: float, *entries: tuple[int, float]) -> None:
            row = np.zeros(self.n_rows)
            for at, value in entries:
                row[at] = value
            rows.append(row)
            offsets.append(offset)
            names.append(name)

        for i, (contact, first) in enumerate(zip(self._contacts, self.first, strict=False)):
            if contact.slide is not None:  # its normal force is given
                continue
            add(f"{contact.name}: normal force", -contact.least, (first, 1.0))
            if np.isfinite(self._most[i]):
                places.append((len(rows), i))
                add(f"{contact.name}: largest force", self._most[i], (first, -1.0))
            for sign, word in ((1.0, "+"), (-1.0, "-")) if contact.rows > 3 else ():
                torsion = (first, contact.torsion), (first + 3, sign)
                add(f"{contact.name}: torsion {word}", 0.0, *torsion)
            if contact.rows == 6:
                assert contact.half_lengths is not None
                a, b = contact.half_lengths
                for sign, word in ((1.0, "+"), (-1.0, "-")):
                    # r x f with r = a t1 + b t2 in the plane has the moments b f_n about t1 and
                    # -a f_n about t2.
                    add(f"{contact.name}: edge {word}t2", 0.0, (first, b), (first + 4, -sign))
                    add(f"{contact.name}: edge {word}t1", 0.0, (first, a), (first + 5, sign))
        F, at = np.array(rows).reshape(len(rows), self.n_rows), np.array(places, dtype=np.int64)
        return _Limits(F, np.array(offsets), tuple(names), *at.reshape(-1, 2).T)
