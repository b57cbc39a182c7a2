"""Problems of other projects, from the folder SPATIALOPS_PROBLEMS, and copies in disguise."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from spatialops.contact import ConeProblem, solve
from tests.support.heaps import changed, permuted, rescaled

FOLDER = Path(os.environ.get("SPATIALOPS_PROBLEMS", ""))
pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(
        "SPATIALOPS_PROBLEMS" not in os.environ or not (FOLDER / "friction").is_dir(),
        reason="SPATIALOPS_PROBLEMS does not name the folder of other projects' problems",
    ),
]


def problems():
    """(name, problem, reference impulses) of every friction problem in the folder."""
    for entry in json.loads((FOLDER / "manifest.json").read_text())["friction"]:
        with np.load(FOLDER / "friction" / f"{entry['name']}.npz") as data:
            n = data["q"].size
            W = sp.csr_array(
                (data["W_data"], data["W_indices"], data["W_indptr"][: n + 1]), shape=(n, n)
            )
            rolling = {"rolling": data["mu_r"]} if "mu_r" in data else {}
            yield (
                entry["name"],
                ConeProblem(W, data["q"], data["mu"], dim=int(data["dim"]), **rolling),
                data["r_ref"],
            )


def test_every_problem_is_solved():
    """As well as the stored answer, which rounding keeps above 1e-9 for one of mu = 1000."""
    missed = {}
    for name, problem, reference in problems():
        solution = solve(problem)
        wanted = problem.residuals(reference)
        found = problem.residuals(solution.r)
        good = found.relative <= max(1e-9, 4.0 * wanted.relative) and found.scale_free <= 1e-9
        if not (solution.solved and good):
            missed[name] = (solution.status, found)
    assert missed == {}


def disguised(problem, rng, kind):
    """A permuted, rescaled or mu-changed copy, or all of these."""
    m = problem.n_contacts
    if kind in ("permuted", "all"):
        problem = permuted(problem, rng.permutation(m))
    if kind in ("rescaled", "all"):
        problem = rescaled(problem, 10.0 ** rng.uniform(-2.0, 2.0, m))
    if kind == "friction":
        problem = changed(problem, mu=problem.mu * rng.uniform(0.2, 3.0, m))
    return changed(problem, mu=rng.uniform(0.0, 2.0, m)) if kind == "all" else problem


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["permuted", "rescaled", "friction", "all"])
def test_disguised_copies(kind):
    # Changed friction may leave a copy without a solution: what is asked is a rate, and that no
    # success is a lie.
    rng = np.random.default_rng(7)
    solved = 0
    count = 0
    for _, problem, _ in problems():
        for _ in range(5):
            copy = disguised(problem, rng, kind)
            solution = solve(copy)
            solved, count = solved + solution.solved, count + 1
            assert not solution.solved or copy.residuals(solution.r).scale_free <= 1e-8
    assert solved >= (0.99 if kind in ("permuted", "rescaled") else 0.97) * count
