"""Impacts of the event-driven method: compression and decompression ([J] 54-58), as the stepping loop has them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.contact.laws.solution import Law, LawSolution
from spatialops.contact.problem import ContactProblem
from spatialops.dynamics.energy import energy
from spatialops.errors import SolverFailed
from spatialops.simulation.event_sight import Contacts
from spatialops.tree.model import Model


class Impact(NamedTuple):
    """Velocities after, impulses (m, 3) along the frames, kinetic energies, restitution given back, residual."""

    v: Array
    impulses: Array
    before: float
    after: float
    fraction: float
    residual: float


def impact(
    model: Model, law: Law, time: float, q: Array, v: Array, contacts: Contacts, closures: Any, fraction: float
) -> Impact:
    """All that touches is compressed together, then restitution e p_c is given back, as far as energy allows.

    `closures` are terms (ints, floats) of independent rows; `fraction` 0 is an impact without restitution.

    Raises
    ------
    SolverFailed
        If the law has no solution.
    """
    ints, terms = closures
    m = len(contacts.keys)
    problem = ContactProblem(
        model,
        q,
        v,
        contacts.links,
        contacts.points,
        contacts.frames,
        contacts.friction,
        phase="compression",
        loop_ints=ints,
        loop_terms=terms,
        loop_targets=np.zeros(_rows(ints)),
    )
    first = _solved(law, problem, time)
    before = energy(model, q, v).kinetic
    for tries in range(10):
        theta = fraction * contacts.restitution * first.impulses[:, 0]
        if not theta.any():
            after = energy(model, q, first.velocity).kinetic
            return Impact(first.velocity, first.impulses, before, after, fraction, first.residual)
        given = np.zeros((m, 3))
        given[:, 0] = theta
        loops = np.zeros(problem.n_loop_rows)
        pushed = replace(problem, velocity=first.velocity).after(np.concatenate([loops, given.ravel()]))
        second = _solved(law, replace(problem, velocity=pushed, offset=theta, phase="decompression"), time)
        after = energy(model, q, second.velocity).kinetic
        if after - before <= 1e-12 * before:
            break
        fraction = 0.5 * fraction if tries < 8 else 0.0
    impulses = first.impulses + given + second.impulses
    return Impact(second.velocity, impulses, before, after, fraction, max(first.residual, second.residual))


def _rows(ints: IntArray) -> int:
    return int(ints[:, 0].max()) + 1 if len(ints) else 0


def _solved(law: Law, problem: ContactProblem, time: float) -> LawSolution:
    solution = law.solve(problem)
    if not solution.solved:
        raise SolverFailed(
            f"impact of {problem.n_contacts} contacts ({problem.phase}) at t = {time:.6g} s under {law!r}: residual "
            f"{solution.residual:.2e}; {solution.detail}. Save it with error.problem.save(path)",
            problem,
            solution,
        )
    return solution
