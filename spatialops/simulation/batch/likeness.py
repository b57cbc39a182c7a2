"""Which simulators a batch can be of."""

from __future__ import annotations

from collections.abc import Sequence

from spatialops._arrays import is_one_of, several, whole
from spatialops.errors import ArgumentError
from spatialops.simulation.simulator import Simulator


def listed(simulators: Simulator | Sequence[Simulator], size: int | None) -> list[Simulator]:
    """One for each environment."""
    if isinstance(simulators, Simulator):
        return [simulators] * whole(1 if size is None else size, "size", low=1)
    many = hasattr(simulators, "__iter__")
    found = list(simulators) if many else []
    if not found or not all(isinstance(one, Simulator) for one in found):
        raise ArgumentError("simulators: expected a Simulator, or several in a sequence")
    if size not in (None, len(found)):
        raise ArgumentError(f"size: {size} environments of {len(found)} simulators")
    return found


def refuse_unlike(simulators: list[Simulator], *, forces: bool) -> None:
    """Refuse simulators that one table of torques, states and readings does not fit."""
    first = simulators[0]
    for e, one in enumerate(simulators):
        if one is first:
            continue
        model, other = one.scene.model, first.scene.model
        same = (one.dt, model.nq, model.nv) == (first.dt, other.nq, other.nv)
        same &= model.n_bodies == other.n_bodies
        same &= len(one.scene.actuators) == len(first.scene.actuators)
        same &= one.scene.elements.n_states == first.scene.elements.n_states
        if not (same and (not forces or _geom_names(one) == _geom_names(first))):
            raise ArgumentError(
                f"simulators: environment {e} is not like environment 0: they must have the same "
                "dt and numbers of bodies, coordinates, velocities, actuators, activations and, "
                "for forces, the same names of geoms"
            )
        if one.setup.sensing.columns != first.setup.sensing.columns:
            raise ArgumentError(
                f"simulators: environment {e} is not like environment 0: their sensors must have "
                "the same names and columns"
            )
    for e, one in enumerate(simulators):
        if any(callable(loop.rate) for loop in one.scene.loops.items):
            raise ArgumentError(
                f"simulators: environment {e} has a closure whose rate is a function of time"
            )


def felt_geoms(simulator: Simulator, forces: bool | Sequence[str]) -> list[int]:
    """Numbers of the geoms whose forces are wanted."""
    names = _geom_names(simulator)
    if isinstance(forces, bool):
        return list(range(len(names))) if forces else []
    asked = several(forces, "forces", "names of geoms")
    for name in asked:
        if not is_one_of(name, names):
            raise ArgumentError(f"forces: there is no geom {name!r}; there are {names[:8]}")
    return [names.index(name) for name in asked]


def _geom_names(simulator: Simulator) -> list[str]:
    return [geom.name for geom in simulator.scene.geoms]
