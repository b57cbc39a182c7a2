"""Steps to given places: which feet stand when, how they swing, and where the centre of mass is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, ArrayLike, array, instance, scalar, several, whole
from spatialops.control.locomotion.contact_schedule import ContactSchedule
from spatialops.control.locomotion.pendulum_path import PendulumPath
from spatialops.control.projected.held_contact import HeldContact
from spatialops.control.task_space.tracking import Path
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model

_STEP = 5e-3  # s between centres of pressure
_REST = 1.0  # s of standing before the first step and after the last one


@dataclass(frozen=True, eq=False, kw_only=True)
class Footstep:
    """A foot leaves the ground and comes down somewhere.

    Parameters
    ----------
    foot : int
        Which one.
    start, end : float
        When it swings, s.
    place : (3,) array_like
        Where the node of its contact comes down, world axes, m.
    """

    foot: int
    start: float
    end: float
    place: ArrayLike


class Footsteps:
    """A plan of steps, as what a `WholeBodyController` follows.

    Parameters
    ----------
    model : Model
        The mechanism.
    feet : sequence of HeldContact
        With names of their own.
    places : (k, 3) array_like
        Where the feet's nodes stand at first, m.
    steps : sequence of Footstep
        In the order of time for each foot; none starts before a second has passed.
    height : float, default 0.05
        To which feet are lifted, m.
    ramp : float, default 0.1
        s for which the force of a foot grows and shrinks.

    Attributes
    ----------
    schedule : ContactSchedule
        What the controller takes as its contacts.
    duration : float
        s, until a second after the last step.

    Raises
    ------
    ArgumentError
        For feet that are not there, steps that overlap or come too soon, or no foot on the ground.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.control import Footstep, Footsteps, HeldContact, PointTask
    >>> robot = so.models.quadruped()
    >>> nodes = [so.Node(name) for name in robot.feet]
    >>> feet = [HeldContact(node=node, name=node.body) for node in nodes]
    >>> places = [PointTask(node).motion(robot.model, robot.state).x for node in nodes]
    >>> forwards = Footstep(foot=0, start=1.0, end=1.3, place=places[0] + [0.05, 0.0, 0.0])
    >>> plan = Footsteps(robot.model, feet, places, [forwards])
    >>> [len(plan.schedule(time, robot.state)) for time in (0.5, 1.15, 2.0)]
    [4, 3, 4]
    >>> x, _, _ = plan.foot(0)(1.15)
    >>> (x - places[0]).round(3).tolist()
    [0.025, 0.0, 0.05]
    """

    def __init__(
        self,
        model: Model,
        feet: Sequence[HeldContact],
        places: ArrayLike,
        steps: Sequence[Footstep],
        *,
        height: float = 0.05,
        ramp: float = 0.1,
    ) -> None:
        self.feet = several(feet, "feet", "nodes")
        each = several(steps, "steps", "footsteps")
        self.steps = tuple(instance(step, Footstep, "steps") for step in each)
        self.places = array(places, (len(self.feet), 3), "places", finite=True)
        self.height = scalar(height, "height", low=0.0)
        self._gravity = float(np.linalg.norm(instance(model, Model, "model").gravity))
        self._own = [self._of(foot) for foot in range(len(self.feet))]
        spans = {
            contact.name: _stances(own) for contact, own in zip(self.feet, self._own, strict=True)
        }
        self.schedule = ContactSchedule(model, self.feet, spans, ramp=ramp)
        self.duration = max((step.end for step in self.steps), default=_REST) + _REST

    def foot(self, foot: int) -> Path:
        """Path of a foot's node.

        Parameters
        ----------
        foot : int
            Which one.

        Returns
        -------
        callable
            time -> position, velocity and acceleration (3,), world axes: what a `PointTask` tracks.

        Raises
        ------
        ArgumentError
            For a foot that is not there.
        """
        own = self._own[whole(foot, "foot", low=0, high=len(self.feet) - 1)]
        places: Array = np.vstack([self.places[foot], *(np.asarray(step.place) for step in own)])
        starts = np.array([step.start for step in own])

        def path(time: float) -> tuple[Array, Array, Array]:
            begun = int(np.searchsorted(starts, time))
            if begun and time < own[begun - 1].end:
                return _swing(own[begun - 1], places[begun - 1 : begun + 1], self.height, time)
            return places[begun], np.zeros(3), np.zeros(3)

        return path

    def center_of_mass(self, height: float) -> PendulumPath:
        """Path of the centre of mass in the plane.

        Parameters
        ----------
        height : float
            Of the centre of mass above the ground, m.

        Returns
        -------
        PendulumPath
            Over the centre of pressure, which feet share as the schedule lets them bear forces.

        Raises
        ------
        ArgumentError
            If there is a time at which no foot is on the ground.
        """
        times = np.arange(0.0, self.duration, _STEP)
        shares = np.array([self.schedule.share(time) for time in times])
        paths = [self.foot(foot) for foot in range(len(self.feet))]
        places = np.array([[np.asarray(path(time)[0])[:2] for path in paths] for time in times])
        total = shares.sum(axis=1)
        if (total <= 0.0).any():
            when = times[int(np.argmin(total))]
            raise ArgumentError(f"steps: no foot is on the ground at {when:.3g} s")
        pressure = (shares[:, :, None] * places).sum(axis=1) / total[:, None]
        return PendulumPath(times, pressure, height=height, gravity=self._gravity)

    def _of(self, foot: int) -> list[Footstep]:
        """The steps of a foot, checked."""
        own = []
        before = _REST
        for step in self.steps:
            whole(step.foot, "foot", low=0, high=len(self.feet) - 1)
            array(step.place, (3,), "place", finite=True)
            if step.foot != foot:
                continue
            if not before <= step.start < step.end:
                raise ArgumentError(
                    f"steps: foot {foot} swings from {step.start:g} s to {step.end:g} s, expected "
                    f"to start at {before:g} s or later and to end after that"
                )
            before = step.end
            own.append(step)
        return own


def _stances(steps: Sequence[Footstep]) -> list[tuple[float, float]]:
    """Intervals between swings."""
    begins = [-np.inf, *(step.end for step in steps)]
    ends = [*(step.start for step in steps), np.inf]
    return list(zip(begins, ends, strict=True))


def _swing(step: Footstep, places: Array, height: float, time: float) -> tuple[Array, Array, Array]:
    """From one of two places to the other, up and down; without acceleration at both ends.

    With u = s (1 - s): forwards s^3 (10 - 15 s + 6 s^2), whose rate is 30 u^2; upwards 64 u^3.
    """
    T = step.end - step.start
    s = (time - step.start) / T
    u = s * (1.0 - s)
    du = 1.0 - 2.0 * s
    way = places[1] - places[0]
    x = places[0] + s**3 * (10.0 - 15.0 * s + 6.0 * s * s) * way
    rate = 30.0 * u * u * way / T
    acceleration = 60.0 * u * du * way / T**2
    x[2] += 64.0 * height * u**3
    rate[2] += 192.0 * height * u * u * du / T
    acceleration[2] += 384.0 * height * u * (du * du - u) / T**2
    return x, rate, acceleration
