"""The way into a compiled command: its tables, and what comes out of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from spatialops._arrays import Array, BoolArray, IntArray
from spatialops._compile.held import Held
from spatialops.contact.friction import directions
from spatialops.contact.newton.islands import new_buffers
from spatialops.contact.newton.rows import NewtonRoom
from spatialops.contact.rows import PLACE_COLUMNS
from spatialops.control.inverse_dynamics.answer import (
    GAVE_WAY,
    LET_GO,
    OTHERS,
    Answer,
    unsettled,
)
from spatialops.control.inverse_dynamics.compiled import layout as io
from spatialops.control.inverse_dynamics.compiled.rounds import ANSWERED, command_held
from spatialops.control.inverse_dynamics.compiled.tables import Call, Newton, Robot
from spatialops.control.inverse_dynamics.compiled.workspace import (
    Sizes,
    ints_of,
    room_of,
)
from spatialops.control.inverse_dynamics.force_distribution import middles
from spatialops.control.inverse_dynamics.remembered import Remembered
from spatialops.simulation.lookahead import Lookahead
from spatialops.tree.state import State

MOST = 24  # contacts that there is room for
_STARTS = np.array([1, 3])  # rows of a contact: normal, two tangents


class CompiledCommand:
    """Commands against plain contacts whose law kernels have.

    Parameters
    ----------
    lookahead : Lookahead
        Whose tables are looked into.
    given : (n,) int array
        Velocities that are demanded.
    horizon : float
        s.
    memory : float
        Share of the last impulses that the choice looks for.
    reserve : float
        Share of friction that it leaves unused.
    law : int
        Its number in `contact.newton._layout`.
    choice, kind : int
        See `layout` and `room`.
    n_f : int
        Sides of the polyhedron of friction, or of the one in which forces are chosen.
    aligned : int, default 0
        Times that contact frames are found again under the command.
    """

    def __init__(
        self,
        lookahead: Lookahead,
        given: IntArray,
        horizon: float,
        memory: float,
        reserve: float,
        *,
        law: int,
        choice: int,
        kind: int,
        n_f: int,
        aligned: int = 0,
    ) -> None:
        self.lookahead = lookahead
        options = {"law": law, "choice": choice, "kind": kind, "n_f": n_f, "aligned": aligned}
        self._again = partial(
            CompiledCommand, lookahead, given, horizon, memory, reserve, **options
        )
        model = lookahead.model
        branches = model.branches
        others = np.setdiff1d(np.arange(model.nv), given)
        limits = lookahead.simulator.effort.limit.copy()
        limits.flags.writeable = False  # as a model's are: another type is compiled again
        robot = Robot(
            branches.tree,
            branches.constants,
            branches.workspace(),
            branches.room(),
            model.workspace(),
            given,
            others,
            limits,
            middles(n_f),
            _STARTS,
            _newton_of(len(others), n_f),
        )
        activations = lookahead.activation(lookahead.simulator.scene.state).size
        self._call = _call_of((model.nq, model.nv, activations), len(given), n_f)
        self._call.numbers[:] = (
            0.0,
            horizon / lookahead.dt,
            horizon,
            lookahead.dt,
            memory,
            1.0 - reserve,
        )
        self._call.options[:] = (choice, kind, lookahead.counts_gain, 0, aligned, law, 0)
        self._held = Held(robot), Held(self._call)

    def __reduce__(self) -> tuple[Callable[[], CompiledCommand], tuple[()]]:
        return self._again, ()  # a copy has tables of its own, of which some are read-only

    def answer(
        self,
        state: State,
        demand: Array,
        base: Array,
        gain: Array,
        stands: BoolArray | None,
        last: Remembered,
    ) -> Answer | None:
        """The command of a checked state; None where it is not for kernels.

        `gain` becomes the one that was found.
        """
        known = len(last.names)
        if known > MOST:
            return None
        call = self._call
        call.q[:] = state.q
        call.activation[:] = self.lookahead.activation(state)
        call.names[:known] = last.names
        call.world[:known] = last.world
        call.numbers[io.TIME] = state.time
        vectors = call.vectors
        vectors[io.Q_DOT] = state.v
        vectors[io.BASE] = base
        vectors[io.DEMAND, : len(demand)] = demand
        vectors[io.GAIN] = gain
        options = call.options
        options[io.KNOWN] = known
        options[io.STANDING] = stands is not None
        if stands is not None:
            call.stands[:] = stands
        robot, held = self._held
        if command_held(self.lookahead.address, robot.address, held.address) != ANSWERED:
            return None
        gain[:] = vectors[io.GAIN]
        return _answer_of(call)


def _answer_of(call: Call) -> Answer:
    """What is in the tables; velocities and joint forces stay there until the next command."""
    m = int(call.counts[io.CONTACTS])
    vectors = call.vectors
    miss = float(call.report[io.MISS])
    notes: tuple[str, ...] = ()
    counts = call.counts
    if counts[io.GIVES_WAY]:
        notes = (GAVE_WAY,)
    if counts[io.LET_GO]:
        notes = (*notes, LET_GO)
    if counts[io.OTHERS]:
        notes = (*notes, OTHERS)
    if miss:
        notes = (*notes, unsettled(miss))
    return Answer(
        vectors[io.BEFORE],
        vectors[io.AFTER],
        vectors[io.TAU],
        call.impulses[:m].copy(),
        Remembered(call.acting[:m].copy(), call.pushes[:m].copy()),
        float(call.report[io.RESIDUAL]),
        int(call.counts[io.ITERATIONS]),
        bool(call.counts[io.LANDING]),
        "nearest" if counts[io.OTHERS] or counts[io.GIVES_WAY] else "solved",
        notes,
        miss,
    )


def _newton_of(columns: int, n_f: int) -> Newton:
    """Room for Newton's method on statuses."""
    room = NewtonRoom(MOST, columns, 3 * MOST * columns, 1, columns, n_f)
    places = np.zeros((MOST, PLACE_COLUMNS), dtype=np.int64)
    return Newton(new_buffers(room), places, np.zeros(2, dtype=np.int64), directions(n_f))


