"""Where the matrices of spatial operators have entries: the figure of docs/operators.md.

python -m spatialops.view.operators [FILE]
"""

from __future__ import annotations

import os
import sys

import numpy as np
from scipy.sparse.linalg import LinearOperator

from spatialops.algebra.inertia import Inertia
from spatialops.algebra.linear import dense
from spatialops.operators.spatial_operators import SpatialOperators
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.view.figures import new_figure

SHOWN = ("H", "phi", "psi", "K", "M", "upsilon", "Omega", "mass_matrix")
_ZERO = 1e-12  # relative to the largest entry


def draw_sparsity(path: str | os.PathLike[str], operators: SpatialOperators) -> None:
    """Draw which entries of some operators are not zero, blocks of six apart by lines."""
    figure = new_figure(9.0, 4.8)
    for axes, name in zip(figure.subplots(2, 4).flat, SHOWN, strict=True):
        entries = nonzero(getattr(operators, name))
        axes.imshow(entries, cmap="Blues", vmin=0.0, vmax=1.2, interpolation="nearest")
        for size, line in ((entries.shape[0], axes.axhline), (entries.shape[1], axes.axvline)):
            step = 6 if size % 6 == 0 else 1
            for place in range(step, size, step):
                line(place - 0.5, color="#b0b8c0", linewidth=0.5)
        axes.set_title(name.replace("_", " "))
        axes.set_xticks([])
        axes.set_yticks([])
    figure.savefig(path, dpi=110)


def nonzero(operator: LinearOperator) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Which entries of an operator's matrix are not zero."""
    matrix = np.abs(dense(operator))
    shown: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = matrix > _ZERO * matrix.max()
    return shown


def tree_of_the_page() -> SpatialOperators:
    """The tree of docs/operators.md: a body of two links, arms of three and two."""
    builder = TreeBuilder()
    parents = {"hip": "world", "chest": "hip", "left1": "chest", "left2": "left1"}
    parents |= {"left3": "left2", "right1": "chest", "right2": "right1"}
    for i, (name, parent) in enumerate(parents.items()):
        joint = Joint("revolute", axis="xyz"[i % 3])
        inertia = Inertia.box((0.2, 0.1, 0.3), mass=1.0 + 0.3 * i)
        builder.add_body(
            name, parent=parent, joint=joint, inertia=inertia, position=(0.1, 0.2, 0.3)
        )
    model = builder.build()
    return SpatialOperators(model, np.linspace(-0.7, 0.9, model.nq))


if __name__ == "__main__":
    draw_sparsity((sys.argv[1:] or ["docs/images/operators.png"])[0], tree_of_the_page())
