"""Which contacts hold when, as data, with forces that come and go without a jump."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from spatialops._arrays import Array, array, instance, scalar, several
from spatialops.control.locomotion.gait import Gait
from spatialops.control.projected.held_contact import HeldContact
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model
from spatialops.tree.state import State

Intervals = Sequence[tuple[float, float]]

_LEAST = 1e-3  # share of the full force that a contact may always have: it is held


class ContactSchedule:
    """Contacts with the intervals in which they hold; what controllers take as `contacts`.

    The normal force of a contact is bounded by a ramp after it begins and before it ends, so that a
    foot is loaded and unloaded smoothly, and torques do not jump.

    Parameters
    ----------
    model : Model
        The mechanism.
    contacts : sequence of HeldContact
        All that ever hold, with names of their own.
    intervals : mapping of str to sequence of (float, float)
        Beginnings and ends by the contacts' names, s; infinite ones are allowed. A contact that is
        not named always holds.
    ramp : float, default 0.05
        s for which a force grows, and shrinks.
    full : float, optional
        Normal force at which a ramp ends, N, beyond which there is no bound; default: the weight of
        the mechanism.
    period : float, optional
        s after which the schedule begins again; default: never. Intervals may pass its end.

    Raises
    ------
    ArgumentError
        For names that are unknown or used twice, intervals that do not end after they begin, and
        numbers out of range.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.control import ContactSchedule, HeldContact
    >>> robot = so.models.quadruped()
    >>> feet = [HeldContact(node=so.Node(name), name=name) for name in robot.feet]
    >>> schedule = ContactSchedule(robot.model, feet, {robot.feet[0]: [(0.0, 1.0)]}, ramp=0.1)
    >>> [len(schedule(time, robot.state)) for time in (0.5, 1.5)]
    [4, 3]
    >>> float(schedule.share(0.05)[0])  # half of its first ramp
    0.5
    """

    def __init__(
        self,
        model: Model,
        contacts: Sequence[HeldContact],
        intervals: Mapping[str, Intervals],
        *,
        ramp: float = 0.05,
        full: float | None = None,
        period: float | None = None,
    ) -> None:
        self.model = instance(model, Model, "model")
        given = several(contacts, "contacts", "HeldContact")
        self.contacts = tuple(instance(one, HeldContact, "contacts") for one in given)
        if not isinstance(intervals, Mapping):
            raise ArgumentError(f"intervals: expected a mapping by names, got {intervals!r}")
        self.ramp = scalar(ramp, "ramp", low=0.0)
        weight = model.mass * float(np.linalg.norm(model.gravity))
        self.full = scalar(weight if full is None else full, "full", low=0.0, strict=True)
        self.period = None if period is None else scalar(period, "period", low=0.0, strict=True)
        names = [contact.name for contact in self.contacts]
        if len(set(names)) < len(names):
            raise ArgumentError(f"contacts: expected names of their own, got {names}")
        unknown = sorted(set(intervals) - set(names))
        if unknown:
            raise ArgumentError(f"intervals: no contacts are called {unknown}; there are {names}")
        always = ((-np.inf, np.inf),)
        self._spans = [_spans(name, intervals.get(name, always), self.period) for name in names]
        self._held: dict[tuple[int, ...], HeldContacts] = {}

    @classmethod
    def of_gait(
        cls,
        model: Model,
        contacts: Sequence[HeldContact],
        gait: Gait,
        *,
        ramp: float = 0.02,
        full: float | None = None,
    ) -> ContactSchedule:
        """The schedule of a gait.

        Parameters
        ----------
        model : Model
            The mechanism.
        contacts : sequence of HeldContact
            Feet, in the gait's order.
        gait : Gait
            Its touchdowns and duty.
        ramp, full : float
            As of the class.

        Returns
        -------
        ContactSchedule
            With the gait's period.

        Raises
        ------
        ArgumentError
            Where gait and contacts are not as many.
        """
        if len(contacts) != len(gait.touchdown):
            raise ArgumentError(
                f"contacts: expected {len(gait.touchdown)} of the gait, got {len(contacts)}"
            )
        stance = gait.stance_time
        begins = [phase * gait.period for phase in gait.touchdown]
        intervals = {
            contact.name: [(start, start + stance)]
            for contact, start in zip(contacts, begins, strict=True)
        }
        return cls(model, contacts, intervals, ramp=ramp, full=full, period=gait.period)

    def share(self, time: float) -> Array:
        """How much of its full force each contact may have.

        Parameters
        ----------
        time : float
            Time, s.

        Returns
        -------
        (contacts,) array
            0 for contacts that do not hold, 1 for those away from their ramps.
        """
        return np.array([self._share(spans, time) for spans in self._spans])

    def __call__(self, time: float, state: State) -> HeldContacts:
        """Contacts that hold, with bounds of their normal forces.

        Parameters
        ----------
        time : float
            Time, s.
        state : State
            Not used.

        Returns
        -------
        HeldContacts
            In the order of `contacts`.
        """
        shares = [self._share(spans, time) for spans in self._spans]
        holding = tuple(i for i, share in enumerate(shares) if share > 0.0)
        if holding not in self._held:
            kept = [self.contacts[i] for i in holding]
            self._held[holding] = HeldContacts(self.model, kept)
        held = self._held[holding]
        loads = [shares[i] for i in holding]
        if not loads or min(loads) >= 1.0:
            return held
        most = [max(load, _LEAST) * self.full if load < 1.0 else math.inf for load in loads]
        return held.bounded(np.array(most))

    def _share(self, spans: list[tuple[float, float]], time: float) -> float:
        """The largest that any interval gives."""
        edge = -1.0
        for begin, end in spans:
            since = time - begin
            left = end - time
            if self.period is not None and math.isfinite(end - begin):
                since %= self.period
                left = end - begin - since
            if since >= 0.0 and left > 0.0:
                edge = max(edge, min(since, left))
        if edge < 0.0:
            return 0.0
        return 1.0 if edge >= self.ramp else max(_smooth(edge / self.ramp), _LEAST)


def _smooth(s: float) -> float:
    """From 0 to 1 without a jump of its rate."""
    return s * s * (3.0 - 2.0 * s)


def _spans(name: str, intervals: Intervals, period: float | None) -> list[tuple[float, float]]:
    """Beginnings and ends, checked."""
    spans = (
        array(list(intervals), (None, 2), f"intervals[{name!r}]") if intervals else np.zeros((0, 2))
    )
    length = spans[:, 1] - spans[:, 0]
    if not (length > 0.0).all():
        raise ArgumentError(
            f"intervals[{name!r}]: expected each to end after it begins, got {spans}"
        )
    if period is not None and (np.isfinite(length) & (length > period)).any():
        raise ArgumentError(f"intervals[{name!r}]: one is longer than the period, {period:g} s")
    return [(begin, end) for begin, end in spans.tolist()]
