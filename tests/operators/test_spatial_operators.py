"""The appendix of [J], line by line: equations 59 to 69 on small trees with every kind of joint."""

import numpy as np
import pytest

import spatialops as so
from spatialops.operators import SpatialOperators, dense
from tests.support.trees import chain, dense_compliance, random_nodes, random_tree, relative_error

TOLERANCE = 1e-10


@pytest.fixture
def op(model, state):
    return SpatialOperators(model, state[0])


def close(left, right, tolerance=TOLERANCE):
    left, right = (x if isinstance(x, np.ndarray) else dense(x) for x in (left, right))
    return relative_error(left, right) < tolerance


def block(matrix, i, j):
    return matrix[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]


def block_diagonal_part(matrix):
    result = np.zeros_like(matrix)
    for k in range(len(matrix) // 6):
        block(result, k, k)[:] = block(matrix, k, k)
    return result


def nearest_common(parents, i, j):
    """The nearest link that carries both links i and j, itself counted; -1 for the world."""
    while i != j:
        if i > j:
            i = parents[i]
        else:
            j = parents[j]
    return i


def test_dimensions_and_adjoints(op, model, rng):
    n = model.nv
    nodes = random_nodes(rng, model, 3)
    shapes = {
        "phi": (6 * n, 6 * n),
        "psi": (6 * n, 6 * n),
        "E_phi": (6 * n, 6 * n),
        "E_psi": (6 * n, 6 * n),
        "M": (6 * n, 6 * n),
        "upsilon": (6 * n, 6 * n),
        "Omega": (6 * n, 6 * n),
        "H": (n, 6 * n),
        "K": (6 * n, n),
        "D": (n, n),
        "D_inverse": (n, n),
        "armature": (n, n),
        "identity": (n, n),
        "mass_matrix": (n, n),
        "mass_matrix_inverse": (n, n),
    }
    operators = {name: getattr(op, name) for name in shapes}
    operators |= {"B": op.B(nodes), "J": op.jacobian(nodes), "Lambda": op.compliance(nodes)}
    shapes |= {"B": (6 * n, 18), "J": (18, n), "Lambda": (18, 18)}
    for name, operator in operators.items():
        assert operator.shape == shapes[name], name
        matrix = dense(operator)
        assert relative_error(dense(operator.H), matrix.T) < 1e-12, name
        assert relative_error(dense(operator.T), matrix.T) < 1e-12, name
        x, y = rng.normal(size=operator.shape[1]), rng.normal(size=operator.shape[0])
        assert np.allclose(operator.matvec(x), matrix @ x, rtol=1e-10, atol=1e-10), name
        assert np.allclose(operator.rmatvec(y), matrix.T @ y, rtol=1e-10, atol=1e-10), name


def test_operators_do_not_change_their_arguments(op, rng):
    x = rng.normal(size=op.phi.shape[1])
    before = x.copy()
    op.phi @ x
    op.psi.H @ x
    op.upsilon @ x
    assert (x == before).all()


def test_structure(op, model):
    phi = dense(op.phi)
    psi = dense(op.psi)
    K = dense(op.K)
    parents = model.tree[:, 0]
    for i in range(model.nv):
        for j in range(model.nv):
            carries = nearest_common(parents, i, j) == i
            assert block(phi, i, j).any() == carries
            assert carries or not block(psi, i, j).any()
            assert (carries and i != j) or not K[6 * i : 6 * i + 6, j].any()
    assert (
        phi == np.triu(phi, -2)
    ).all()  # the lever's r~ stands above the diagonal of every block
    assert close(block_diagonal_part(phi), np.eye(len(phi)))
    assert close(block_diagonal_part(psi), np.eye(len(psi)))


def test_propagations_are_inverses_of_one_step(op):
    eye = np.eye(op.phi.shape[0])
    assert close(dense(op.phi) @ (eye - dense(op.E_phi)), eye)
    assert close(dense(op.psi) @ (eye - dense(op.E_psi)), eye)


def test_equation_59_newton_euler_factors(op, model, state):
    assert close(
        op.H @ op.phi @ op.M @ op.phi.H @ op.H.H + op.armature, so.mass_matrix(model, state[0])
    )
    assert close(op.mass_matrix, so.mass_matrix(model, state[0]))


def test_equation_59_square_factors(op, model, state):
    factor = op.identity + op.H @ op.phi @ op.K
    assert close(factor @ op.D @ factor.H, so.mass_matrix(model, state[0]))
    assert np.array_equal(dense(factor), np.triu(dense(factor)))


def test_equation_59_inverse_factor(op):
    product = (op.identity + op.H @ op.phi @ op.K) @ (op.identity - op.H @ op.psi @ op.K)
    assert close(product, op.identity)


def test_equation_59_inverse(op, model, state):
    mass = so.mass_matrix(model, state[0])
    assert close(dense(op.mass_matrix_inverse) @ mass, np.eye(model.nv), 1e-9)
    assert close(op.mass_matrix_inverse, np.linalg.inv(mass), 1e-9)


def test_equation_60_velocities(op, model, state):
    q, v, _ = state
    velocities = (op.phi.H @ (op.H.H @ v)).reshape(-1, 6)
    nodes = [so.Node(b) for b in range(model.n_bodies)]
    assert close(velocities[model.body_links], so.node_velocities(model, q, v, nodes))


def test_equation_61_jacobian(op, model, state, rng):
    nodes = random_nodes(rng, model, 5, world=True)
    assert close(op.B(nodes).H @ op.phi.H @ op.H.H, so.jacobian(model, state[0], nodes))
    assert close(op.jacobian(nodes), so.jacobian(model, state[0], nodes))


def test_equation_62(op, model, state, rng):
    nodes, innovation = random_nodes(rng, model, 3), op.identity - op.H @ op.psi @ op.K
    pick = op.B(nodes)
    left = pick.H @ op.phi.H @ op.H.H @ innovation.H
    assert close(left @ op.D_inverse @ left.H, dense_compliance(model, state[0], nodes))


def test_equation_63(op):
    assert close((op.identity - op.H @ op.psi @ op.K) @ op.H @ op.phi, op.H @ op.psi)


def test_equation_64_compliance(op, model, state, rng):
    nodes = random_nodes(rng, model, 4, world=True)
    expected = dense_compliance(model, state[0], nodes)
    assert close(
        op.B(nodes).H @ op.psi.H @ op.H.H @ op.D_inverse @ op.H @ op.psi @ op.B(nodes), expected
    )
    assert close(op.compliance(nodes), so.compliance(model, state[0], nodes))


def test_equation_65_decomposition(op, model):
    psi = dense(op.psi)
    ups = dense(op.upsilon)
    eye = np.eye(op.psi.shape[0])
    strictly = psi - eye
    rest, parents = np.zeros_like(psi), model.tree[:, 0]
    for i in range(model.nv):
        for j in range(model.nv):
            k = nearest_common(parents, i, j)
            if k >= 0 and k not in (i, j):
                block(rest, i, j)[:] = block(psi, k, i).T @ block(ups, k, k) @ block(psi, k, j)
    assert close(op.Omega, ups + strictly.T @ ups + ups @ strictly + rest)


def test_equation_66_lyapunov(op):
    E, ups = dense(op.E_psi), dense(op.upsilon)
    left = op.H.H @ op.D_inverse @ op.H
    scale = np.abs(ups).max()
    assert np.abs(dense(left) - (ups - block_diagonal_part(E.T @ ups @ E))).max() < 1e-10 * scale


def test_equation_67_recursion(op, model):
    E = dense(op.E_psi)
    ups = dense(op.upsilon)
    source = dense(op.H.H @ op.D_inverse @ op.H)
    for k, parent in enumerate(model.tree[:, 0]):
        expected = block(source, k, k).copy()
        if parent >= 0:
            step = block(E, parent, k)
            expected += step.T @ block(ups, parent, parent) @ step
        assert relative_error(block(ups, k, k), expected) < TOLERANCE


def test_equation_69_blocks(op, model):
    omega, scale = dense(op.Omega), np.abs(dense(op.Omega)).max()
    psi = dense(op.psi)
    ups = dense(op.upsilon)
    parents = model.tree[:, 0]
    for i in range(model.nv):
        assert np.abs(op.omega(i, i) - block(ups, i, i)).max() < 1e-12 * scale
        for j in range(model.nv):
            assert np.abs(op.omega(i, j) - block(omega, i, j)).max() < TOLERANCE * scale
            assert np.abs(op.omega(i, j) - op.omega(j, i).T).max() < 1e-12 * scale
            k = parents[j]
            if k >= 0 and nearest_common(parents, i, j) != j:
                expected = block(omega, i, k) @ block(psi, k, j)
                assert np.abs(op.omega(i, j) - expected).max() < TOLERANCE * scale


def test_omega_is_symmetric_and_positive_semidefinite(op):
    omega = dense(op.Omega)
    assert relative_error(omega, omega.T) < 1e-12
    values = np.linalg.eigvalsh(omega)
    assert values.min() > -1e-11 * values.max()


def test_no_nodes_and_repeated_nodes(op, model, rng):
    assert dense(op.compliance([])).shape == (0, 0)
    assert op.jacobian([]).shape == (0, model.nv)
    node = random_nodes(rng, model, 1)[0]
    matrix = dense(op.compliance([node, node]))
    assert close(matrix, np.tile(matrix[:6, :6], (2, 2)), 1e-12)


@pytest.mark.parametrize("bad", [-1, 10**6, 0.0, "b0", None])
def test_omega_refuses_wrong_links(op, bad):
    with pytest.raises(so.errors.ArgumentError, match="expected the index of a link"):
        op.omega(bad, 0)
    with pytest.raises(so.errors.ArgumentError, match="j: expected"):
        op.omega(0, bad)


def test_bad_coordinates_are_refused(model):
    for bad in (None, "q", np.zeros(model.nq + 1), np.full(model.nq, np.nan)):
        with pytest.raises(so.errors.ArgumentError, match=r"^q"):
            SpatialOperators(model, bad)


def test_singular_mass_matrix_is_refused():
    builder = so.TreeBuilder()
    builder.add_body("a", joint=so.Joint("prismatic", armature=0.0))
    builder.add_body("b", parent="a", joint="prismatic", inertia=so.Inertia.sphere(0.1, mass=1.0))
    model = builder.build()
    op = SpatialOperators(model, np.zeros(2))  # which computes nothing yet
    for ask in (lambda: op.psi, lambda: op.mass_matrix_inverse @ np.ones(2)):
        with pytest.raises(so.errors.ModelError, match="nothing to move"):
            ask()


@pytest.mark.parametrize("armature", [0.0, 0.3])
def test_the_inverse_of_the_mass_matrix_makes_factors_when_they_pay(rng, armature):
    """One vector by `mass_solve`; the next ones, and several at once, by factors that are kept."""
    model = random_tree(rng, 6, armature=armature > 0.0)
    q, x = model.random(rng), rng.normal(size=model.nv)
    op = SpatialOperators(model, q)
    inverse = op.mass_matrix_inverse
    first = inverse @ x
    assert np.array_equal(first, so.mass_solve(model, q, x))
    assert "_stack" not in vars(op)
    second = inverse @ x
    assert "_factors" in vars(op)
    assert np.abs(second - first).max() < 1e-11 * np.abs(first).max()
    X = np.stack([x, 2.0 * x], axis=1)
    assert np.array_equal(inverse @ X, second[:, None] * [1.0, 2.0])
    assert np.array_equal(op.mass_matrix_inverse @ x, second)  # factors are there
    assert np.array_equal(inverse.H @ x, second)
    assert inverse.inv is not None
    assert np.isnan(
        SpatialOperators(model, q).mass_matrix_inverse @ np.full(model.nv, np.nan)
    ).any()
    with pytest.raises(ValueError, match="dimension mismatch"):
        inverse @ np.ones(model.nv + 1)


@pytest.mark.compiled
def test_long_chain(rng):
    model = chain(300)
    q, x = rng.uniform(-0.5, 0.5, 300), rng.normal(size=300)
    op = SpatialOperators(model, q)
    assert relative_error(op.mass_matrix @ x, so.mass_matrix(model, q) @ x) < 1e-10
    rest = np.zeros(300)  # the inverse is too badly conditioned to be compared with a dense one
    response = so.forward_dynamics(model, q, rest, x) - so.forward_dynamics(model, q, rest, rest)
    assert relative_error(op.mass_matrix_inverse @ x, response) < 1e-9
    nodes = [so.Node("b299", (0.0, 0.0, -0.2)), so.Node("b150")]
    assert close(op.compliance(nodes), so.compliance(model, q, nodes))


@pytest.mark.compiled
def test_many_random_trees(rng):
    for _ in range(20):
        model = random_tree(rng, 8)
        q = model.random(rng)
        op = SpatialOperators(model, q)
        assert close((op.identity - op.H @ op.psi @ op.K) @ op.H @ op.phi, op.H @ op.psi)
        assert close(op.mass_matrix, so.mass_matrix(model, q))
