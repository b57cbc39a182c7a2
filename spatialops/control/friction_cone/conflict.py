"""Which inequalities of a force program cannot hold together."""

from __future__ import annotations

from spatialops.control.friction_cone.barrier import Barrier
from spatialops.control.friction_cone.force_program import ForceProgram, ForceSolver


def smallest_conflict(
    program: ForceProgram, names: tuple[str, ...], solver: ForceSolver | None = None
) -> tuple[str, ...]:
    """Inequalities of a conflict none of which can be left out, by a deletion filter.

    With them and the equalities alone there is no point inside; without any one of them there is.
    Each is dropped in turn, and stays out if it can.

    Parameters
    ----------
    program : ForceProgram
        An infeasible program.
    names : tuple of str
        Inequalities that conflict, of `program.names`.
    solver : ForceSolver, optional
        What tells whether a program is feasible; default: `Barrier()`.

    Returns
    -------
    tuple of str
        Those of `names` that are left.
    """
    solver, kept = solver or Barrier(), list(names)
    for name in names:
        trial = tuple(other for other in kept if other != name)
        if trial and solver.solve(only(program, trial)).status == "infeasible":
            kept = list(trial)
    return tuple(kept)


def only(program: ForceProgram, names: tuple[str, ...]) -> ForceProgram:
    """The program with the inequalities of these names, and all its equalities."""
    m = len(program.d)
    rows = [j for j in range(m) if program.names[j] in names]
    cones = [i for i in range(len(program.mu)) if program.names[m + i] in names]
    chosen = [*rows, *(m + i for i in cones)]
    each = [3 * i + a for i in cones for a in range(3)]
    return ForceProgram(
        program.H,
        program.g,
        program.E,
        program.e,
        program.D[rows],
        program.d[rows],
        program.K[each],
        program.k[each],
        program.mu[cones],
        tuple(program.names[j] for j in chosen),
        program.scales[chosen],
    )
