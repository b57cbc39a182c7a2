"""M^-1 x in each of its forms, beside forward dynamics at the same configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.measure import Call, Effort, Quartiles, take_turns
from spatialops.dynamics.forward_dynamics import forward_dynamics
from spatialops.dynamics.mass_solve import mass_solve
from spatialops.models.pendulum import pendulum
from spatialops.operators import SpatialOperators
from spatialops.tree.model import Model

LINKS = (26, 100, 200, 300, 1000, 3000, 10000)
BAR = 1.5  # times forward dynamics, by `mass_solve`
FORMS = ("mass_solve", "operator kept", "operators made anew")
_PEER = "forward dynamics"


@dataclass(frozen=True)
class InverseProduct:
    """Time of forward dynamics (us), and of M^-1 x over it by form: quartiles of the ratios."""

    links: int
    us: float
    ratios: dict[str, Quartiles]

    @property
    def passed(self) -> bool:
        """Whether `mass_solve` is within its bar."""
        return self.ratios["mass_solve"].median <= BAR


def inverse_products(effort: Effort, links: Sequence[int] = LINKS) -> list[InverseProduct]:
    """Pendulums of all lengths; each form from Python, as a whole call."""
    return [_measured(n, effort) for n in links]


def _measured(links: int, effort: Effort) -> InverseProduct:
    model = pendulum(links).model
    timing = take_turns(_calls(model), effort)
    ratios = {form: timing.ratio(form, _PEER) for form in FORMS}
    return InverseProduct(links, 1e6 * timing.of(_PEER).median, ratios)


def _calls(model: Model) -> dict[str, Call]:
    q = np.linspace(0.0, 1.0, model.nq)
    still, x = np.zeros(model.nv), np.ones(model.nv)
    out = np.empty(model.nv)
    kept = SpatialOperators(model, q).mass_matrix_inverse
    for _ in range(2):  # the first product keeps nothing
        kept @ x

    def anew() -> Array:
        product: Array = SpatialOperators(model, q).mass_matrix_inverse @ x
        return product

    return {
        _PEER: partial(forward_dynamics, model, q, still, x, out=out),
        "mass_solve": partial(mass_solve, model, q, x, out=out),
        "operator kept": partial(kept.__matmul__, x),
        "operators made anew": anew,
    }
