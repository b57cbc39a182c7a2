"""Rows of closures: Jacobian, velocities, accelerations, rows of L and wrenches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spatialops as so
from spatialops._layout import TERM_LINEAR, TERM_ROW
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.dynamics.loops.closure_factors import Span
from spatialops.dynamics.loops.rows import closure_rows
from tests.support.loops import KINDS, onto, random_loop, random_loops
from tests.support.trees import central_difference, random_rotation, random_tree, relative_error


@pytest.fixture(params=KINDS)
def closed(request, rng):
    """A random tree and one closure of each kind, closed at q."""
    model = random_tree(
        rng,
        9,
        kinds=("revolute", "ball", "prismatic", "screw", "universal", "planar", "cylindrical"),
    )
    q = model.random(rng)
    return model, so.Loops(model, [random_loop(rng, model, q, request.param, "one")]), q


def test_closed_where_it_was_made(closed):
    model, loops, q = closed
    assert np.abs(so.loop_errors(model, loops, q)).max() < 1e-14


def test_jacobian_is_the_rate_of_the_errors(closed, rng):
    model, loops, q = closed
    v = rng.normal(size=model.nv)
    rate = central_difference(lambda x: so.loop_errors(model, loops, x), model, q, v)
    assert np.abs(rate).max() > 1e-3
    assert np.allclose(so.loop_jacobian(model, loops, q) @ v, rate, atol=1e-9)


@pytest.mark.parametrize("kind", ["ball", "distance", "coupler"])
def test_jacobian_is_exact_also_where_it_is_open(kind, rng):
    model = random_tree(rng, 7, kinds=("revolute", "ball", "prismatic"))
    loops = so.Loops(model, [random_loop(rng, model, model.random(rng), kind, "one")])
    q, v = model.random(rng), rng.normal(size=model.nv)
    assert np.abs(so.loop_errors(model, loops, q)).max() > 0.1
    rate = central_difference(lambda x: so.loop_errors(model, loops, x), model, q, v)
    assert np.allclose(so.loop_jacobian(model, loops, q) @ v, rate, atol=1e-9)


@given(seed=st.integers(0, 2**32 - 1))
def test_every_way_to_a_row_agrees(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(2, 9)))
    q, v = model.random(rng), rng.normal(size=model.nv)
    loops = random_loops(rng, model, q, 3)
    G = so.loop_jacobian(model, loops, q)
    assert np.allclose(
        so.loop_velocities(model, loops, q, v), G @ v, atol=1e-12 * (1.0 + np.abs(G).max())
    )
    span = Span(model, loops)
    span.place(q)
    factor_kernel(model.tree, model.links, span.work)
    closure_rows(model.tree, model.links, span.work, loops.term_ints, span.terms, (0, 0), span.L)
    W = G @ np.linalg.solve(so.mass_matrix(model, q), G.T)
    assert relative_error(span.L @ span.L.T, W) < 1e-9


@given(seed=st.integers(0, 2**32 - 1))
def test_bias_is_the_rate_of_the_velocities(seed):
    """G a + Gdot v is the rate of G v, which stays zero under accelerations that keep it so."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(2, 8)))
    q = model.random(rng)
    loops = random_loops(rng, model, q, 2)
    v = onto(so.loop_jacobian(model, loops, q), rng.normal(size=model.nv))
    a = so.constrained_dynamics(model, loops, q, v, rng.normal(size=model.nv)).accelerations

    def rates(t):
        return so.loop_velocities(
            model, loops, so.integrate(model, q, t * v + 0.5 * t * t * a), v + t * a
        )

    h = 1e-4
    change = (rates(-2 * h) - 8.0 * rates(-h) + 8.0 * rates(h) - rates(2 * h)) / (12.0 * h)
    free = so.forward_dynamics(model, q, v, np.zeros(model.nv))
    assert np.abs(change).max() < 1e-7 * (1.0 + np.abs(a).max() + np.abs(free).max())


def test_terms_add_up_to_rows_at_bodies(rng):
    """A ball on a body that is merged into another, with frames turned anyhow."""
    builder = so.TreeBuilder()
    solid = so.Inertia.box((0.1, 0.2, 0.3), mass=1.0)
    builder.add_body("a", joint=so.Joint("ball"), inertia=solid, position=(0.3, 0.0, 0.0))
    builder.add_body("plate", parent="a", position=(0.0, 0.1, 0.2), rotation=random_rotation(rng))
    builder.add_body("b", joint="free", inertia=solid)
    model = builder.build()
    turn = random_rotation(rng)
    loop = so.Loop(
        kind="ball",
        a="plate",
        b="b",
        position_a=(0.1, 0.2, 0.3),
        position_b=(0.4, 0.0, 0.1),
        rotation_b=turn,
    )
    q = so.close_loops(model, loop, model.random(rng))
    ends = so.node_positions(
        model, q, [so.Node("plate", (0.1, 0.2, 0.3)), so.Node("b", (0.4, 0.0, 0.1))]
    )
    assert np.allclose(ends[0], ends[1], atol=1e-12)
    J = so.jacobian(model, q, [so.Node("plate", (0.1, 0.2, 0.3)), so.Node("b", (0.4, 0.0, 0.1))])
    axes = so.body_poses(model, q).rotations[1] @ turn
    assert np.allclose(so.loop_jacobian(model, loop, q), axes.T @ (J[3:6] - J[9:12]), atol=1e-12)
    span = Span(model, so.Loops(model, [loop]))
    span.place(q)
    assert span.loops.term_ints[:, TERM_ROW].tolist() == [0, 1, 2]
    assert np.allclose(span.terms[:, TERM_LINEAR : TERM_LINEAR + 3], axes.T)


@pytest.mark.parametrize("angle", [0.1, 1.0, 3.0, 3.14159])
@pytest.mark.parametrize("kind", ["weld", "revolute", "prismatic"])
def test_large_turns_are_seen(kind, angle):
    """The error of a turn about x is its angle, up to half a turn, not its sine."""
    builder = so.TreeBuilder()
    builder.add_body(
        "a", joint=so.Joint("revolute", axis="x"), inertia=so.Inertia.sphere(0.1, mass=1.0)
    )
    model = builder.build()
    loop = so.Loop(kind=kind, a="a", name="it")
    errors = so.loop_errors(model, loop, [angle])
    names = loop.row_names
    assert errors[names.index("it: turn x")] == pytest.approx(angle, rel=1e-9)
    assert np.abs(np.delete(errors, names.index("it: turn x"))).max() < 1e-9


@pytest.mark.parametrize("kind", ["weld", "revolute", "prismatic"])
@pytest.mark.parametrize("axis", ["x", "y", (1.0, 2.0, 0.0)])
def test_half_a_turn_is_not_closed(kind, axis):
    builder = so.TreeBuilder()
    builder.add_body(
        "a", joint=so.Joint("revolute", axis=axis), inertia=so.Inertia.sphere(0.1, mass=1.0)
    )
    errors = so.loop_errors(builder.build(), so.Loop(kind=kind, a="a"), [np.pi])
    assert np.linalg.norm(errors) == pytest.approx(np.pi, rel=1e-6)
