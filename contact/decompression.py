"""The second half of an impact: what compression has stored is given back ([J] 56-58).

theta = e max(0, n*p_c) along each normal. [J] 57 puts it into the velocities that decompression
begins from, and lets friction answer the decompression's own normal impulse F_n alone. Here, by
default, friction answers what the contact bears, F_n + theta; without that a ball that slides and
bounces meets no friction as it leaves.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spatialops._arrays import Array, ArrayLike, array, dimensions, instance
from spatialops.contact.problem import ContactProblem
from spatialops.errors import ArgumentError


def decompression(
    problem: ContactProblem,
    velocity: ArrayLike,
    normal_impulses: ArrayLike,
    restitution: ArrayLike,
    *,
    as_printed: bool = False,
) -> tuple[ContactProblem, Array]:
    """The problem of decompression after a compression.

    Parameters
    ----------
    problem : ContactProblem
        The problem of compression.
    velocity : (nv,) array_like
        Joint velocities that compression ended with.
    normal_impulses : (m,) array_like
        What it gave along the normals, N s.
    restitution : float or (m,) array_like
        Poisson's coefficients e, in [0, 1].
    as_printed : bool, optional
        Friction answers F_n alone, as [J] 57 is printed. By default it answers F_n + theta, which
        is our deviation.

    Returns
    -------
    ContactProblem
        Its impulses are those beside theta.
    (m,) array
        theta, N s: to be added to its normal impulses ([J] 58).

    Raises
    ------
    ArgumentError
        For wrong shapes, NaN, infinity, or e outside [0, 1].

    References
    ----------
    [J] 56-58.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.compare.problems import pendulum_case
    >>> from spatialops.contact import Coulomb, decompression
    >>> problem = pendulum_case(2, 2).problem
    >>> first = Coulomb().solve(problem)
    >>> second, theta = decompression(problem, first.velocity, first.impulses[:, 0], 0.5)
    >>> bool((theta == 0.5 * first.impulses[:, 0]).all()), second.phase
    (True, 'decompression')
    """
    m = instance(problem, ContactProblem, "problem").n_contacts
    one = dimensions(restitution, "restitution") == 0
    e = array(restitution, () if one else (m,), "restitution")
    if not ((e >= 0.0) & (e <= 1.0)).all():
        raise ArgumentError(f"restitution: expected numbers in [0, 1], got {restitution!r}")
    p = array(normal_impulses, (m,), "normal_impulses", finite=True)
    theta = e * np.maximum(p, 0.0)
    rows = np.zeros(problem.n_loop_rows + 3 * m)
    rows[problem.n_loop_rows :: 3] = theta
    v = array(velocity, (problem.model.nv,), "velocity", finite=True)
    after = replace(problem, velocity=v)
    answers = np.zeros(m) if as_printed else theta
    return (
        replace(
            problem,
            velocity=after.after(rows),
            prior_normal_impulse=answers,
            phase="decompression",
        ),
        theta,
    )
