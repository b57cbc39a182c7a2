import numpy as np
import pytest

import spatialops as so
from spatialops.control.projected.dynamics import ProjectedDynamics, Projection
from spatialops.dynamics.coriolis import brackets, coriolis_matrix, jacobian_rate
from spatialops.errors import ArgumentError


def quadruped():
    """A free trunk with four three-joint legs, drawn by hand so that nothing is symmetric."""
    builder = so.TreeBuilder()
    builder.add_body(
        "trunk", joint=so.Joint("free"), inertia=so.Inertia.box((0.5, 0.3, 0.12), mass=9.0)
    )
    for i, (x, y) in enumerate(((0.21, 0.12), (0.19, -0.11), (-0.2, 0.13), (-0.22, -0.12))):
        parent, place = "trunk", (x, y, 0.0)
        for name, axis, mass in (("hip", "x", 0.7), ("thigh", "y", 0.9), ("shank", "y", 0.3)):
            rod = so.Inertia.capsule(0.02, 0.16, mass=mass).shifted((0.0, 0.01, -0.1))
            builder.add_body(
                f"{name}{i}",
                parent=parent,
                joint=so.Joint("revolute", axis=axis),
                inertia=rod,
                position=place,
            )
            parent, place = f"{name}{i}", (0.0, 0.0, 0.0) if name == "hip" else (0.0, 0.0, -0.21)
    return builder.build()


FEET = [so.Node(f"shank{i}", (0.0, 0.0, -0.2)) for i in range(4)]
LINEAR = np.concatenate([np.arange(6 * i + 3, 6 * i + 6) for i in range(4)])


@pytest.fixture(scope="module")
def model():
    return quadruped()


def pinned(model, q, feet):
    return so.Loops(
        model,
        [
            so.Loop(
                kind="ball",
                a=node.body,
                b="world",
                position_a=node.position,
                position_b=so.node_positions(model, q, [node])[0],
                name=f"pin{i}",
            )
            for i, node in enumerate(feet)
        ],
    )


def state(model, rng, feet):
    """A random configuration, a velocity that the pins admit, and their rows with rates."""
    q = model.random(rng)
    rows = LINEAR[: 3 * len(feet)]
    A = so.jacobian(model, q, feet)[rows]
    v = Projection(A).P @ rng.normal(size=model.nv)
    return q, v, A, jacobian_rate(model, q, v, feet)[rows]


def moved(model, q, v, h):
    return so.integrate(model, q, h * v)


@pytest.mark.parametrize("seed", range(3))
def test_coriolis_matrix(model, seed):
    rng = np.random.default_rng(seed)
    q, v = model.random(rng), rng.normal(size=model.nv)
    C = coriolis_matrix(model, q, v)
    assert np.allclose(C @ v, so.bias(model, q, v) - so.bias(model, q, 0.0 * v), atol=1e-10)
    h = 1e-5
    rate = (
        so.mass_matrix(model, moved(model, q, v, h)) - so.mass_matrix(model, moved(model, q, v, -h))
    ) / (2 * h)
    assert np.allclose(rate, C + C.T, atol=1e-7)  # truncation of the difference


def test_jacobian_rate(model):
    rng = np.random.default_rng(3)
    q, v = model.random(rng), rng.normal(size=model.nv)
    rate = jacobian_rate(model, q, v, FEET)
    h = 1e-5
    difference = so.jacobian(model, moved(model, q, v, h), FEET) - so.jacobian(
        model, moved(model, q, v, -h), FEET
    )
    assert np.allclose(rate, difference / (2 * h), atol=1e-8)
    assert np.allclose(rate @ v, so.jacobian_drift(model, q, v, FEET), atol=1e-11)
    assert np.allclose(brackets(model, v) @ v, 0.0, atol=1e-14)


@pytest.mark.parametrize("n_feet", [0, 1, 2, 3, 4])
def test_against_the_engines_constrained_dynamics(model, n_feet):
    rng = np.random.default_rng(n_feet)
    feet = FEET[:n_feet]
    q, v, A, rate = state(model, rng, feet)
    tau = rng.normal(size=model.nv) * 5.0
    projected = ProjectedDynamics(
        so.mass_matrix(model, q), so.bias(model, q, v), Projection(A), rate @ v
    )
    a, forces = projected.accelerations(tau), projected.forces(tau)
    if not n_feet:
        assert np.allclose(a, so.forward_dynamics(model, q, v, tau), rtol=1e-9, atol=1e-9)
        return
    engine = so.constrained_dynamics(model, pinned(model, q, feet), q, v, tau)
    assert np.allclose(a, engine.accelerations, rtol=1e-9, atol=1e-8)
    assert np.allclose(forces, engine.multipliers, rtol=1e-9, atol=1e-8)
    assert np.allclose(A @ a + rate @ v, 0.0, atol=1e-9)


