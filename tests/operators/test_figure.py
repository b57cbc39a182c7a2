"""The figure of docs/operators.md shows what it says."""

import numpy as np
import pytest

from spatialops.view.operators import SHOWN, draw_sparsity, nonzero, tree_of_the_page


def test_the_pattern_is_that_of_the_tree():
    """A block of phi wherever one link carries another, and of psi; Omega is full."""
    operators = tree_of_the_page()
    parents = [-1, 0, 1, 2, 3, 1, 5]
    carries = np.eye(7, dtype=bool)
    for k, parent in enumerate(parents):
        if parent >= 0:
            carries[:, k] |= carries[:, parent]
    for name, expected in (
        ("phi", carries),
        ("psi", carries),
        ("M", np.eye(7, dtype=bool)),
        ("upsilon", np.eye(7, dtype=bool)),
        ("Omega", np.ones((7, 7), dtype=bool)),
    ):
        blocks = nonzero(getattr(operators, name)).reshape(7, 6, 7, 6).any(axis=(1, 3))
        assert np.array_equal(blocks, expected), name


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_shown_exists(name):
    assert nonzero(getattr(tree_of_the_page(), name)).any()


def test_the_figure_is_drawn(tmp_path):
    draw_sparsity(tmp_path / "operators.png", tree_of_the_page())
    assert (tmp_path / "operators.png").stat().st_size > 5000
