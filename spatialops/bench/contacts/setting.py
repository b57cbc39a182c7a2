"""What a benchmark's scene consists of, and the cases that there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from spatialops._arrays import Array
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.state import State

FRICTION = 0.5  # of everything: MuJoCo takes the larger of two sides, we the mean
Control: TypeAlias = Callable[[State], Array]


@dataclass(frozen=True, eq=False)
class Setting:
    """A scene that is ready to be simulated.

    Attributes
    ----------
    scene : Scene
        It starts at its state.
    control : callable, optional
        ``state -> tau``, asked before every block of steps and held over it.
    hold : int
        Steps of such a block.
    """

    scene: Scene
    control: Control | None = None
    hold: int = 10


@dataclass(frozen=True)
class Case:
    """One line of the report.

    Attributes
    ----------
    name, family : str
        Unique, and what it is plotted with.
    make : callable
        Makes the setting; None where a robot's files are not installed.
    bar : float or None
        What ours / MuJoCo's must not exceed.
    dt : float
        s.
    settle : int
        Steps before anything is measured: of scenes at rest, to reach MuJoCo's penetration.
    steps : int
        How many are measured of scenes in motion; 0: it is at rest, as many as time allows.
    sleep : bool
        Whether steps of ours that change nothing may be left out.
    """

    name: str
    family: str
    make: Callable[[], Setting | None]
    bar: float | None
    dt: float = 1e-3
    settle: int = 200
    steps: int = 0
    sleep: bool = True

    @property
    def moving(self) -> bool:
        """Whether the work changes from step to step, so that the mean over all counts."""
        return self.steps > 0
