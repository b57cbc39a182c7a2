"""Answers of laws to contact problems, judged from the original data.

The laws of `spatialops.contact` measure their residual themselves, by `contact.laws.law.verified`.
A law of anybody else's is not taken at its word: its residual is the one that `contact.certify`
finds for what the law promises.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from spatialops._arrays import Array
from spatialops.contact.certificate import Certificate, certify, promised
from spatialops.contact.laws import LAWS
from spatialops.contact.laws.compliant import Compliant
from spatialops.contact.laws.law import Law, LawSolution
from spatialops.contact.problem import ContactProblem, ContactSolution
from spatialops.errors import ArgumentError, SolverFailed
from spatialops.simulation.impact_models import Answer

_VERIFIED = (*LAWS.values(), Compliant)  # exactly these: what is derived from them may differ


def answer_of_law(
    law: Law,
    problem: ContactProblem,
    where: Callable[[], str],
    warm_start: Array | None = None,
    certificates: list[Certificate] | None = None,
) -> Answer:
    """What a law answers, with the residual that it really has.

    Parameters
    ----------
    law : Law
        Solves the problem.
    problem : ContactProblem
        What is to be solved.
    where : callable
        where() -> str says what the problem is, for the error.
    warm_start : (m, 3) or (m, 6) array, optional
        Impulses, and moments, of an earlier problem, N s and N m s.
    certificates : list of Certificate, optional
        Where the certificate is appended, if it is wanted.

    Returns
    -------
    Answer
        Impulses, moments and velocity of the law; `residual` infinite where it is no number.

    Raises
    ------
    SolverFailed
        If the law says that it has not solved the problem.
    """
    solution = law.solve(problem, warm_start)
    if not isinstance(solution, LawSolution):
        raise ArgumentError(
            f"law: {type(law).__name__}.solve returned {type(solution).__name__}: expected a "
            "LawSolution"
        )
    if not solution.solved:
        raise SolverFailed(
            f"{where()} under {law!r}: residual {solution.residual:.2e}; {solution.detail}. Save "
            "it with error.problem.save(path) and try other laws on it",
            problem,
            solution,
        )
    residual = solution.residual
    verified = type(law) in _VERIFIED
    if certificates is not None or not verified:
        found = certificate_of(law, problem, solution)
        if not verified:
            residual = math.inf if math.isnan(found.residual) else found.residual
        if certificates is not None:
            certificates.append(found)
    return Answer(
        solution.impulses,
        solution.moments,
        solution.velocity,
        residual,
        solution.iterations,
    )


def certificate_of(
    law: Law | None, problem: ContactProblem, solution: ContactSolution
) -> Certificate:
    """The certificate of an answer by what its law promises; None stands for Coulomb's."""
    return certify(
        problem,
        solution.impulses,
        solution.loop_impulses,
        solution.moments,
        promises=promised(law),
    )
