"""Pairs of a scene's geoms that may touch: which they are, and what they have."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, array
from spatialops.collision import _layout as col
from spatialops.collision import pair_runs
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.pair_coefficients import Coefficients, put_classes
from spatialops.collision.shapes import Geom
from spatialops.errors import ArgumentError
from spatialops.simulation.scene.pair_options import Pair, PairTable, pair_table
from spatialops.simulation.scene.touching_pairs import NamePairs, touching_pairs
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model


class ScenePairs:
    """What `Scene` knows of pairs, by the numbers that they have in contacts and records."""

    model: Model
    geoms: tuple[Geom, ...]
    bodies: list[int]
    loops: Loops
    ignore: NamePairs
    include: NamePairs
    pair_laws: tuple[Pair, ...]
    tables: GeomTables
    pair_runs: IntArray
    most_contacts: int
    # Once they are asked for.
    _made_pairs: IntArray | None
    _made_table: PairTable | None

    @property
    def geom_ints(self) -> IntArray:
        """Integer table of the geoms, see `collision._layout`."""
        return self.tables.ints

    @property
    def geom_floats(self) -> Array:
        """Float table of the geoms."""
        return self.tables.floats

    @property
    def n_pairs(self) -> int:
        """How many pairs of geoms may touch."""
        return int(self.pair_runs[-1, col.RUN_PAIR])

    @property
    def pairs(self) -> IntArray:
        """Geoms A and B of all pairs that may touch, (n_pairs, 2): of thousands of geoms millions.

        `sides_of` knows those of some.
        """
        if self._made_pairs is None:
            self._made_pairs = self.sides_of(np.arange(self.n_pairs))
        return self._made_pairs

    def sides_of(self, pairs: ArrayLike) -> IntArray:
        """Geoms A and B of some pairs.

        Parameters
        ----------
        pairs : (k,) array_like
            Their numbers, 0 to n_pairs - 1.

        Returns
        -------
        (k, 2) int array
            Indices into `geoms`.

        Raises
        ------
        ArgumentError
            For anything else than numbers of pairs.

        Examples
        --------
        >>> import spatialops as so
        >>> scene = so.models.quadruped().scene()
        >>> scene.sides_of([0]).tolist(), scene.pair_names(0)
        ([[0, 15]], ('trunk', 'ground'))
        """
        numbers = self._numbers(pairs)
        sides = np.zeros((len(numbers), 2), dtype=np.int64)
        pair_runs.put_sides(self.geom_ints, self.pair_runs, numbers, sides)
        return sides

    def classes_of(self, pairs: ArrayLike) -> IntArray:
        """Classes of some pairs: rows of what `pair_table` has.

        Parameters
        ----------
        pairs : (k,) array_like
            Their numbers, 0 to n_pairs - 1.

        Returns
        -------
        (k,) int array
            Pairs of one class have the same coefficients and laws.

        Raises
        ------
        ArgumentError
            As `sides_of`.
        """
        numbers = self._numbers(pairs)
        found = np.zeros(len(numbers), dtype=np.int64)
        put_classes(self.pair_table.classes, self.geom_ints, self.pair_runs, numbers, found)
        return found

    def coefficients_of(self, pairs: ArrayLike) -> Coefficients:
        """Coefficients of some pairs.

        Parameters
        ----------
        pairs : (k,) array_like
            Their numbers, 0 to n_pairs - 1.

        Returns
        -------
        Coefficients
            `friction`, `restitution`, `torsion` and `rolling`, (k,) each; the latter in m.

        Raises
        ------
        ArgumentError
            As `sides_of`.

        Examples
        --------
        >>> import spatialops as so
        >>> scene = so.models.quadruped().scene()
        >>> scene.coefficients_of([0]).friction.tolist()
        [0.8]
        """
        table, own = self.pair_table, self.classes_of(pairs)
        values = table.classes.values[own]
        of_contact = values[:, col.PAIR_FRICTION], values[:, col.PAIR_RESTITUTION]
        return Coefficients(*of_contact, table.torsion[own], table.rolling[own])

    @property
    def pair_table(self) -> PairTable:
        """Coefficients and laws of all classes of pairs."""
        if self._made_table is None:
            self._made_table = pair_table(self)
        return self._made_table

    def pair_names(self, pair: int) -> tuple[str, str]:
        """Names of the geoms of a pair.

        Parameters
        ----------
        pair : int
            Its number.

        Returns
        -------
        tuple of (str, str)
            Of geoms A and B.
        """
        a, b = self.sides_of([pair])[0]
        return self.geoms[a].name, self.geoms[b].name

    def _numbers(self, pairs: ArrayLike) -> IntArray:
        """Numbers of pairs, checked."""
        given = array(pairs, (None,), "pairs", finite=True)
        numbers = given.astype(np.int64)
        if ((numbers != given) | (numbers < 0) | (numbers >= self.n_pairs)).any():
            raise ArgumentError(f"pairs: expected whole numbers from 0 to {self.n_pairs - 1}")
        return numbers

    def _put_pairs(self) -> None:
        """Which pairs may touch, and how many contacts they may have."""
        self.pair_runs = touching_pairs(
            self.model, self.geoms, self.bodies, self.loops, self.ignore, self.include
        )
        self._made_pairs = self._made_table = None
        self.most_contacts = pair_runs.most_contacts(self.geom_ints, self.pair_runs)

    @property
    def least_width(self) -> float:
        """Least half width of two shapes that might pass through each other unseen, m.

        Infinite where there are none. Spheres have bounds.
        """
        return pair_runs.least_width(self.geom_ints, self.geom_floats, self.pair_runs)

    @property
    def pair_widths(self) -> Array:
        """Half width of the thinner of each pair's shapes, (n_pairs,), m.

        Infinite of what meets a half-space: depth in it only grows, nothing gets through unseen.
        """
        a, b = self.pairs.T
        widths, flat = self.geom_floats[:, col.GEOM_WIDTH], self.geom_ints[:, col.GEOM_SHAPE]
        return np.where(flat[b] == col.HALF_SPACE, np.inf, np.minimum(widths[a], widths[b]))
