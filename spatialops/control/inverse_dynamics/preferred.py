"""Whether a law prefers another answer to a command than the forces it was computed for.

Where friction wedges contacts a law has several answers, and prefers the one that holds fewest. An
inverse problem may have none but another: its joints move as demanded, and are rigid.
"""

from __future__ import annotations

import numpy as np

from spatialops.contact.laws.law import Law
from spatialops.contact.laws.wedges import wedged
from spatialops.control.inverse_dynamics.inverse_problem import restated
from spatialops.control.inverse_dynamics.remembered import Remembered
from spatialops.simulation.lookahead import StepPrediction


def prefers_fewer(law: Law, ahead: StepPrediction, forces: Remembered) -> bool:
    """Whether a law has an answer to a step without one of the contacts that are wedged in another.

    Parameters
    ----------
    law : Law
        Which is asked.
    ahead : StepPrediction
        The step under the command.
    forces : Remembered
        Impulses that the command counts on.

    Returns
    -------
    bool
        False where none is wedged, or all of them must be.
    """
    problem = ahead.problem
    if problem is None:
        return False
    depths = wedged(problem, forces.along(ahead.keys, problem.frames))
    for i in np.flatnonzero((depths > 0.0) & (problem.friction > 0.0)):
        friction = problem.friction.copy()
        friction[i] = 0.0
        other = law.solve(restated(problem, type(problem), friction=friction))
        if other.solved and other.impulses[i, 0] <= 0.0:
            return True
    return False
