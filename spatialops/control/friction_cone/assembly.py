"""From a state to the program of [A] 29.

Unknowns are motor forces u, and internal forces y where contacts are redundant. Where rows of A are
redundant forces cannot be told from motions: lambda = F u + f + I y with A^T I = 0. Contacts hold
if some y brings all of them into their cones; the program seeks it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from spatialops._arrays import Array, ArrayLike, vector
from spatialops.control.friction_cone.assembly_kernel import (
    NOT_FINITE,
    SOFT_POSTURE,
    STRICT,
    TRADE_OFF,
    Counts,
    Given,
    Places,
    Weights,
    assembly_kernel,
)
from spatialops.control.friction_cone.force_program import ForceProgram
from spatialops.control.friction_cone.optimality import Rows
from spatialops.control.friction_cone.program_rooms import ProgramRooms, Sizes
from spatialops.control.projected.control_state import ControlState
from spatialops.errors import ArgumentError

_LEAST_LOAD = 1e-3  # N; a contact's where nothing weighs and nothing presses
_NOTHING = np.zeros(0)

ForceGoals = Callable[[float], ArrayLike]


class Assembly:
    """Costs, inequalities and equalities (tasks, posture, forces) of a controller at one state.

    Parameters
    ----------
    at : ControlState
        Dynamics and tasks.
    posture : (nv,) array or None
        Accelerations wanted of what the tasks leave free.
    force_goals : (k, 3) array or None
        Contact forces [normal, tangent, tangent] to regulate ([A] 35), N; NaN: free.
    rooms : ProgramRooms, optional
        Where programs are, until the next ones are put there; default: in memory of their own.
    """

    def __init__(
        self,
        at: ControlState,
        posture: Array | None,
        force_goals: ArrayLike | None,
        rooms: ProgramRooms | None = None,
    ) -> None:
        self._rooms = ProgramRooms() if rooms is None else rooms
        self.at, self.p = at, len(at.motors.actuation)
        self.n = self.p + len(at.mechanism.drift) - at.rank
        self.posture = None if posture is None else vector(posture, len(at.state.v), "posture")
        wanted = _NOTHING
        if force_goals is not None and len(at.held.mu):
            wanted = np.array(force_goals, dtype=np.float64).ravel()
        self._goals = wanted

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the inequalities, then of the cones."""
        held = self.at.held
        return (*self.at.motors.ends, *held.limits[2], *held.cone_names)

    def strict(self) -> ForceProgram:
        """Tasks as equalities, posture as well as it can be met beside them."""
        return self._program(STRICT, 0.0, 0.0)

    def soft_posture(self, weight: float) -> ForceProgram:
        """Tasks as equalities, posture as a cost weight |xi - wanted|^2."""
        return self._program(SOFT_POSTURE, 0.0, weight)

    def trade_off(self, weight: float, posture_weight: float) -> ForceProgram:
        """What the task misses as a cost: weight |d|^2 with d = Lambda^+ zeta ([A] 31-33)."""
        return self._program(TRADE_OFF, weight, posture_weight)

    @cached_property
    def _parts(self) -> tuple[Given, Sizes, Places, Counts, float]:
        """What all programs of a state are made from, and the load of all contacts, N."""
        at, held = self.at, self.at.held
        motors, mechanism = at.motors, at.mechanism
        bounded, offsets, _ = held.limits
        strong = motors.strong[0]
        given = Given(
            mechanism.M,
            _NOTHING if self.posture is None else self.posture,
            bounded,
            offsets,
            held.mu,
            held.pressed,
            self._goals,
            motors.weights,
            motors.actuation.limits,
        )
        n, p = len(at.state.v), self.p
        k = n - at.rank
        tasks = len(mechanism.right)
        equal = tasks + min(k, p) + len(held.pressed) + len(self._goals)
        limits = 2 * len(strong) + len(offsets)
        sizes = Sizes(self.n, equal, limits, len(held.mu), tasks, k, p, n)
        places = Places(strong, held.force_rows, held.pressed_rows)
        counts = Counts(len(held), tasks, len(mechanism.drift))
        return given, sizes, places, counts, max(motors.actuation.weight, _LEAST_LOAD)

    def _program(self, which: int, weight: float, posture_weight: float) -> ForceProgram:
        given, sizes, places, counts, load = self._parts
        room = self._rooms.of(which, sizes)
        count = assembly_kernel(
            room.address,
            which,
            self.at.rank,
            self.at.floats,
            given,
            places,
            Weights(load, weight, posture_weight),
            counts,
            room.floats,
            room.ints,
        )
        if count == NOT_FINITE:
            raise ArgumentError("a force program holds NaN or infinity")
        H, g, E, e, *others = room.rows
        return ForceProgram.of_rows(Rows(H, g, E[:count], e[:count], *others), self.names)
