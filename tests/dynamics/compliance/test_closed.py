"""Lambda of closed mechanisms: dense algebra, constrained dynamics, a parallelogram by hand."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import spatialops as so
from spatialops.errors import ArgumentError
from tests.support.loops import onto, random_loops
from tests.support.trees import random_tree, relative_error


def drawn(seed):
    """A random tree with closures of random kinds at q, and two nodes."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(3, 9)))
    q = model.random(rng)
    loops = random_loops(rng, model, q, int(rng.integers(1, 3)))
    nodes = [so.Node(int(rng.integers(model.n_bodies)), rng.normal(size=3)) for _ in range(2)]
    return rng, model, q, loops, nodes


def rows_of(model, loops, q, nodes):
    """Rows of the closures, whose rank must be plain, and of the nodes."""
    assume(loops.n_rows)
    G = so.loop_jacobian(model, loops, q)
    singular = np.linalg.svd(G, compute_uv=False)
    assume(singular[singular > 1e-10 * singular[0]].min() > 1e-3 * singular[0])
    return G, so.jacobian(model, q, nodes)


@given(seed=st.integers(0, 2**32 - 1))
def test_against_dense_algebra(seed):
    _, model, q, loops, nodes = drawn(seed)
    G, J = rows_of(model, loops, q, nodes)
    M = so.mass_matrix(model, q)
    held = np.linalg.pinv(G @ np.linalg.solve(M, G.T), rcond=1e-10, hermitian=True)
    Y = np.linalg.inv(M) - np.linalg.solve(M, G.T) @ held @ np.linalg.solve(M, G.T).T
    free = so.compliance(model, q, nodes)
    found = so.compliance(model, q, nodes, loops=loops)
    assert np.abs(found - J @ Y @ J.T).max() < 1e-8 * np.abs(free).max()
    # Closures only take away.
    assert np.linalg.eigvalsh(free - found).min() > -1e-10 * np.abs(free).max()


@given(seed=st.integers(0, 2**32 - 1))
def test_against_constrained_dynamics(seed):
    """Lambda f is by how much a force on a node changes the nodes' accelerations."""
    rng, model, q, loops, nodes = drawn(seed)
    G, J = rows_of(model, loops, q, nodes)
    v, tau = onto(G, rng.normal(size=model.nv)), rng.normal(size=model.nv)
    f = rng.normal(size=len(J))
    one, other = (
        so.constrained_dynamics(model, loops, q, v, tau + s * J.T @ f).accelerations
        for s in (1.0, -1.0)
    )
    expected = J @ (one - other) / 2.0
    found = so.compliance(model, q, nodes, loops=loops) @ f
    scale = np.abs(so.compliance(model, q, nodes)).max() * np.abs(f).sum()
    assert np.abs(found - expected).max() < 1e-8 * (scale + np.abs(one).max())


@given(seed=st.integers(0, 2**32 - 1))
def test_inertia_inverse_and_null_space(seed):
    _, model, q, loops, nodes = drawn(seed)
    G, J = rows_of(model, loops, q, nodes)
    Lambda = so.compliance(model, q, nodes, loops=loops)
    assume(np.abs(Lambda).max() > 1e-6 * np.abs(so.compliance(model, q, nodes)).max())
    inertia = so.operational_space_inertia(model, q, nodes, loops=loops)
    J_bar = so.dynamically_consistent_inverse(model, q, nodes, loops=loops)
    N = so.null_space_projector(model, q, nodes, loops=loops)
    size = max(1.0, np.abs(J_bar).max())
    assert relative_error(Lambda @ inertia @ Lambda, Lambda) < 1e-6
    assert np.abs(G @ J_bar).max() < 1e-7 * size
    assert relative_error(J @ J_bar @ Lambda, Lambda) < 1e-6
    for rows in (G, J):
        assert np.abs(rows @ N).max() < 1e-6 * size
    assert np.abs(N @ N - N).max() < 1e-6 * size


def test_a_parallelogram_by_hand():
    """Two cranks and a bar that only translates: one degree of freedom, l^2 / (2 I + m l^2)."""
    length, mass = 0.7, 1.3
    turning = 0.2
    crank = so.Inertia(1.0, (0.0, 0.0, 0.0), np.diag([1.0, turning, 1.0]))
    bar = so.Inertia(mass, (0.5, 0.0, 0.0), np.diag([1.0, 0.4, 1.0]))
    pin = so.Joint("revolute", axis="y")
    model = (
        so.TreeBuilder()
        .add_body("left", joint=pin, inertia=crank)
        .add_body("bar", parent="left", joint=pin, inertia=bar, position=(0.0, 0.0, length))
        .add_body(
            "right",
            parent="bar",
            joint=pin,
            inertia=so.Inertia(1.0, (0.0, 0.0, -length), np.diag([1.0, turning, 1.0])),
            position=(1.0, 0.0, 0.0),
        )
        .build()
    )
    q = np.array([0.4, -0.4, 0.4])
    loop = so.loop_at(model, q, "revolute", "right", "world", point=(1.0, 0.0, 0.0), axis="y")
    Lambda = so.compliance(model, q, [so.Node("bar", (0.3, 0.0, 0.1))], loops=loop)
    along = np.array([0.0, 0.0, 0.0, np.cos(0.4), 0.0, -np.sin(0.4)])
    expected = length**2 / (2.0 * turning + mass * length**2) * np.outer(along, along)
    assert np.abs(Lambda - expected).max() < 1e-13


def test_bad_input_is_refused():
    four_bar = so.models.four_bar()
    model, q = four_bar.model, four_bar.state.q
    nodes = [so.Node(0)]
    out = np.empty((6, 6))
    assert so.compliance(model, q, nodes, loops=four_bar.loops, out=out) is out
    with pytest.raises(ArgumentError, match="another model"):
        so.compliance(so.models.pendulum(3).model, q, nodes, loops=four_bar.loops)
    with pytest.raises(ArgumentError, match="q: "):
        so.compliance(model, [0.0], nodes, loops=four_bar.loops)
    with pytest.raises(ArgumentError, match="method"):
        so.compliance(model, q, nodes, loops=four_bar.loops, method="fast")
    with pytest.raises(ArgumentError):
        so.compliance(model, q, nodes, loops=four_bar.loops, out=np.empty((3, 3)))
