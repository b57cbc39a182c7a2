"""Closed loops of a mechanism as a controller's equations have them: G a = dU/dt - Gdot v."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops.dynamics.loops.closure_factors import LoopsLike, Span, checked_loops, present
from spatialops.dynamics.loops.constrained_dynamics import open_motion
from spatialops.dynamics.loops.rows import closure_jacobian
from spatialops.dynamics.newton_euler import NO_EXTERNAL
from spatialops.tree.model import Model
from spatialops.tree.state import State


class HeldClosures:
    """Rows of a mechanism's closures at a state.

    Parameters
    ----------
    model : Model
        The tree.
    loops : Loops, Loop or sequence of Loop
        Its closures.
    """

    def __init__(self, model: Model, loops: LoopsLike = ()) -> None:
        self.model = model
        self.loops = checked_loops(model, loops)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.loops.n_rows

    def rows(self, state: State) -> tuple[Array, Array]:
        """Rows G, and their accelerations that belong to none of the joints'.

        Parameters
        ----------
        state : State
            Configuration and velocity, closed.

        Returns
        -------
        G : (n_rows, nv) array
            Rows of all closures.
        drift : (n_rows,) array
            Gdot v - dU/dt, m/s^2 and rad/s^2.
        """
        model = self.model
        if not self.n_rows:
            return np.zeros((0, model.nv)), np.zeros(0)
        at = present(self.loops, state.q, state.time)
        span = Span(model, at)
        still = np.zeros(model.nv)
        a, missing = open_motion(span, state.q, state.v, still, NO_EXTERNAL, state.time)
        G = np.empty((at.n_rows, model.nv))
        closure_jacobian(model.tree, model.links, span.work, at.term_ints, span.terms, G)
        return G, -missing - G @ a
