"""Energy-optimal control under friction cones: least losses in the motors that do the task.

[A] section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from spatialops._arrays import Array, ArrayLike, instance, scalar, several
from spatialops.control.controller import Explanation
from spatialops.control.friction_cone.assembly import Assembly, ForceGoals
from spatialops.control.friction_cone.barrier import Barrier
from spatialops.control.friction_cone.explanation import Command, ConeExplanation, explanation
from spatialops.control.friction_cone.force_program import ForceProgram, ForceSolution, ForceSolver
from spatialops.control.friction_cone.program_rooms import ProgramRooms
from spatialops.control.motors import Motors
from spatialops.control.projected.control_state import ControlState, control_state, minimum_norm
from spatialops.control.projected.gripping_controller import GrippingController
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.control.projected.motion_equation import MotionEquation
from spatialops.control.projected.present_contacts import Schedule
from spatialops.control.task_space.gathered_tasks import GatheredTasks, gathered
from spatialops.control.task_space.tracking import Tracking
from spatialops.dynamics.loops.closure_factors import LoopsLike
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model
from spatialops.tree.state import State

Posture = Callable[[Model, State], Array]

DAMPING = 10.0  # 1/s; of what tasks leave free, where there is no posture


class FrictionConeController(GrippingController):
    """Tracks tasks with least losses, contact forces in their cones and motors within limits.

    A command is sought in this order: tasks and posture met exactly ("solved"); tasks exactly,
    posture as a cost; tasks as a cost too, by [A] 31-33 ("nearest"); and where no forces at all
    keep the contacts, the least that do the task, cut off at the motors' limits ("held").

    Parameters
    ----------
    model : Model
        The mechanism.
    tasks : sequence of Tracking, or callable
        (time, state) -> sequence of Tracking, where they change.
    motors : Motors
        Of the mechanism.
    contacts : HeldContacts, callable or None
        What is held: fixed, or by time and state; None: the contacts of the simulator's last step
        that touch.
    posture : callable, optional
        (model, state) -> accelerations (nv,) wanted where tasks leave freedom, such as `Rest`.
        Default: -10 v where there is freedom.
    force_goals : callable, optional
        time -> (k, 3) contact forces to regulate ([A] 35), N; NaN where free.
    solver : ForceSolver, optional
        Default: `Barrier()`.
    trade_off : float, default 1e3
        rho of [A] 32, W s^4; how much a missed acceleration costs.
    posture_weight : float, default 1e-2
        The same for posture, where it is a cost.
    loops : Loops, Loop or sequence of Loop, optional
        Closures of the mechanism, `Scene.loops`; states are taken to be closed.
    minimum_norm : bool, default False
        Forces of least norm instead ([A] 14), blind to cones and cut off at the motors' limits: for
        comparison.

    Raises
    ------
    ArgumentError
        For options that do not fit.

    References
    ----------
    [A] section 3.

    Examples
    --------
    A quadruped that stands still on four feet:

    >>> import spatialops as so
    >>> from spatialops.control import (
    ...     Actuation, FrictionConeController, HeldContact, HeldContacts, Motors, PoseTask, Tracking
    ... )
    >>> robot = so.models.quadruped()
    >>> feet = HeldContacts(robot.model, [HeldContact(node=so.Node(name)) for name in robot.feet])
    >>> base = PoseTask(so.Node("base"))
    >>> stay = Tracking(base, base.motion(robot.model, robot.state).x)
    >>> motors = Motors(Actuation(robot.model))
    >>> controller = FrictionConeController(robot.model, [stay], motors, contacts=feet)
    >>> tau = controller(0.0, robot.state)
    >>> told = controller.explain()
    >>> told.status, min(told.margins.values()) > 0.0
    ('solved', True)
    """

    def __init__(
        self,
        model: Model,
        tasks: Sequence[Tracking] | Callable[[float, State], Sequence[Tracking]],
        motors: Motors,
        *,
        contacts: HeldContacts | Schedule | None = None,
        posture: Posture | None = None,
        force_goals: ForceGoals | None = None,
        solver: ForceSolver | None = None,
        trade_off: float = 1e3,
        posture_weight: float = 1e-2,
        loops: LoopsLike = (),
        minimum_norm: bool = False,
    ) -> None:
        if instance(motors, Motors, "motors").actuation.model is not model:
            raise ArgumentError("motors: are those of another model")
        if not callable(tasks):
            tasks = several(tasks, "tasks", "trackings")
            if not tasks or not all(isinstance(item, Tracking) for item in tasks):
                raise ArgumentError("tasks: expected at least one Tracking")
        super().__init__(model, contacts)
        self.tasks = tasks
        self.motors = motors
        self.actuation = motors.actuation
        self.posture = posture
        self.force_goals = force_goals
        self.solver: ForceSolver = Barrier() if solver is None else solver
        self.trade_off = scalar(trade_off, "trade_off", low=0.0, strict=True)
        self.posture_weight = scalar(posture_weight, "posture_weight", low=0.0)
        self.minimum_norm = minimum_norm
        self._equation = MotionEquation(model, loops)
        self._gathered: GatheredTasks | None = None
        self._rooms = ProgramRooms()
        self._start: Array | None = None
        self._attempts: list[str] = []
        self._last: Command | None = None

    def _forget(self) -> None:
        self._last = None

    def _command(self, time: float, state: State, grip: HeldContacts) -> Explanation:
        tasks = self.tasks(time, state) if callable(self.tasks) else self.tasks
        self._gathered = gathered(self.model, tasks, self._gathered)
        own = self.motors, self._gathered, time
        at = control_state(self.model, state, grip, *own, equation=self._equation)
        goals = None if self.force_goals is None else self.force_goals(time)
        command = self._commanded(at, goals)
        if self.model.dry_friction.any():
            u = command.x[: command.assembly.p]
            turned = self._equation.turned(state, at.accelerations(u))
            if turned is not None:
                command = self._commanded(at.loaded(turned), goals)
        self._last = command
        still = np.zeros(len(command.tau))
        return Explanation(tau=command.tau, demanded=still, predicted=still, status=command.status)

    def _commanded(self, at: ControlState, goals: ArrayLike | None) -> Command:
        """The command at a state, against the load that it has."""
        assembly = Assembly(at, self._posture(at), goals, self._rooms)
        if self.minimum_norm:
            program = assembly.strict()
            x, status = self._least(program)
            solution = None
            refused = None
        else:
            x, status, program, solution, refused = self._choose(assembly)
        tau = self.actuation.spread(x[: assembly.p])
        return Command(at, assembly, x, tau, status, program, solution, refused)

    def _posture(self, at: ControlState) -> Array | None:
        if self.posture is not None:
            return self.posture(self.model, at.state)
        return -DAMPING * at.state.v if len(at.half) > len(at.task.wanted) else None

    def _choose(
        self, assembly: Assembly
    ) -> tuple[Array, str, ForceProgram, ForceSolution | None, ForceProgram | None]:
        """Unknowns, status, the program solved, its solution, and the first that could not be."""
        programs = [(assembly.strict, "solved")]
        if assembly.posture is not None:
            programs.append((lambda: assembly.soft_posture(self.posture_weight), "solved"))
        programs.append(
            (lambda: assembly.trade_off(self.trade_off, self.posture_weight), "nearest")
        )
        refused, self._attempts = None, []
        for make, status in programs:
            program = make()
            solution = self._solve(program)
            self._attempts.append(solution.status)
            if solution.solved:
                return solution.x, status, program, solution, refused
            refused = refused or program
        cut = self._least(refused or program)[0]
        return cut, "held", program, None, refused

    def _least(self, program: ForceProgram) -> tuple[Array, str]:
        """Forces of least norm, cut off at the motors' limits, and what they are worth."""
        x, met = minimum_norm(program.E, program.e, self.motors.actuation.limits)
        return x, "solved" if met else "nearest"

    def _solve(self, program: ForceProgram) -> ForceSolution:
        if not isinstance(self.solver, Barrier):
            return self.solver.solve(program)
        start = (
            self._start if self._start is not None and len(self._start) == program.size else None
        )
        solution, center = self.solver.solve_and_center(program, start)
        if center is not None:
            self._start = center
        return solution

    @property
    def status(self) -> str:
        """Status of the last command."""
        return super().explain().status

    @property
    def attempts(self) -> tuple[str, ...]:
        """Status of each program tried for the last command; "failed" where the method gave up."""
        return tuple(self._attempts)

    @property
    def answer(self) -> tuple[ForceProgram, Array]:
        """The program behind the last command, and its unknowns: motor, then internal forces."""
        last = self._answered()
        return last.program.copied(), last.x

    @property
    def at(self) -> ControlState:
        """Dynamics and tasks at the last command."""
        return self._answered().at

    def _answered(self) -> Command:
        if self._last is None:
            raise ArgumentError("there has been no command yet, or the last one had no answer")
        return self._last

    def explain(self) -> ConeExplanation:
        """Why the last command was what it was; where the task gave way, the smallest conflict.

        Returns
        -------
        ConeExplanation
            Of the last call.

        Raises
        ------
        ArgumentError
            Before the first command.
        """
        found = super().explain()
        if self._last is None or found.status == "damped":
            return ConeExplanation(**vars(found))
        return explanation(self._last).timed(found.seconds, found.unanswered)
