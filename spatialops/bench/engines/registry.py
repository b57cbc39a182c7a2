"""Who takes part, by name: engines and solvers of this folder, and those of other packages.

Another package joins by an entry point in its pyproject.toml:

    [project.entry-points."spatialops.engines"]
    rapier = "my_package.rapier:Rapier"

A solver of complementarity problems does so in the group "spatialops.lcp_solvers".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from typing import Generic, NamedTuple, TypeVar, cast

from spatialops.bench.engines.engine import Engine
from spatialops.bench.engines.entrant import Entrant, LeftOut, library
from spatialops.bench.engines.problems.solver import LCPSolver
from spatialops.bench.measure import BenchError

T = TypeVar("T")


class Field(NamedTuple, Generic[T]):
    """Who takes part, and who does not for which reason, by name."""

    entrants: dict[str, T]
    left_out: dict[str, str]


@dataclass(frozen=True)
class Registry(Generic[T]):
    """Entrants of one kind.

    Attributes
    ----------
    group : str
        Of entry points.
    built_in : mapping of name to "module:object"
        Of this folder.
    """

    group: str
    built_in: Mapping[str, str]

    def names(self) -> list[str]:
        """All that are known, installed or not."""
        joined = [point.name for point in entry_points(group=self.group)]
        return list(dict.fromkeys([*self.built_in, *joined]))

    def find(self, name: str) -> T:
        """One by its name, or by "module:object" while it has none.

        Raises
        ------
        BenchError
            For a name that nobody has.
        LeftOut
            Where its library is not installed, or its file cannot be loaded.
        """
        try:
            found = self._point(name).load()
        except (ImportError, AttributeError) as error:
            raise LeftOut(f"its file cannot be loaded: {error}") from error
        library(found)
        return cast(T, found)

    def _point(self, name: str) -> EntryPoint:
        """Where one is written."""
        if name in self.built_in:
            return EntryPoint(name, self.built_in[name], self.group)
        joined = list(entry_points(group=self.group, name=name))
        if joined:
            return joined[0]
        if ":" in name:
            return EntryPoint(name, name, self.group)
        raise BenchError(f"there is no {name!r}; there are {', '.join(self.names())}")

    def field(self, chosen: Sequence[str] = ()) -> Field[T]:
        """Those chosen, or all; who is not installed is named with the reason.

        Raises
        ------
        BenchError
            For a name that nobody has.
        """
        found: Field[T] = Field({}, {})
        for name in chosen or self.names():
            try:
                entrant = self.find(name)
                found.entrants[cast(Entrant, entrant).name] = entrant
            except LeftOut as error:
                found.left_out[name] = str(error)
        return found


def version_of(entrant: Entrant | type[Entrant]) -> str:
    """Version of the package that brings one."""
    try:
        return version(entrant.distribution)
    except PackageNotFoundError:
        return "unknown"


_HERE = "spatialops.bench.engines"
ENGINES: Registry[type[Engine]] = Registry(
    "spatialops.engines",
    {
        "spatialops": f"{_HERE}.adapters.ours:Ours",
        "mujoco": f"{_HERE}.adapters.mujoco:MuJoCo",
        "bullet": f"{_HERE}.adapters.bullet:Bullet",
        "dart": f"{_HERE}.adapters.dart:Dart",
        "drake": f"{_HERE}.adapters.drake:Drake",
        "newton": f"{_HERE}.adapters.newton:Newton",
        "pinocchio": f"{_HERE}.adapters.pinocchio:Pinocchio",
    },
)
SOLVERS: Registry[LCPSolver] = Registry(
    "spatialops.lcp_solvers",
    {
        "spatialops-auto": f"{_HERE}.problems.ours:AUTO",
        "spatialops-lemke": f"{_HERE}.problems.ours:LEMKE",
        "spatialops-pivoting": f"{_HERE}.problems.ours:PIVOTING",
        "spatialops-newton": f"{_HERE}.problems.ours:NEWTON",
        "spatialops-interior-point": f"{_HERE}.problems.ours:INTERIOR_POINT",
        "drake-moby": f"{_HERE}.problems.moby:MOBY",
        "quantecon-lemke": f"{_HERE}.problems.quantecon:QUANTECON",
    },
)