def test_redundant_contacts(model):
    """Two pins on one foot and one shank: six rows of rank five, twice over."""
    rng = np.random.default_rng(5)
    feet = [FEET[0], so.Node("shank0", (0.0, 0.05, -0.1)), FEET[0], FEET[1]]
    q, v, A, rate = state(model, rng, feet)
    projection = Projection(A)
    assert projection.rank == 8
    assert projection.gap < 1e-12
    tau = rng.normal(size=model.nv)
    projected = ProjectedDynamics(
        so.mass_matrix(model, q), so.bias(model, q, v), projection, rate @ v
    )
    engine = so.constrained_dynamics(model, pinned(model, q, feet), q, v, tau)
    assert np.allclose(projected.accelerations(tau), engine.accelerations, rtol=1e-8, atol=1e-7)
    assert np.allclose(projected.forces(tau), engine.multipliers, rtol=1e-8, atol=1e-7)
    assert np.allclose(A.T @ projection.internal, 0.0, atol=1e-12)
    assert projection.internal.shape == (12, 4)


@pytest.mark.parametrize("nu", [None, 0.05, 30.0])
def test_property_1(model, nu):
    """Mbar is positive definite, its rate (by differences) less 2 Cbar skew."""
    rng = np.random.default_rng(7)
    feet = FEET[:3]
    q, v, A, rate = state(model, rng, feet)

    def inertia(h):
        there = moved(model, q, v, h)
        projection = Projection(so.jacobian(model, there, feet)[LINEAR[:9]])
        return ProjectedDynamics(so.mass_matrix(model, there), 0.0 * v, projection, np.zeros(9), nu)

    here = ProjectedDynamics(
        so.mass_matrix(model, q), so.bias(model, q, v), Projection(A), rate @ v, nu
    )
    nu = here.scale
    Mbar = here.constraint_inertia
    values = np.linalg.eigvalsh(Mbar)
    assert values[0] > 0.0
    assert np.isclose(values, nu, rtol=1e-10).sum() >= 9
    assert values[-1] <= max(nu, np.linalg.norm(here.M, 2)) * (1.0 + 1e-12)
    h = 1e-5
    ahead, behind = inertia(h), inertia(-h)
    object.__setattr__(ahead, "nu", nu)
    object.__setattr__(behind, "nu", nu)
    slope = (ahead.constraint_inertia - behind.constraint_inertia) / (2 * h)
    Cbar = here.constraint_coriolis(coriolis_matrix(model, q, v), rate)
    skew = slope - 2.0 * Cbar
    assert np.allclose(skew, -skew.T, atol=1e-6 * np.abs(slope).max())
    assert np.abs(slope).max() > 0.1
    # (5a) with Cbar gives the motion that the reduced form gives.
    tau = rng.normal(size=model.nv)
    gravity = -so.bias(model, q, 0.0 * v)
    a = np.linalg.solve(Mbar, here.projection.P @ (tau + gravity) - Cbar @ v)
    assert np.allclose(a, here.accelerations(tau), rtol=1e-9, atol=1e-8)


def test_projections_and_their_rates(model):
    rng = np.random.default_rng(8)
    feet = FEET[1:3]
    q = model.random(rng)
    A = so.jacobian(model, q, feet)[LINEAR[:6]]
    projection = Projection(A)
    P, v = projection.P, projection.P @ rng.normal(size=model.nv)
    rate = jacobian_rate(model, q, v, feet)[LINEAR[:6]]
    L = projection.drift(rate)
    omega = projection.omega(rate)
    h = 1e-6
    ends = [
        Projection(so.jacobian(model, moved(model, q, v, s * h), feet)[LINEAR[:6]]).P
        for s in (1.0, -1.0)
    ]
    assert np.allclose((ends[0] - ends[1]) / (2 * h), L + L.T, atol=1e-7)
    assert np.allclose(P @ P, P, atol=1e-13)
    assert np.allclose(P @ A.T, 0.0, atol=1e-13)
    assert np.allclose(omega, -omega.T)
    assert np.allclose(omega @ v, L @ v, atol=1e-12)
    assert np.allclose(
        A @ (omega @ v), -rate @ v, atol=1e-11
    )  # the printed sign, L^T - L, gives the opposite
    here = ProjectedDynamics(so.mass_matrix(model, q), so.bias(model, q, v), projection, rate @ v)
    S, Mbar = here.oblique, here.constraint_inertia
    assert np.allclose(S @ S, S, atol=1e-10)
    assert not np.allclose(S, S.T, atol=1e-3)
    assert np.allclose(S, np.eye(len(S)) - here.M @ np.linalg.inv(Mbar) @ P, atol=1e-9)
    assert np.allclose(P @ Mbar, Mbar @ P, atol=1e-12)


def test_bad_rows_are_refused():
    with pytest.raises(ArgumentError, match="A: holds NaN"):
        Projection([[np.nan, 1.0]])
    with pytest.raises(ArgumentError, match="A: expected shape"):
        Projection([1.0, 2.0])
    assert Projection(np.zeros((3, 5))).rank == 0
