"""Each formulation of [J] in a compiled loop of its own: table 2 as whole simulations.

The stepping loop (`simulation.stepping.state_machine`) stops at every contact problem, of steps and
of impacts. Here compiled code states it by one of the formulations, from poses and velocities
alone, solves it by dense Lemke, gives the impulses back, and goes on: between two steps there is no
Python. Steps without contact are those of the tree, whatever the formulation.
"""

from __future__ import annotations

import numba
import numpy as np

from spatialops import _layout as layout
from spatialops._compile.apart import reaching
from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.jit import COMPILED, kernel, merged
from spatialops._compile.references import Reference, refer
from spatialops._compile.stage import expect_stages
from spatialops.compare.formulation_problems import (
    Room,
    new_room,
    put_contact_terms,
    state_by_mc,
    state_by_nmc,
    state_by_nmc_os,
    state_by_os,
    state_by_rmc,
)
from spatialops.compare.free_bodies import FreeBodies, free_bodies
from spatialops.contact.formulations import check_formulation
from spatialops.contact.formulations.operational_space import recover_kernel
from spatialops.contact.formulations.polyhedron import put_spread
from spatialops.contact.lcp.lemke import lemke_kernel
from spatialops.contact.lcp.scratch import lemke_scratch
from spatialops.errors import ArgumentError
from spatialops.simulation import _layout as at
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.simulator import Simulator
from spatialops.simulation.stepping.adapter import load_state, state_of
from spatialops.simulation.stepping.record_rows import start
from spatialops.simulation.stepping.state_machine import run
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import State

OS = 0
RMC = 1
MC = 2
NMC_OS = 3
NMC = 4
IN_LOOPS = {"os": OS, "rmc": RMC, "mc": MC, "nmc/os": NMC_OS, "nmc": NMC}
_TOLERANCE = 1e-9  # residual of a problem that counts as solved, as of `Lemke`


@merged
def solve_densely(room: Room, n: int, n_free: int) -> tuple[int, int, float]:
    """Dense Lemke of the problem in the room."""
    scratch = lemke_scratch(
        room.D[: n * (n + 2)].reshape(n, n + 2),
        room.ints[: 6 * (n + 1)].reshape(6, n + 1),
        room.vectors[: 3 * n].reshape(3, n),
    )
    A, covers = room.A[: n * n].reshape(n, n), room.covers[:, :n]
    z, w = room.z[:n], room.w[:n]
    active = room.active[:n]
    limit = 10 * n + 100
    return lemke_kernel(A, room.b[:n], n_free, covers, limit, _TOLERANCE, active, z, w, scratch)


@kernel
def answer_by(t: Tables, room: Room, free: FreeBodies, which: int) -> bool:
    """State and solve the prepared problem, its impulses into the tables; whether it is solved."""
    m, nf = t.control[at.ACTING], t.facets.shape[0]
    in_step = t.control[at.STAGE] == at.CONTACT
    q = t.vectors[at.Q_E, : t.q.size] if in_step else t.q
    v = t.vectors[at.V_X, : t.v.size] if in_step else t.v
    put_contact_terms(t.ints, t.floats, m, room.terms, room.values)
    put_spread(t.u[: 3 * m], 0, t.facets, room.speeds[: m * (nf + 1)])
    if which == OS:
        n, first, n_v, scale = state_by_os(t, room, m)
    elif which == RMC:
        n, first, n_v, scale = state_by_rmc(t, room, m, q)
    elif which == MC:
        n, first, n_v, scale = state_by_mc(t, room, m, q, v)
    elif which == NMC:
        n, first, n_v, scale = state_by_nmc(t, room, free, m)
    else:
        n, first, n_v, scale = state_by_nmc_os(t, room, free, m)
    code, pivots, residual = solve_densely(room, n, first)
    impulses = room.impulses[: first - n_v + 3 * m]
    recover_kernel(room.z[n_v:n], first - n_v, t.facets, scale, impulses)
    for i in range(3 * m):
        t.impulses[i] = impulses[first - n_v + i]
    t.control[at.PIVOTS] += pivots
    t.monitor[at.RESIDUAL] = max(t.monitor[at.RESIDUAL], residual)
    return code == 0


