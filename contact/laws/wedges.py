"""Contacts that are held by nothing but themselves: where a law has several answers.

A wedged contact's own impulse draws it together: its friction pulls the point nearer by more than
its normal impulse pushes it away, so that it presses since it is held, and is held since it presses
(Painleve). Such an answer has another beside it, in which the contact is free. Of the two no slip
and the exact cone take the one that holds fewer.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.newton._layout import WEDGED
from spatialops.contact.problem import ContactProblem


def wedged(problem: ContactProblem, impulses: Array) -> Array:
    """How much contacts are wedged.

    Parameters
    ----------
    problem : ContactProblem
        Of m contacts.
    impulses : (m, 3) array
        Along the contacts' frames, N s.

    Returns
    -------
    (m,) array
        Velocities at which contacts are drawn together by their own impulses, m/s; 0 of those that
        are not.
    """
    m, n_b = problem.n_contacts, problem.n_loop_rows
    L = problem.response.L[n_b : n_b + 3 * m].reshape(m, 3, problem.model.nv)
    sideways = L[:, 0] * np.einsum("mij,mi->mj", L[:, 1:], impulses[:, 1:])
    together = -(L[:, 0] ** 2).sum(axis=1) * impulses[:, 0] - sideways.sum(axis=1)
    own = together > WEDGED * np.abs(sideways).sum(axis=1)
    own &= (impulses[:, 1:] != 0.0).any(axis=1)
    return np.where(own, together, 0.0)