def _call_of(state: tuple[int, int, int], n: int, n_f: int) -> Call:
    """Empty tables for states of so many coordinates, velocities and activations."""
    nq, nv, activations = state
    sizes = Sizes(MOST, nv, n)
    return Call(
        numbers=np.zeros(io.NUMBERS),
        options=np.zeros(io.OPTIONS, dtype=np.int64),
        vectors=np.zeros((io.VECTORS, nv)),
        q=np.zeros(nq),
        activation=np.zeros(activations),
        stands=np.zeros(nv + 1, dtype=np.int64),
        names=np.zeros((MOST, 3), dtype=np.int64),
        world=np.zeros((MOST, 3)),
        floats=np.zeros(room_of(sizes) + _scratch(sizes, n_f)),
        ints=np.zeros(ints_of(MOST) + 20 * MOST + 4 * nv, dtype=np.int64),
        wanted=np.zeros(n),
        before=np.zeros(3 * MOST),
        seen=np.zeros((MOST, 3)),
        met=np.zeros((MOST, 3), dtype=np.int64),
        kept=np.zeros(MOST, dtype=np.int64),
        q_met=np.zeros(nq),
        active=np.zeros(2 + MOST * (n_f + 1), dtype=np.int64),
        edges=np.zeros(1 + MOST * n_f, dtype=np.int64),
        impulses=np.zeros((MOST, 3)),
        pushes=np.zeros((MOST, 3)),
        acting=np.zeros((MOST, 3), dtype=np.int64),
        report=np.zeros(io.REPORT),
        counts=np.zeros(io.COUNTS, dtype=np.int64),
    )


def _scratch(sizes: Sizes, n_f: int) -> int:
    """The most that any part works in: demands, the law, the choice."""
    m = sizes.m
    nv = sizes.nv
    k = 3 * m
    inverse = 2 * k * nv + 4 * k * k
    n = sizes.n
    u = nv - n
    demands = 2 * nv * nv + 4 * k * nv + inverse
    law = 12 * k * k + 10 * k * nv + 30 * k + 100
    edges = m + m * n_f * (u + 6) + (2 * u + 5) * u
    torques = (n + k) * (k + 1)
    chosen = 10 * k * k + 2 * m * (n_f + 1) * (k + 3) + (nv + 8) * (k + 2) + torques
    return max(demands, law, edges, chosen) + 100