def _advance(t: Tables, room: Room, free: FreeBodies, which: int) -> int:
    """Run until the steps are done, or something is needed from outside; why it stopped."""
    here = refer(t)
    memory = refer(room)
    bodies = refer(free)
    while True:
        code = run(here)
        if code != at.SOLVE or not answer_by(here, memory, bodies, which):
            return code


class _Compiled:
    """`_advance`, whose stages are told of what type the tables are."""

    def __init__(self) -> None:
        self._kernel: CompilerObject = kernel(_advance)

    def __call__(self, t: Tables, room: Room, free: FreeBodies, which: int) -> int:
        """Run."""
        if not self._kernel.overloads:
            expect_stages(_advance, Reference(numba.typeof(t)))
        code: int = reaching(self._kernel, t, room, free, which)
        return code


_ADVANCE = _Compiled() if COMPILED else _advance


class FormulationLoop:
    """Steps of a scene whose contact problems a formulation states, in one compiled loop.

    Parameters
    ----------
    scene : Scene
        A tree without closures, stops and dry friction of joints.
    formulation : str
        One of `IN_LOOPS`.
    dt : float
        Step, s.

    Attributes
    ----------
    problems, unsolved : int
        Contact problems of the last `run`, and those of them that were left to Python.

    Raises
    ------
    ArgumentError
        For another scene, or another formulation.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.compare.formulation_loop import FormulationLoop
    >>> scene = so.models.pendulum(2).scene()
    >>> loop = FormulationLoop(scene, "nmc", 1e-3)
    >>> end = so.Simulator(scene, dt=1e-3).run(scene.state, duration=0.01).q[-1]
    >>> bool(abs(loop.run(scene.state, 10).q - end).max() < 1e-12)
    True
    """

    def __init__(self, scene: Scene, formulation: str, dt: float) -> None:
        if formulation not in IN_LOOPS:
            names = ", ".join(IN_LOOPS)
            raise ArgumentError(f"formulation: expected one of {names}, got {formulation!r}")
        self._which = IN_LOOPS[formulation]
        made = check_formulation(formulation)
        simulator = Simulator(scene, dt=dt, formulation=made, solver="lemke")
        self.stepping = simulator.stepping
        closed = scene.loops.n_rows or len(self.stepping.joints.ints)
        if closed or scene.model.links[:, layout.ARMATURE].any():
            raise ArgumentError(
                "scene: a formulation's loop takes no closures, no armature, and no stops or dry "
                "friction of joints"
            )
        self.tables = self.stepping.tables()
        self._make_room()
        self.problems = self.unsolved = 0

    def run(self, state: State, steps: int) -> State:
        """Make so many steps from a state; nothing of them is recorded but their end.

        Parameters
        ----------
        state : State
            Where they begin.
        steps : int
            How many.

        Returns
        -------
        State
            Where they end.
        """
        t = self.tables
        load_state(t, state, np.zeros(t.v.size), steps)
        t.control[[at.LOOKED, at.SOLVES]] = 0
        t.control[at.EVERY] = steps + 1
        self.unsolved = 0
        start(t)
        while (code := _ADVANCE(t, self._room, self._free, self._which)) != at.DONE:
            t = self.tables = self._provide(t, code)
        self.problems = int(t.control[at.SOLVES])
        return state_of(t)

    def _provide(self, t: Tables, code: int) -> Tables:
        if code == at.RECORD_FULL:
            t.control[[at.ROWS, at.EVENT_ROWS, at.CONTACT_ROWS]] = 0
            return t
        self.unsolved += code == at.SOLVE
        t = self.stepping.provide(t, code)
        if len(t.ints) > len(self.tables.ints):
            self.tables = t
            self._make_room()
        return t

    def _make_room(self) -> None:
        m, n_f = len(self.tables.ints), len(self.tables.facets)
        model = self.stepping.scene.model
        self._room, self._free = new_room(model, m, n_f), free_bodies(model, m, n_f)
