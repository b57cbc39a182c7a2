"""Other projects' problems, read from the folder that SPATIALOPS_PROBLEMS names.

None of them is copied here.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from spatialops.contact import MixedLCP, Status, solve
from tests.support.residuals import check_honest, check_solved

FOLDER = Path(os.environ.get("SPATIALOPS_PROBLEMS", "no such folder"))
MANIFEST = FOLDER / "manifest.json"

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(
        not (FOLDER / "manifest.json").is_file(),
        reason="SPATIALOPS_PROBLEMS names no folder of problems",
    ),
]


def entries(kind):
    """Names of the problems and whether they are solvable."""
    if not MANIFEST.is_file():
        return []
    return [
        (entry["name"], entry["status"] == "solvable")
        for entry in json.loads(MANIFEST.read_text())[kind]
    ]


def read(kind, name):
    with np.load(FOLDER / kind / f"{name}.npz") as data:
        return dict(data)


@pytest.mark.parametrize(
    "solver", ["lemke", "principal-pivoting", "gauss-seidel", "newton", "interior-point", "qp"]
)
def test_others_claim_nothing_wrong(solver):
    solved = 0
    for name, solvable in entries("lcp"):
        data = read("lcp", name)
        problem = MixedLCP(data["M"], data["q"])
        solution = solve(problem, solver)
        check_honest(problem, solution, solvable)
        solved += solution.solved
    assert solved > 10


@pytest.mark.parametrize(("name", "solvable"), entries("lcp"))
def test_auto_decides_every_problem(name, solvable):
    data = read("lcp", name)
    problem = MixedLCP(data["M"], data["q"])
    solution = solve(problem)
    check_honest(problem, solution, solvable)
    assert solution.status == (Status.SOLVED if solvable else Status.NO_SOLUTION)


@pytest.mark.parametrize(("name", "solvable"), entries("mcp"))
def test_auto_decides_every_problem_with_bounds(name, solvable):
    data = read("mcp", name)
    problem, recover = MixedLCP.from_bounds(data["M"], data["q"], data["lb"], data["ub"])
    solution = solve(problem)
    check_solved(problem, solution)
    assert recover.residual(recover(solution)) <= 1e-9
