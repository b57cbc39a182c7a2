"""The other public functions of the dynamics against Pinocchio: as they are called in scripts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.measure import Call, Effort, Row, agreed, take_turns
from spatialops.bench.peers import LibraryObject, Twin, require
from spatialops.dynamics.centroidal import centroidal_momentum_matrix
from spatialops.dynamics.energy import center_of_mass, energy
from spatialops.dynamics.jacobian import body_poses, jacobian, node_velocities
from spatialops.dynamics.newton_euler import bias
from spatialops.tree.node import Node

JACOBIAN_BAR = 0.5  # of Pinocchio's time, memory given and nodes resolved
GIVEN_BAR = 0.4  # memory given
PLAIN_BAR = 1.0  # as written in a script
_POINT = (0.1, 0.2, 0.3)  # m, of the node, on the last body


class Contest(NamedTuple):
    """Our function with memory given, if it takes any, and as a plain call; Pinocchio's; the same.

    Parameters
    ----------
    found, expected : (n,) array
        What both compute, in one order.
    """

    what: str
    given: Call | None
    plain: Call
    rival: str
    peer: Call
    found: Array
    expected: Array
    bar: float = GIVEN_BAR


def measure_functions(twin: Twin, effort: Effort, rng: np.random.Generator) -> Iterator[Row]:
    """Rows of one mechanism."""
    case = f"{twin.name}, {twin.model.nv} dof"
    for contest in [*_of_nodes(twin, rng), *_of_the_whole(twin, rng)]:
        what = contest.what
        difference = agreed(contest.found, contest.expected, f"{twin.name}: {what}")
        contestants = {"plain": contest.plain, contest.rival: contest.peer}
        bars = {"plain": (PLAIN_BAR, "plain call")}
        if contest.given is not None:
            contestants["ours"] = contest.given
            bars["ours"] = contest.bar, "out="
        timing = take_turns(contestants, effort)
        for name, (limit, note) in bars.items():
            ratio = timing.ratio(name, contest.rival)
            ours, peer = timing.of(name), timing.of(contest.rival)
            yield Row(
                "dynamics", what, case, ours, peer, contest.rival, ratio, limit, difference, note
            )


def _of_nodes(twin: Twin, rng: np.random.Generator) -> Iterator[Contest]:
    pin, model = require("pinocchio"), twin.model
    q, v, _ = twin.random_state(rng)
    pin_v, axes = v[twin.order].copy(), pin.LOCAL_WORLD_ALIGNED
    peer, data, frame = _with_frame(twin)
    nodes, out = [Node(model.body_names[-1], _POINT)], np.empty((6, model.nv))
    ready = model.resolve(nodes)
    their_jacobian = pin.computeFrameJacobian
    theirs = their_jacobian(peer, data, q, frame, axes)
    yield Contest(
        "Jacobian",
        lambda: jacobian(model, q, ready, out=out),
        lambda: jacobian(model, q, nodes),
        "computeFrameJacobian",
        lambda: their_jacobian(peer, data, q, frame, axes),
        jacobian(model, q, nodes)[:, twin.order].ravel(),
        theirs[[3, 4, 5, 0, 1, 2]].ravel(),
        JACOBIAN_BAR,
    )

    def velocity() -> LibraryObject:
        pin.forwardKinematics(peer, data, q, pin_v)
        return pin.getFrameVelocity(peer, data, frame, axes)

    moving = np.empty((1, 6))
    yield Contest(
        "node velocities",
        lambda: node_velocities(model, q, v, ready, out=moving),
        lambda: node_velocities(model, q, v, nodes),
        "getFrameVelocity",
        velocity,
        node_velocities(model, q, v, nodes).ravel(),
        np.concatenate([velocity().angular, velocity().linear]),
    )


def _with_frame(twin: Twin) -> tuple[LibraryObject, LibraryObject, int]:
    """Pinocchio's model with a frame at the node, its data, and the frame."""
    pin = require("pinocchio")
    peer, place = pin.Model(twin.pin), pin.SE3(np.eye(3), np.array(_POINT))
    last = twin.model.n_bodies
    frame = peer.addFrame(pin.Frame("node", last, 0, place, pin.FrameType.OP_FRAME))
    return peer, peer.createData(), frame


def _of_poses(twin: Twin, q: Array) -> Iterator[Contest]:
    """Poses with what it takes to read them, and against a call that returns nothing."""
    pin, model = require("pinocchio"), twin.model
    peer = twin.pin, twin.data, q.copy()

    def read() -> LibraryObject:
        pin.forwardKinematics(*peer)
        return [(place.translation, place.rotation) for place in twin.data.oMi[1:]]

    yield Contest(
        "body poses, read",
        None,
        partial(body_poses, model, q),
        "forwardKinematics and oMi",
        read,
        body_poses(model, q).positions.ravel(),
        np.concatenate([place for place, _ in read()]),
    )
    yield Contest(
        "body poses",
        None,
        partial(body_poses, model, q),
        "forwardKinematics",
        partial(pin.forwardKinematics, *peer),
        body_poses(model, q).positions.ravel(),
        np.concatenate([place.translation for place in twin.data.oMi[1:]]),
    )


def _of_the_whole(twin: Twin, rng: np.random.Generator) -> Iterator[Contest]:
    pin, model = require("pinocchio"), twin.model
    q, v, _ = twin.random_state(rng)
    peer, pin_v = (twin.pin, twin.data, q.copy()), v[twin.order].copy()
    theirs, data, pin_q = peer
    effects, out = pin.nonLinearEffects, np.empty(model.nv)
    yield Contest(
        "bias",
        lambda: bias(model, q, v, out=out),
        lambda: bias(model, q, v),
        "nonLinearEffects",
        lambda: effects(theirs, data, pin_q, pin_v),
        bias(model, q, v)[twin.order],
        pin.nonLinearEffects(*peer, pin_v).copy(),
    )
    yield from _of_poses(twin, q)
    yield Contest(
        "centre of mass",
        None,
        partial(center_of_mass, model, q),
        "centerOfMass",
        partial(pin.centerOfMass, *peer),
        center_of_mass(model, q),
        pin.centerOfMass(*peer).copy(),
    )
    yield Contest(
        "energy",
        None,
        partial(energy, model, q, v),
        "computeMechanicalEnergy",
        partial(pin.computeMechanicalEnergy, *peer, pin_v),
        np.array([energy(model, q, v).total]),
        np.array([pin.computeMechanicalEnergy(*peer, pin_v)]),
    )
    their_map = pin.computeCentroidalMap(*peer)[[3, 4, 5, 0, 1, 2]]
    yield Contest(
        "centroidal map",
        None,
        partial(centroidal_momentum_matrix, model, q),
        "computeCentroidalMap",
        partial(pin.computeCentroidalMap, *peer),
        centroidal_momentum_matrix(model, q)[:, twin.order].ravel(),
        their_map.ravel(),
    )
