"""What controllers remember from call to call, put away and put back, for runs that are resumed.

A controller is made of parts, planners of its user among them: each says what is its own.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from spatialops._arrays import Array, array
from spatialops.simulation.runs.runner import KeepsMemory


class Remembers:
    """What offers `save` and `restore`: of its own numbers, and of parts that have a memory."""

    def _remembered(self) -> Mapping[str, Array]:
        """Its own numbers by name."""
        return {}

    def _remember(self, kept: Mapping[str, Array]) -> None:
        """Take its own numbers up again."""

    def _parts(self) -> Mapping[str, object]:
        """What else the next call depends on, by name."""
        return {}

    def save(self) -> dict[str, Array]:
        """What the next call depends on, for runs that are resumed.

        Returns
        -------
        dict
            Arrays by name.
        """
        kept = {name: np.array(item, dtype=np.float64) for name, item in self._remembered().items()}
        for part, has in self._parts().items():
            if isinstance(has, KeepsMemory):
                own = has.save()
                kept |= {f"{part}.{name}": np.asarray(own[name], dtype=np.float64) for name in own}
        return kept

    def restore(self, kept: Mapping[str, Array]) -> None:
        """Go on from what `save` gave.

        Parameters
        ----------
        kept : mapping
            Arrays by name.

        Raises
        ------
        ArgumentError
            If they are not those of a controller of the same parts and sizes.
        """
        self._remember(_Kept({name: item for name, item in kept.items() if "." not in name}))
        for part, has in self._parts().items():
            if isinstance(has, KeepsMemory):
                begin = f"{part}."
                names = [name for name in kept if name.startswith(begin)]
                has.restore({name.removeprefix(begin): kept[name] for name in names})


class _Kept(dict[str, Array]):
    """Arrays by name; what is not there is NaN, which nobody takes."""

    def __missing__(self, name: str) -> Array:
        return np.array(np.nan)


def put_in(own: Mapping[str, Array], kept: Mapping[str, Array]) -> None:
    """Write what was kept into arrays that stay where they are."""
    for name, item in own.items():
        item[...] = array(kept[name], item.shape, name, finite=True)
