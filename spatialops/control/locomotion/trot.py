"""Joint references for walking with a desired planar base velocity ([Z] 7.2.1, figure 7)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, Vec3, array, instance, scalar
from spatialops._compile.held import Held
from spatialops.control.joint_tracking import Reference
from spatialops.control.locomotion.gait import Gait
from spatialops.control.locomotion.leg_kinematics import Legs
from spatialops.control.locomotion.trot_step import Beat, Walk, counted_on, walk_on
from spatialops.control.memory import Remembers, put_in
from spatialops.errors import ArgumentError
from spatialops.tree.state import State

Command = Callable[[float, State], ArrayLike]
_TURNS = 5.0  # rad/s^2 of turning for each m/s^2 of going: how fast commands are followed


class Trot(Remembers):
    """Feet that carry the base along, in the base's own frame.

    Feet that stand move against the base as the ground would, at every call anew; those that swing
    follow velocity-clamped cubics to where half a stance brings them back to rest, landing with the
    velocity of the ground. Cubics are planned anew at every call from where the foot is and as fast
    as it is, so that positions and velocities of a reference belong together also while the command
    changes. Inverse kinematics turns feet into joints. Soles keep their attitude of the posture,
    but that they turn with the ground while they stand, and while they swing to where half a stance
    brings them back.

    Parameters
    ----------
    legs : Legs
        Of the robot.
    stance : array_like
        Joint angles of the posture around which it walks, of the shape of `Legs.joints`.
    command : callable
        command(time, state) -> (forward, sideways, turning) velocities, m/s and rad/s, in the
        base's heading frame.
    dt : float
        Time between calls, s.
    gait : Gait, optional
        When feet stand; default: `Gait()`.
    change : float, default 1
        Largest change of the command, m/s^2 (rad/s^2 times 5).

    Attributes
    ----------
    missed : float
        m by which feet could not reach their places at the last call.

    Raises
    ------
    ArgumentError
        For a posture that does not fit, or a gait of another number of feet.

    References
    ----------
    [Z] 7.2.1 and figure 7.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.control import Legs, Trot
    >>> robot = so.models.quadruped()
    >>> legs = Legs(robot.model, robot.feet)
    >>> stance = robot.state.q[legs.angles]
    >>> trot = Trot(legs, stance, lambda time, state: (0.2, 0.0, 0.0), dt=1e-3)
    >>> trot(0.0, robot.state).q.shape
    (12,)
    """

    def __init__(
        self,
        legs: Legs,
        stance: ArrayLike,
        command: Command,
        *,
        dt: float,
        gait: Gait | None = None,
        change: float = 1.0,
    ) -> None:
        self.legs = legs
        self.command = command
        self.dt = scalar(dt, "dt", low=0.0, strict=True)
        self.gait = Gait() if gait is None else gait
        instance(legs, Legs, "legs")
        if len(instance(self.gait, Gait, "gait").touchdown) != len(legs.nodes):
            raise ArgumentError(
                f"gait: expected a phase for each of {len(legs.nodes)} feet, "
                f"got {len(self.gait.touchdown)}"
            )
        change = scalar(change, "change", low=0.0)
        self._walk = _begun(legs, stance, np.array([change, change, _TURNS * change]))
        self._held = Held(self._walk)
        self.missed = 0.0

    def __call__(self, time: float, state: State) -> Reference:
        """Joints now, and accelerations that bring their velocities to the next step's.

        Parameters
        ----------
        time : float
            Time, s.
        state : State
            Configuration and velocity, for the command.

        Returns
        -------
        Reference
            Arrays (n,) in the order of the velocities.
        """
        wanted = _three(self.command(time, state))
        gait = self.gait
        beat = Beat(float(time), self.dt, gait.period, gait.duty, gait.step_height)
        joints = np.empty((3, self.legs.joints.size))
        tables = self.legs.address, self._held.address
        self.missed = walk_on(*tables, beat, gait.landings, wanted, joints)
        return Reference(joints[0], joints[1], joints[2])

    def standing(self, time: float) -> IntArray:
        """Links of the feet whose contacts the gait means to keep: they stand, or come down.

        A foot that meets the ground early is not driven into it.

        Parameters
        ----------
        time : float
            Time, s.

        Returns
        -------
        (k,) int array
            Kernel links, see `Legs.links`.
        """
        gait = self.gait
        kept = np.empty(len(gait.landings), dtype=np.int64)
        count = counted_on(time / gait.period, gait.duty, gait.landings, self.legs.links, kept)
        return kept[:count]

    def _remembered(self) -> Mapping[str, Array]:
        return self._walk._asdict()

    def _remember(self, kept: Mapping[str, Array]) -> None:
        put_in(self._remembered(), kept)

    def _parts(self) -> Mapping[str, object]:
        return {"command": self.command}


def _three(command: ArrayLike) -> Vec3:
    """Velocities as finite numbers; a tuple of them is not made an array."""
    if isinstance(command, tuple) and len(command) == 3:
        try:
            wanted = float(command[0]), float(command[1]), float(command[2])
        except (TypeError, ValueError):
            wanted = math.nan, math.nan, math.nan
        if math.isfinite(wanted[0]) and math.isfinite(wanted[1]) and math.isfinite(wanted[2]):
            return wanted
    x, y, turn = array(command, (3,), "command", finite=True).tolist()
    return x, y, turn


def _begun(legs: Legs, stance: ArrayLike, change: Array) -> Walk:
    """Feet at rest in a posture."""
    given = array(stance, legs.joints.shape, "stance", finite=True)
    rest = legs.positions(given)
    angles = legs.wide(given, 0.0).copy()
    count = len(rest)
    return Walk(
        pace=np.zeros(3),
        change=change,
        rest=rest,
        feet=rest.copy(),
        velocities=np.zeros((count, 6 if legs.soles else 3)),
        ends=rest[:, :2].copy(),
        swing=np.zeros(count),
        turned=np.zeros((count, 2)),
        level=legs.attitudes(given),
        bodies=legs.bodies,
        attitudes=np.zeros((count, 3, 3)),
        angles=angles,
        rates=np.zeros(angles.shape),
    )
