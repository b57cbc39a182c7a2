"""Compile every kernel ahead of its first use, with a progress bar, and leave a mark."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

import numba
import numpy as np

from spatialops._compile import cache
from spatialops._compile.apart import Apart
from spatialops._compile.beside import BESIDE, LOOP, LOOP_AND_PICTURES
from spatialops._compile.kept_code import forget_unused, say_nothing
from spatialops._compile.references import Reference
from spatialops._compile.stage import Stage, below, expect_stages, part_of
from spatialops._marks import is_warm, leave_mark
from spatialops.collision.narrow_phase.pair_contacts import pair_points
from spatialops.contact.cone.fallback_methods import climb
from spatialops.contact.cone.problem import ConeProblem
from spatialops.contact.cone.scaled_problem import ScaledProblem
from spatialops.contact.formulations import FORMULATIONS, check_formulation
from spatialops.contact.laws.coulomb import Coulomb
from spatialops.contact.laws.no_slip import NoSlip
from spatialops.contact.lcp.principal_pivoting import PrincipalPivoting
from spatialops.contact.lcp.problem import MixedLCP
from spatialops.contact.newton.active_rows import solve_rows
from spatialops.contact.newton.central import central_impulses
from spatialops.contact.newton.islands import solve_island, solve_islands
from spatialops.contact.newton.proximal import proximal_steps, solved_again
from spatialops.contact.newton.refinement import refined
from spatialops.contact.newton.row_products import put_velocities
from spatialops.contact.problem import ContactProblem
from spatialops.contact.solve import solve
from spatialops.derivatives.forward_dynamics import forward_dynamics_derivatives
from spatialops.derivatives.inverse_dynamics import inverse_dynamics_derivatives
from spatialops.dynamics.compliance.compliance import compliance
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.dynamics.energy import center_of_mass, energy, momentum
from spatialops.dynamics.forward_dynamics import forward_dynamics
from spatialops.dynamics.jacobian import (
    body_poses,
    jacobian,
    jacobian_drift,
    node_positions,
    node_velocities,
)
from spatialops.dynamics.loops.assembly import close_loops
from spatialops.dynamics.loops.constrained_dynamics import constrained_dynamics, loop_jacobian
from spatialops.dynamics.newton_euler import bias, inverse_dynamics
from spatialops.forces.passive import passive_forces
from spatialops.models.linkages import four_bar
from spatialops.models.pendulum import pendulum
from spatialops.simulation.batch.batch import Batch
from spatialops.simulation.batch.eights.smooth_part import aim, go_on, to_smooth_part
from spatialops.simulation.batch.meeting import await_done
from spatialops.simulation.simulator import Simulator
from spatialops.simulation.stepping.constraints.unforeseen import is_pushed_back
from spatialops.simulation.stepping.contact_solver import solve_here
from spatialops.simulation.stepping.contact_stage import prepare_contact, state_problem
from spatialops.simulation.stepping.detection_stage import (
    detect_contacts,
    detect_now,
    geom_contacts,
)
from spatialops.simulation.stepping.impact_stage import prepare_compression
from spatialops.simulation.stepping.integrators.flow import flow_to, smooth_step
from spatialops.simulation.stepping.integrators.midpoint import settle_again
from spatialops.simulation.stepping.record_rows import start, write_row
from spatialops.simulation.stepping.state_machine import (
    advance,
    after_compression,
    after_contact,
    after_decompression,
    begin_piece,
    compress,
    end_step,
    move,
    next_stage,
    run,
)
from spatialops.simulation.stepping.time_of_impact import cut_piece
from spatialops.simulation.stepping.warm.warm_check import still_holds
from spatialops.tree.node import Node
from spatialops.tree.state import difference, integrate

Task = tuple[str, Callable[[], object]]

# Parts of the loop that every scene meets, those of contacts that hold, and those of contacts that
# come, each in the order in which they are met. The second process takes each from the end; the
# longest of the first stands there, which the first process would else wait for.
_MET_FIRST = (
    detect_now,
    geom_contacts,
    write_row,
    run,
    next_stage,
    begin_piece,
    move,
    end_step,
    flow_to,
    smooth_step,
)
_MET_AT_REST = (
    pair_points,
    prepare_contact,
    state_problem,
    still_holds,
    solve_here,
    solve_islands,
    central_impulses,
    proximal_steps,
    put_velocities,
    solve_rows,
    refined,
    after_contact,
    settle_again,
)
_MET_IN_IMPACTS = (
    cut_piece,
    is_pushed_back,
    prepare_compression,
    compress,
    after_compression,
    after_decompression,
    solve_island,
    solved_again,
)
_MET: tuple[tuple[Callable[..., object], ...], ...] = (_MET_FIRST, _MET_AT_REST, _MET_IN_IMPACTS)


def precompile(*, progress: bool = True, force: bool = False, loop_only: bool = False) -> int:
    """Compile all kernels into the cache on disk.

    Parameters
    ----------
    progress : bool
        Show a progress bar on standard error while there is something to compile.
    force : bool
        Go through all kernels even if an earlier call has left its mark.
    loop_only : bool
        Only what most simulations run in; what else they meet is compiled where they do.

    Returns
    -------
    int
        Number of tasks done; 0 where the cache is warm or nothing is compiled
        (``NUMBA_DISABLE_JIT``).
    """
    if numba.config.DISABLE_JIT or (is_warm(loop_only=loop_only) and not force):
        return 0
    say_nothing()
    todo = _loop_tasks() if loop_only else tasks()
    for _, compile_it in _with_bar(todo) if progress else todo:
        compile_it()
    leave_mark(loop_only)
    folder = cache.cache_directory()
    if folder is not None:
        forget_unused(folder)
    return len(todo)


def tasks() -> list[Task]:
    """What is compiled, as (label, call) in the order in which one builds on the other."""
    return _tasks_of(_Shared.everything())


def _tasks_of(shared: _Shared) -> list[Task]:
    """Tasks as this process goes through them, and last the loop that is made of its parts."""
    return [
        ("second process", partial(BESIDE.begin, shared.name)),
        *shared.forwards(),
        ("parts of the other process", shared.wait),
        ("stepping loop", lambda: shared.simulator.run(duration=1e-3)),
    ]


def _dynamics_tasks() -> list[Task]:
    example = pendulum(3)
    model = example.model
    q = example.state.q
    v = example.state.v
    a, nodes = np.zeros(model.nv), [Node("link1"), Node("link3")]
    return [
        ("poses", lambda: (body_poses(model, q), node_positions(model, q, nodes))),
        ("velocities of nodes", lambda: node_velocities(model, q, v, nodes)),
        ("Newton-Euler", lambda: (inverse_dynamics(model, q, v, a), bias(model, q, v))),
        ("Jacobians", lambda: (jacobian(model, q, nodes), jacobian_drift(model, q, v, nodes))),
        ("composite body", lambda: mass_matrix(model, q)),
        ("energy", lambda: (energy(model, q, v), momentum(model, q, v), center_of_mass(model, q))),
        ("passive forces", lambda: passive_forces(model, q, v)),
        ("manifold", lambda: (integrate(model, q, v), difference(model, q, q))),
        ("articulated body", lambda: forward_dynamics(model, q, v, a)),
        ("derivatives of Newton-Euler", lambda: inverse_dynamics_derivatives(model, q, v, a)),
        ("derivatives of forward dynamics", lambda: forward_dynamics_derivatives(model, q, v, a)),
        ("compliance, recursion", lambda: compliance(model, q, nodes, method="recursion")),
        ("compliance, propagation", lambda: compliance(model, q, nodes, method="propagation")),
        ("compliance, mass matrix", lambda: compliance(model, q, nodes, method="mass-matrix")),
        ("closures", _closures),
    ]


def _closures() -> None:
    closed = four_bar()
    loop_jacobian(closed.model, closed.loops, closed.state.q)
    constrained_dynamics(closed.model, closed.loops, closed.state.q, closed.state.v, closed.state.v)
    close_loops(closed.model, closed.loops, closed.state.q, closed.state.v)


def _contact_tasks() -> list[Task]:
    model, q = pendulum(3).model, np.zeros(3)
    problem = ContactProblem(
        model, q, np.ones(3), [(2, -1)], np.ones((1, 3)), [np.eye(3)], np.full(1, 0.5)
    )
    lcp = MixedLCP(np.eye(2), [-1.0, 1.0])
    islands, coupled = MixedLCP(np.eye(12), -np.ones(12)), MixedLCP(np.ones((70, 70)), -np.ones(70))
    cone = ConeProblem(np.eye(3), [-1.0, 0.1, 0.0], 0.5)
    return [
        ("Lemke's method", lambda: solve(lcp)),
        ("warm start", lambda: solve(lcp, warm_start=np.ones(2))),
        ("islands", lambda: solve(islands)),
        ("active block", lambda: solve(coupled)),
        ("principal pivoting", lambda: solve(lcp, PrincipalPivoting(blocks=0))),
        ("Gauss-Seidel", lambda: solve(lcp, "gauss-seidel")),
        ("formulations", lambda: _solve_by_hand(problem)),
        ("central answer", lambda: Coulomb().solve(problem)),
        ("cone problem", lambda: solve(cone)),
        ("no slip", lambda: NoSlip().solve(problem)),
        ("ladder of cone problems", lambda: list(climb(ScaledProblem.of(cone), None))),
    ]


def _solve_by_hand(problem: ContactProblem) -> None:
    for name in FORMULATIONS:
        formulation = check_formulation(name)
        formulation.recover(problem, solve(formulation.assemble(problem)))


def _loop_tasks() -> list[Task]:
    """The parts of a step that a first scene with contacts meets, one by one; then the loop."""
    return _tasks_of(_Shared.loop_alone())


@dataclass(frozen=True)
class _Shared:
    """What two processes do, each kernel by whichever comes to it first.

    Attributes
    ----------
    simulator : Simulator
        Whose loop is compiled.
    lists : list of lists of Task
        One process goes through each from its beginning, the other from its end.
    name : str
        By which the other process finds the same.
    parts : list of Apart
        Kernels in the lists that neither process waits for while others are left.
    after : list of Task
        What the other process does at last, alone.
    """

    simulator: Simulator
    lists: list[list[Task]]
    name: str
    parts: list[Apart]
    after: list[Task] = field(default_factory=list)

    @classmethod
    def everything(cls) -> _Shared:
        simulator = _small()
        made_of_it = [
            ("watched steps", lambda: _watched(simulator)),
            ("batches", lambda: Batch(simulator, threads=1).rollout(np.zeros((1, 1, 3)))),
            ("eight at once", lambda: Batch(simulator, 2, threads=1).rollout(np.zeros((2, 1, 3)))),
            ("threads that meet", lambda: await_done(np.zeros(1, np.int64), 0)),
            ("commands", lambda: _commanded(simulator)),  # the longest: begun as early as can be
        ]
        parts = [part for some in _parts(simulator, whole=True) for part in some]
        lists = [[*_dynamics_tasks(), *_part_tasks(parts)], [*_contact_tasks(), *made_of_it]]
        return cls(simulator, lists, "everything", parts)

    @classmethod
    def loop_alone(cls) -> _Shared:
        simulator = _small()
        lists = _parts(simulator, whole=False)
        parts = [part for some in lists for part in some]
        return cls(simulator, list(map(_part_tasks, lists)), LOOP, parts)

    @classmethod
    def loop_and_pictures(cls) -> _Shared:
        """Also what commands draw with, while the first process simulates."""
        return replace(cls.loop_alone(), name=LOOP_AND_PICTURES, after=_picture_tasks())

    def forwards(self) -> list[Task]:
        return [task for part in self.lists for task in part]

    def backwards(self) -> list[Task]:
        return [*(task for part in self.lists for task in reversed(part)), *self.after]

    def wait(self) -> None:
        """Have all parts, also those that the other process is at, or has made."""
        for part in self.parts:
            part.compile()


def _part_tasks(parts: list[Apart]) -> list[Task]:
    return [(part.label, partial(_compile_free, part)) for part in parts]


def _compile_free(part: Apart) -> None:
    """Compile a part, unless another process has made it, or is at it."""
    arguments = part.expected()
    if part.kernel._cache.is_free(arguments, part.kernel.targetctx):
        part.compile_for(arguments)


def _picture_tasks() -> list[Task]:
    """In the order in which figures of a run need them."""
    example = pendulum(3)
    model = example.model
    q, v = example.state.q, example.state.v
    nodes = [Node("link3")]
    return [
        ("positions of nodes", lambda: node_positions(model, q, nodes)),
        ("velocities of nodes", lambda: node_velocities(model, q, v, nodes)),
        ("poses of bodies", lambda: body_poses(model, q)),
    ]


def _parts(simulator: Simulator, whole: bool) -> list[list[Apart]]:
    """Parts of the loop, for its tables: those that every scene meets first, the solver last."""
    roots: tuple[Callable[..., object], ...] = (advance, start, detect_contacts)
    for root in roots:
        expect_stages(root, _tables_of(simulator))
    # Environments in contact that step side by side reach these, which one scene does not.
    beside = [cast(Stage, part_of(function)) for function in (to_smooth_part, aim, go_on)]
    for part in beside:
        part.expect(_tables_of(simulator))
    first, *later = [list(map(part_of, functions)) for functions in _MET]
    made = [part for parts in (first, *later) for part in parts]
    more = [part for part in (*below(*roots), *beside) if whole and part not in made]
    return [first, more, *later]


def _watched(simulator: Simulator) -> None:
    """Steps with a controller, and those of a stepper, which begins anew."""
    nv = simulator.scene.model.nv
    simulator.run(duration=1e-4, controller=lambda time, state, contacts: np.zeros(nv))
    stepper = simulator.stepper()
    stepper.step()
    stepper.reset()


def _commanded(simulator: Simulator) -> None:
    """A command for predicted forces, whose rounds are one kernel."""
    from spatialops.control.inverse_dynamics.coulomb import ConeController

    scene = simulator.scene
    ConeController(simulator, lambda time, state: np.zeros(scene.model.nv))(0.0, scene.state)


def compile_beside(name: str) -> None:
    """What the second process does: the same tasks from the last to the first."""
    shared: _Shared = getattr(_Shared, name)()
    for _, compile_it in shared.backwards():
        compile_it()


def _small() -> Simulator:
    return Simulator(pendulum(3).scene(), dt=1e-4)


def _tables_of(simulator: Simulator) -> Reference:
    """Numba's type of the loop's tables, which all simulators share."""
    return Reference(numba.typeof(simulator.stepping.tables()))


def _with_bar(todo: list[Task]) -> Iterator[Task]:
    from tqdm import tqdm

    pause = 0.1 if sys.stderr.isatty() else 10.0  # s; a log need not hold every move of the bar
    with tqdm(todo, unit="part", desc="compiling kernels", mininterval=pause, leave=False) as bar:
        for label, compile_it in bar:
            bar.set_postfix_str(label, refresh=pause < 1.0)
            yield label, compile_it
