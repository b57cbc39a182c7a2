"""Convex quadratic and second-order cone programs, by libraries that others keep up.

    min x.H x / 2 + c.x   over   lower <= (x; G x) <= upper                            (1)
    min x.H x / 2 + c.x   over   right - R x in {0} x R+ x second-order cones          (2)

daqp is a dual active-set method, quick on small programs (1); clarabel an interior point, for
larger ones and for (2). Both come with the extra ``spatialops[qp]`` and are loaded when they are
asked for. What they say is a proposal: callers verify it in their own data.

References: D. Arnström, A. Bemporad, D. Axehill, A dual active-set solver for embedded quadratic
programming using recursive LDL^T updates (2022); P. Goulart, Y. Chen, Clarabel (2024).
"""

from __future__ import annotations

import importlib
import sys
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy

from spatialops._arrays import Array
from spatialops.errors import MissingLibraryError

Library: TypeAlias = Literal["daqp", "clarabel"]
LibraryObject: TypeAlias = Any  # daqp and clarabel have no types

_FAR = 1e30  # what daqp takes for infinity
_EQUALITY = 5  # how daqp marks a row whose bounds are one
_DAQP_STEPS = 10_000  # of its active set: more than any of our programs needs, so that it ends
CLARABEL_STEPS = 200


class QuadraticProgram(NamedTuple):
    """Program (1).

    Parameters
    ----------
    H : (n, n) array
        Symmetric and positive semidefinite.
    c : (n,) array
        Slope of the cost at zero.
    G : (k, n) array
        Rows.
    lower, upper : (n + k,) or (k,) arrays
        Bounds of x and of G x, or of G x alone; infinite where there is none, equal for equalities.
    """

    H: Array
    c: Array
    G: Array
    lower: Array
    upper: Array


class ConeProgram(NamedTuple):
    """Program (2).

    Parameters
    ----------
    H : (n, n) array
        Symmetric and positive semidefinite.
    c : (n,) array
        Slope of the cost at zero.
    rows, right : (k, n) and (k,) arrays
        R and the right side, of which the first
    n_equal : int
        are equalities, the next
    n_positive : int
        inequalities, and the others
    n_cones : int
        cones of three rows, |(second, third)| <= first.
    """

    H: Array
    c: Array
    rows: Array
    right: Array
    n_equal: int
    n_positive: int
    n_cones: int = 0


class Proposal(NamedTuple):
    """What a library made of a program.

    Parameters
    ----------
    x : (n,) array
        Its last point, also where it is none: not finite, or far from everything.
    multipliers : array
        Of program (1) y with H x + c = (1; G)^T y, positive at lower bounds; of program (2) those
        of its rows, in the dual cones, with H x + c + R^T y = 0.
    status : {"point", "infeasible", "none"}
        A point to be verified; a proof that there is none; or neither.
    iterations : int
        Of the library.
    """

    x: Array
    multipliers: Array
    status: Literal["point", "infeasible", "none"]
    iterations: int


def load(library: Library, who: str) -> LibraryObject:
    """Import a library for `who` needs it.

    Raises
    ------
    MissingLibraryError
        If it is not installed.
    """
    try:  # past the import system, which takes 10 us for what is there
        return sys.modules.get(library) or importlib.import_module(library)
    except ImportError as error:
        raise MissingLibraryError(
            f"{who} needs {library}, which is not installed: pip install 'spatialops[qp]'"
        ) from error


def by_daqp(
    program: QuadraticProgram,
    who: str,
    *,
    primal: float = 1e-11,
    dual: float = 1e-11,
    proximal: float = 1e-6,
) -> Proposal:
    """Solve a quadratic program by daqp.

    `primal` and `dual` are its tolerances, `proximal` the weight of its proximal steps, which let
    it take a singular H. Redundant equalities it takes for infeasible: eliminate them before.
    """
    daqp = load("daqp", who)
    H, c, G, lower, upper = program
    x, _, flag, info = daqp.solve(
        np.ascontiguousarray(H),
        c.copy(),
        np.ascontiguousarray(G),
        np.minimum(upper, _FAR),
        np.maximum(lower, -_FAR),
        np.where(lower == upper, _EQUALITY, 0).astype(np.int32),
        primal_tol=primal,
        dual_tol=dual,
        eps_prox=proximal,
        iter_limit=_DAQP_STEPS,
    )
    found = flag > 0 and bool(np.isfinite(x).all())
    multipliers = -np.asarray(info["lam"])
    return Proposal(
        np.asarray(x), multipliers, "point" if found else "none", int(info["iterations"])
    )


def by_clarabel(
    program: QuadraticProgram, who: str, *, tolerance: float = 1e-11, proof: float = 1e-8
) -> Proposal:
    """Solve a quadratic program without finite upper bounds, but for equalities, by clarabel.

    `tolerance` is that of feasibility and gap, `proof` that of a proof that there is no point.
    """
    H, c, G, lower, upper = program
    rows = np.vstack([np.eye(c.size), G])
    equal, below = lower == upper, np.isfinite(lower) & (lower != upper)
    cones = ConeProgram(
        H,
        c,
        np.vstack([rows[equal], -rows[below]]),
        np.concatenate([lower[equal], -lower[below]]),
        int(equal.sum()),
        int(below.sum()),
    )
    found = by_cones(cones, who, tolerance=tolerance, proof=proof)
    multipliers = np.zeros(lower.size)
    multipliers[equal] = -found.multipliers[: cones.n_equal]
    multipliers[below] = found.multipliers[cones.n_equal :]
    return found._replace(multipliers=multipliers)


def by_cones(
    program: ConeProgram,
    who: str,
    *,
    tolerance: float,
    proof: float = 1e-8,
    max_steps: int = CLARABEL_STEPS,
) -> Proposal:
    """Solve a cone program by clarabel; tolerances as in `by_clarabel`."""
    clarabel = load("clarabel", who)
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, max_steps
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    settings.tol_infeas_abs = settings.tol_infeas_rel = proof
    cones = [clarabel.ZeroConeT(program.n_equal)] * (program.n_equal > 0)
    cones += [clarabel.NonnegativeConeT(program.n_positive)] * (program.n_positive > 0)
    cones += [clarabel.SecondOrderConeT(3)] * program.n_cones
    answer = clarabel.DefaultSolver(
        scipy.sparse.csc_matrix(np.triu(program.H)),
        program.c,
        scipy.sparse.csc_matrix(program.rows),
        program.right,
        cones,
        settings,
    ).solve()
    x, multipliers = np.asarray(answer.x), np.asarray(answer.z)
    status: Literal["point", "infeasible", "none"] = "none"
    if "PrimalInfeasible" in str(answer.status):
        status = "infeasible"
    elif np.isfinite(x).all() and np.isfinite(multipliers).all():
        status = "point"
    return Proposal(x, multipliers, status, int(answer.iterations))
