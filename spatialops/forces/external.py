"""Wrenches on bodies from outside, as people give them, at a time and a state.

One interface for pushes, thrusters, wind, water and gravity that changes: wrenches [moment; force]
in world axes on bodies or nodes, or a function (time, state) that returns such. `forces.fields` has
examples of the second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from spatialops._arrays import Array, ArrayLike, array
from spatialops.dynamics.jacobian import body_poses
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model
from spatialops.tree.node import NodeLike
from spatialops.tree.state import State, integrate

Wrenches: TypeAlias = ArrayLike | Mapping[NodeLike, ArrayLike]
Field: TypeAlias = Callable[[float, State], Wrenches]
External: TypeAlias = Wrenches | Field | Sequence[Field]


class ExternalWrenches:
    """What acts on the bodies of a mechanism from outside.

    Parameters
    ----------
    model : Model
        The mechanism.
    given : External
        (n_bodies, 6) wrenches [moment (N m); force (N)] in world axes, the moment about the origin
        of each body; or a mapping from bodies or nodes to wrenches (6,) in world axes, the moment
        about the node; or a function (time, state) of either; or several functions, which add up.

    Attributes
    ----------
    constant : (n_bodies, 6) array or None
        Wrenches that change with neither time nor state.

    Raises
    ------
    ArgumentError
        For an unknown body, a wrong shape, NaN or infinity.
    """

    def __init__(self, model: Model, given: External) -> None:
        self.model = model
        self.constant: Array | None = None
        self._parts = _parts(given)
        if not any(callable(part) for part in self._parts):
            now = self(0.0, State(model.neutral(), np.zeros(model.nv)))  # refuses what does not fit
            if not any(isinstance(part, Mapping) for part in self._parts):
                self.constant = now

    def __call__(self, time: float, state: State) -> Array:
        """Wrenches (n_bodies, 6) about the bodies' origins, world axes."""
        total = np.zeros((self.model.n_bodies, 6))
        for part in self._parts:
            found = part(time, state) if callable(part) else part
            if isinstance(found, Mapping):
                total += self._at_origins(found, state.q)
            else:
                shape = (self.model.n_bodies, 6)
                total += array(found, shape, "external", finite=True)
        return total

    def midway(self, state: State, dt: float) -> Array:
        """The same in the middle of a step: where the old velocity leads in half of it.

        The activations are those of the middle already.
        """
        middle = state.time + 0.5 * dt
        there = integrate(self.model, state.q, 0.5 * dt * state.v)
        return self(middle, replace(state, q=there, time=middle))

    def _at_origins(self, wrenches: Mapping[NodeLike, ArrayLike], q: Array) -> Array:
        """Wrenches on nodes as those on bodies about their origins."""
        model = self.model
        nodes = model.resolve(list(wrenches))
        poses, total = body_poses(model, q), np.zeros((model.n_bodies, 6))
        bodies = {int(link): b for b, link in enumerate(model.body_links)}
        given = zip(wrenches.items(), nodes.links.tolist(), nodes.offsets, strict=True)
        for (node, values), link, offset in given:
            wrench = array(values, (6,), f"external: {node!r}", finite=True)
            if link < 0:
                raise ArgumentError(
                    f"external: {node!r} is fixed to the world, which nothing moves"
                )
            b = bodies[link]
            arm = poses.rotations[b] @ model.turns[link] @ offset
            total[b, :3] += wrench[:3] + np.cross(arm, wrench[3:])
            total[b, 3:] += wrench[3:]
        return total


def _parts(given: External) -> list[Wrenches | Field]:
    """What adds up, in a list."""
    if isinstance(given, (list, tuple)):
        parts: list[Wrenches | Field] = list(given)
        if any(callable(part) or isinstance(part, Mapping) for part in parts):
            return parts
    alone: Any = given
    return [alone]


def checked_external(model: Model, given: External | None) -> ExternalWrenches | None:
    """What was given, made ready; None for nothing."""
    if given is None or isinstance(given, ExternalWrenches):
        return given
    return ExternalWrenches(model, given)
