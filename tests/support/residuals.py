"""The residual of a complementarity problem in numpy: solvers do not judge themselves."""

import numpy as np

from spatialops.contact import Status

TOLERANCE = 1e-9


def natural_residual(problem, z):
    """max |min(s z, w)| over max |b|, |w| on free rows; s = max |A|.

    In extended precision: with impulses of 1e7 beside speeds of 1, the rounding of A z alone is
    1e-9, and which side of the tolerance it falls on would be the processor's choice.
    """
    A = problem.A.toarray() if problem.is_sparse else problem.A
    if A.size == 0:
        return 0.0
    w = A.astype(np.longdouble) @ z + problem.b
    gaps = np.minimum(np.abs(A).max() * z, w)
    gaps[: problem.n_free] = w[: problem.n_free]
    scale = np.abs(problem.b).max()
    return float(np.abs(gaps).max() / (scale if scale > 0.0 else 1.0))


def check_honest(problem, solution, solvable=True):
    """Every answer is a success with a small residual, or a reason, and never a false proof."""
    residual = natural_residual(problem, solution.z)
    assert solution.message
    assert np.isfinite(solution.z).all()
    if solution.solved:
        assert residual <= TOLERANCE
        assert solvable
        unit = max(1.0, np.abs(problem.b).max(initial=0.0))
        assert np.allclose(
            solution.w, problem.A @ solution.z + problem.b, rtol=1e-9, atol=1e-12 * unit
        )
    else:
        assert solution.residual > TOLERANCE
        assert not (solvable and solution.status == Status.NO_SOLUTION)


def check_solved(problem, solution):
    check_honest(problem, solution)
    assert solution.status == Status.SOLVED, solution.message
