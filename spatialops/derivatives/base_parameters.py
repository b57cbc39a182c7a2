"""Base parameters: what of the inertial parameters joint forces can tell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from spatialops._arrays import Array, IntArray, whole
from spatialops.derivatives.inertial_regressor import inertial_regressor
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model, not_a_model

_INDEPENDENT = 1e-9  # of the largest column, what is left of one beside those before it


class BaseParameters(NamedTuple):
    """What `base_parameters` returns.

    Parameters
    ----------
    columns : (r,) int array
        Independent columns of the regressor, ascending; r is its rank over all motions.
    map : (r, 10 n_bodies) array
        Base parameters from inertial parameters: Y theta = Y[:, columns] (map theta) in any motion.
    """

    columns: IntArray
    map: Array


def base_parameters(model: Model, *, samples: int | None = None, seed: int = 0) -> BaseParameters:
    """A smallest set of combinations of inertial parameters that joint forces depend on.

    Found from the regressor at random states by an orthogonal factorisation with pivoting.

    Parameters
    ----------
    model : Model
        The mechanism.
    samples : int, optional
        Random states. Default: so many that there are three times as many forces as parameters.
    seed : int
        Of the random states. Default: 0.

    Returns
    -------
    BaseParameters
        Columns, and the map that gives their coefficients.

    Raises
    ------
    ArgumentError
        For too few samples.

    References
    ----------
    M. Gautier, Numerical calculation of the base inertial parameters of robots, 1991.

    Examples
    --------
    >>> import spatialops as so
    >>> base = so.base_parameters(so.models.pendulum(2).model)
    >>> len(base.columns)  # of 20 parameters of two bodies in the plane
    6
    """
    if type(model) is not Model:
        raise not_a_model(model)
    count = 10 * model.n_bodies
    needed = -(-count // model.nv)
    number = 3 * needed if samples is None else whole(samples, "samples", low=1)
    if number < needed:
        raise ArgumentError(f"samples: expected {needed} or more for {count} parameters")
    rng = np.random.default_rng(whole(seed, "seed", low=0))
    rows = [
        inertial_regressor(
            model, model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
        )
        for _ in range(number)
    ]
    R, order = qr(np.concatenate(rows), mode="r", pivoting=True)
    left = np.abs(np.diag(R))
    rank = int((left > _INDEPENDENT * left[0]).sum())
    combined = np.empty((rank, count))
    combined[:, order] = np.hstack(
        [np.eye(rank), solve_triangular(R[:rank, :rank], R[:rank, rank:])]
    )
    chosen = order[:rank].astype(np.int64)
    ascending = np.argsort(chosen)
    return BaseParameters(chosen[ascending], combined[ascending])
