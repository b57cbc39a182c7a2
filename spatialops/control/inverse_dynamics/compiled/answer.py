"""What comes out of a compiled command: the choice of forces, joint forces, impulses by names."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray, Mat3, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import dot, scaled, vec3
from spatialops.control.inverse_dynamics.compiled import layout as io
from spatialops.control.inverse_dynamics.compiled import workspace as of
from spatialops.control.inverse_dynamics.compiled.choice import choose_nearest
from spatialops.control.inverse_dynamics.compiled.posture import put_after, put_square
from spatialops.control.inverse_dynamics.compiled.tables import Call, Robot
from spatialops.control.inverse_dynamics.compiled.workspace import Posture, Round, Workspace


@kernel
def put_answer(robot: Robot, call: Call, work: Workspace) -> None:
    """Velocities, joint forces and impulses of the last round, after the choice."""
    round_ = work.round
    vectors = call.vectors
    for k in range(round_.after.size):
        vectors[io.AFTER, k] = round_.after[k]
    if round_.slip.size > 0 and call.options[io.CHOICE] != io.SOLVER:
        choose(robot, call, work)
    put_forces(work, robot.given, vectors, call.numbers[io.HORIZON])
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
    """The choice in the step's own frames; velocities after it are those before to rounding."""
    turn_rows(work.posture, work.round)
    round_ = work.round
    chosen = choose_nearest(
        work.posture,
        round_,
        call.options[io.KIND],
        robot.middles,
        call.numbers[io.MEMORY],
        call.active,
        work.scratch,
        work.ints,
    )
    if chosen:
        put_after(work.posture, robot.others, round_, round_.p, round_.after)


@inlined
def turn_rows(posture: Posture, round_: Round) -> None:
    """Rows and what stands along them from the frames of the first round to those of the last."""
    for i in range(posture.place.shape[0]):
        turn = turning(posture.place, i)
        for column in range(posture.G.shape[1]):
            turn_three(posture.G, 3 * i, column, turn)
        for column in range(posture.reach.shape[1]):
            turn_three(posture.reach, 3 * i, column, turn)
        for vector in (round_.p, round_.u, round_.then, round_.last):
            x = vec3_of(vector, 3 * i)
            for c in range(3):
                vector[3 * i + c] = dot(turn[c], x)
        for c in range(9):
            posture.place[i, of.FRAME + c] = posture.place[i, of.NOW + c]
    put_square(posture.reach, posture.W)


@inlined
def turning(place: Array, i: int) -> Mat3:
    """Components along the present frame of the axes of the first one, as rows of a rotation."""
    a = vec3(place, i, of.FRAME)
    b = vec3(place, i, of.FRAME + 3)
    c = vec3(place, i, of.FRAME + 6)
    x = vec3(place, i, of.NOW)
    y = vec3(place, i, of.NOW + 3)
    z = vec3(place, i, of.NOW + 6)
    return (
        (dot(x, a), dot(x, b), dot(x, c)),
        (dot(y, a), dot(y, b), dot(y, c)),
        (dot(z, a), dot(z, b), dot(z, c)),
    )


@inlined
def turn_three(
    X: Array,
    row: int,
    column: int,
    turn: Mat3,
) -> None:
    x = (X[row, column], X[row + 1, column], X[row + 2, column])
    for c in range(3):
        X[row + c, column] = dot(turn[c], x)


@inlined
def vec3_of(x: Array, at: int) -> Vec3:
    return x[at], x[at + 1], x[at + 2]


@inlined
def put_forces(work: Workspace, given: IntArray, vectors: Array, horizon: float) -> None:
    """M (v+ - v_free) - G^T p over the horizon, of motors."""
    posture = work.posture
    round_ = work.round
    for k in range(vectors.shape[1]):
        vectors[io.TAU, k] = 0.0
    for k in given:
        total = 0.0
        for j in range(vectors.shape[1]):
            total += posture.mass[k, j] * (round_.after[j] - vectors[io.FREE, j])
        for r in range(round_.p.size):
            total -= posture.G[r, k] * round_.p[r]
        vectors[io.TAU, k] = total / horizon
