"""Problems to solve: families of the literature, contacts of towers, and a folder of one's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.contacts import piles
from spatialops.bench.measure import BenchError
from spatialops.contact.formulations import check_formulation
from spatialops.simulation.simulator import Simulator


@dataclass(frozen=True, eq=False)
class Problem:
    """w = M z + q, w >= 0, z >= 0, z w = 0.

    Attributes
    ----------
    family, name : str
    matrix : (n, n) array
    vector : (n,) array
    solvable : bool
        Whether there is a solution; where there is none, to find one is to be wrong.
    """

    family: str
    name: str
    matrix: Array
    vector: Array
    solvable: bool = True


def murty(n: int) -> Problem:
    """One on the diagonal, two above it, q = -1: z = (0, ..., 0, 1); 2^n pivots for some methods.

    References
    ----------
    K. G. Murty, Computational complexity of complementary pivot methods (1978).
    """
    matrix = np.eye(n) + 2.0 * np.triu(np.ones((n, n)), 1)
    return Problem("Murty", f"Murty {n}", matrix, -np.ones(n))


def fathi(n: int) -> Problem:
    """M = U U* for U the matrix of `murty`: symmetric and positive definite, as hard to pivot.

    References
    ----------
    Y. Fathi, Computational complexity of LCPs associated with positive definite matrices (1979).
    """
    matrix = murty(n).matrix
    return Problem("Fathi", f"Fathi {n}", matrix @ matrix.T, -np.ones(n))


def semidefinite(n: int) -> Problem:
    """M = B B* of half the rank, and q such that a random z of half as many entries solves it."""
    rng = np.random.default_rng(n)
    factor = rng.normal(size=(n, n // 2))
    matrix = factor @ factor.T
    active = rng.random(n) < 0.5
    z = np.where(active, rng.uniform(0.5, 1.5, n), 0.0)
    w = np.where(active, 0.0, rng.uniform(0.5, 1.5, n))
    return Problem("half rank", f"half rank {n}", matrix, w - matrix @ z)


def tower(n: int) -> Problem:
    """Contacts of a tower of n boxes with pyramids of friction of four sides, as one step asks."""
    scene = piles.tower(n).scene
    problem = Simulator(scene, dt=1e-3).problem(scene.state)
    assert problem is not None
    mlcp = check_formulation("trinkle").assemble(problem)
    if mlcp.n_free:
        raise BenchError("the formulation has free rows: it is no plain problem")
    return Problem("tower", f"tower {n}", np.asarray(mlcp.A), np.asarray(mlcp.b))


def standard(*, quick: bool = False) -> Iterator[Problem]:
    """The problems that come with us."""
    for n in (8, 16) if quick else (8, 16, 64, 128):
        yield murty(n)
        yield fathi(n)
        yield semidefinite(n)
    for n in (1, 2) if quick else (1, 2, 5, 10):
        yield tower(n)


def stored(folder: Path) -> Iterator[Problem]:
    """Problems of a folder: lcp/NAME.npz with M and q, and what manifest.json says of them.

    Raises
    ------
    BenchError
        For a folder without any.
    """
    files = sorted((folder / "lcp").glob("*.npz"))
    if not files:
        raise BenchError(f"problems: {folder}/lcp has no .npz files")
    listed = folder / "manifest.json"
    entries = json.loads(listed.read_text())["lcp"] if listed.is_file() else []
    status = {entry["name"]: entry.get("status", "solvable") for entry in entries}
    for file in files:
        with np.load(file, allow_pickle=False) as data:
            matrix, vector = np.array(data["M"], float), np.array(data["q"], float)
        solvable = status.get(file.stem, "solvable") == "solvable"
        yield Problem("stored", file.stem, matrix, vector, solvable)
