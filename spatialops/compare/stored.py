"""Stored problems of any kind, solved by any formulation and solver."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from spatialops._files import load_arrays
from spatialops.contact.cone.problem import ConeProblem
from spatialops.contact.fclib import SUFFIXES, load_fclib
from spatialops.contact.formulations import check_formulation
from spatialops.contact.indeterminacy import indeterminacy
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.problem import ContactProblem
from spatialops.contact.solve import solve
from spatialops.simulation.plain_data import PlainData


def solve_file(path: str | os.PathLike[str], formulation: str, solver: str, n_f: int) -> PlainData:
    """Solve what `ContactProblem.save`, `MixedLCP.save` or `save_fclib` wrote, and sum it up.

    Raises
    ------
    AssetError
        If the file holds none of these.
    ArgumentError
        For an unknown formulation or solver.
    """
    if Path(path).suffix.lower() in SUFFIXES:
        return _cone_summary(load_fclib(path), solver)
    if "A" in load_arrays(path, "problem"):
        lcp = MixedLCP.load(path)
        return {"kind": "complementarity problem", "formulation": None} | _summary(lcp, solver)[0]
    problem = ContactProblem.load(path)
    chosen = check_formulation(formulation, n_f)
    summary, solution = _summary(chosen.assemble(problem), solver)
    about = {
        "kind": f"contact problem ({problem.phase})",
        "bodies": problem.model.n_bodies,
        "contacts": problem.n_contacts,
        "closure_rows": problem.n_loop_rows,
        "formulation": formulation,
        "determined": str(indeterminacy(problem, warn=False)),
    }
    if not solution.solved:
        return about | summary
    answer = chosen.recover(problem, solution)
    return (
        about
        | summary
        | {
            "normal_impulses": [float(p) for p in answer.impulses[:, 0]],
            "friction_impulses": [
                float(p) for p in np.hypot(answer.impulses[:, 1], answer.impulses[:, 2])
            ],
            "slip": [float(s) for s in answer.slip],
        }
    )


def _cone_summary(problem: ConeProblem, solver: str) -> PlainData:
    solution = solve(problem, solver)
    return {
        "kind": "friction problem (FCLIB)",
        "contacts": problem.n_contacts,
        "rows": problem.size,
        "solver": solution.solver,
        "solved": solution.solved,
        "status": solution.status.message,
        "residual": solution.residual,
        "residual_scale_free": solution.scale_free,
        "iterations": solution.iterations,
        "normal_impulses": [float(r) for r in solution.r[:: problem.dim]],
    }


def _summary(lcp: MixedLCP, solver: str) -> tuple[PlainData, LCPSolution]:
    solution = solve(lcp, solver)
    return {
        "rows": lcp.size,
        "free_rows": lcp.n_free,
        "solver": solution.solver,
        "solved": solution.solved,
        "status": solution.status.message,
        "residual": solution.residual,
        "iterations": solution.iterations,
    }, solution
