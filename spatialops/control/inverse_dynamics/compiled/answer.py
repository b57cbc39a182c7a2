"""What comes out of a compiled command: the choice of forces, joint forces, impulses by names."""

from __future__ import annotations

from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import scaled, vec3
from spatialops.control.inverse_dynamics.compiled import layout as io
from spatialops.control.inverse_dynamics.compiled import workspace as of
from spatialops.control.inverse_dynamics.compiled.choice import choose_forces
from spatialops.control.inverse_dynamics.compiled.least_torque import put_forces
from spatialops.control.inverse_dynamics.compiled.posture import put_after, put_speeds
from spatialops.control.inverse_dynamics.compiled.tables import Call, Robot
from spatialops.control.inverse_dynamics.compiled.turning import turn_rows
from spatialops.control.inverse_dynamics.compiled.workspace import Workspace


@kernel
def put_answer(robot: Robot, call: Call, work: Workspace) -> None:
    """Velocities, joint forces and impulses of the last round, after the choice."""
    round_ = work.round
    vectors = call.vectors
    for k in range(round_.after.size):
        vectors[io.AFTER, k] = round_.after[k]
    if round_.slip.size > 0:
        aligned = call.options[io.ALIGNED] > 0  # whose choice has been made
        if call.options[io.CHOICE] != io.SOLVER or aligned:
            turn_rows(work.posture, round_)
        if call.options[io.CHOICE] != io.SOLVER and not aligned:
            choose(robot, call, work)
    put_forces(work, robot.given, vectors, call.numbers[io.HORIZON], vectors[io.TAU])
    for i in range(round_.slip.size):
        push = (0.0, 0.0, 0.0)
        for c in range(3):
            entry = round_.p[3 * i + c]
            call.impulses[i, c] = entry
            axis = vec3(work.posture.place, i, of.FRAME + 3 * c)
            along = scaled(entry, axis)
            push = (push[0] + along[0], push[1] + along[1], push[2] + along[2])
            call.acting[i, c] = work.posture.names[i, of.NAME + c]
        for c in range(3):
            call.pushes[i, c] = push[c]


@inlined
def choose(robot: Robot, call: Call, work: Workspace) -> None:
    """The choice of forces; velocities after it are those before to rounding."""
    round_ = work.round
    if choose_forces(robot, call, work):
        put_after(work.posture, robot.others, round_, round_.p, round_.after)
        put_speeds(work.posture, round_.after, round_.then)
