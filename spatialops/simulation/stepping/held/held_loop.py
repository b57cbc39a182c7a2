"""The compiled loop on tables that stay: no unpacking, and Python hears of faults only."""

from __future__ import annotations

from collections.abc import Callable

from spatialops._arrays import Array
from spatialops._compile.held import Held
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.driver import Stepping
from spatialops.simulation.stepping.held.watched_steps import advance_held
from spatialops.simulation.stepping.tables import Tables

_ENDS = (at.DONE, at.FAULT)


class HeldLoop:
    """Tables that are ready to go on.

    Parameters
    ----------
    stepping : Stepping
        Provides what the loop returns for.
    tables : Tables
        To begin with.
    limits : (LIMITS,) array
        What steps are watched for, see `simulation._layout`.

    Attributes
    ----------
    tables : Tables
        Those of now: they grow.
    address : int
        Where they are described.
    """

    def __init__(self, stepping: Stepping, tables: Tables, limits: Array) -> None:
        self.stepping = stepping
        self.limits = limits
        self._take(tables)

    def __reduce__(self) -> tuple[type[HeldLoop], tuple[Stepping, Tables, Array]]:
        return HeldLoop, (
            self.stepping,
            self.tables,
            self.limits,
        )  # a copy has an address of its own

    def hold(self, tables: Tables) -> None:
        """Go on with these."""
        if tables is not self.tables:
            self._take(tables)

    def _take(self, tables: Tables) -> None:
        self._held = Held(tables)
        self.tables = tables
        self.address: int = self._held.address

    def advance(
        self,
        call: Callable[[int, Array], int] = advance_held,
        emptied: Callable[[Tables], None] | None = None,
    ) -> bool:
        """Go on by a function of `watched_steps` until the steps are done, as `Stepping.advance`.

        False where a limit is passed.
        """
        while (code := call(self.address, self.limits)) not in _ENDS:
            self.hold(self.stepping.provide(self.tables, code, emptied))
        return code == at.DONE
