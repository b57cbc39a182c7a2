"""From the frames in which rows stand to those of the round, and back."""

from __future__ import annotations

from spatialops._arrays import Array, Mat3
from spatialops._compile.jit import inlined
from spatialops.algebra.vectors import dot, vec3
from spatialops.control.inverse_dynamics.compiled import workspace as of
from spatialops.control.inverse_dynamics.compiled.posture import put_square
from spatialops.control.inverse_dynamics.compiled.workspace import Posture, Round


@inlined
def turning(place: Array, i: int) -> Mat3:
    """Components along the round's frame of the axes of the one of rows, as a rotation."""
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
def turned(turn: Mat3, x: Array, y: Array, at: int) -> None:
    """Three entries of y: the turned ones of x, which may be y."""
    part = (x[at], x[at + 1], x[at + 2])
    for c in range(3):
        y[at + c] = dot(turn[c], part)


@inlined
def turn_back(turn: Mat3, x: Array, y: Array, at: int) -> None:
    """The reverse."""
    part = (x[at], x[at + 1], x[at + 2])
    for c in range(3):
        y[at + c] = turn[0][c] * part[0] + turn[1][c] * part[1] + turn[2][c] * part[2]


@inlined
def turn_rows(posture: Posture, round_: Round) -> None:
    """Rows, and what stands along them, to the frames of the round."""
    for i in range(posture.place.shape[0]):
        turn = turning(posture.place, i)
        for column in range(posture.G.shape[1]):
            turn_three(posture.G, 3 * i, column, turn)
        for column in range(posture.reach.shape[1]):
            turn_three(posture.reach, 3 * i, column, turn)
        for vector in (round_.p, round_.u, round_.then, round_.last):
            turned(turn, vector, vector, 3 * i)
        for c in range(9):
            posture.place[i, of.FRAME + c] = posture.place[i, of.NOW + c]
    put_square(posture.reach, posture.W)


@inlined
def turn_three(X: Array, row: int, column: int, turn: Mat3) -> None:
    x = (X[row, column], X[row + 1, column], X[row + 2, column])
    for c in range(3):
        X[row + c, column] = dot(turn[c], x)
