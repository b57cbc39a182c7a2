import numpy as np
import pytest

from spatialops.control import Barrier, Conic, ForceProgram
from spatialops.control.friction_cone_barrier import smallest_conflict
from spatialops.errors import ArgumentError


def blank(n):
    return np.zeros((0, n)), np.zeros(0)


def program(H, g=None, E=None, e=None, D=None, d=None, K=None, k=None, mu=(), **options):
    n = len(H)
    return ForceProgram(
        np.asarray(H, dtype=float), np.zeros(n) if g is None else g, *(blank(n) if E is None else (E, e)),
        *(blank(n) if D is None else (D, d)), *(blank(n) if K is None else (K, k)), np.asarray(mu, dtype=float),
        **options,
    )  # fmt: skip


def random_program(rng):
    p, r, c = int(rng.integers(6, 16)), int(rng.integers(0, 6)), int(rng.integers(1, 6))
    E, K, k = rng.normal(size=(r, p)), rng.normal(size=(3 * c, p)), rng.normal(size=3 * c) * 20.0
    k[::3] += rng.uniform(0.0, 120.0)
    limits = rng.uniform(20.0, 60.0, p)
    return program(
        np.diag(2.0 * rng.uniform(0.05, 2.0, p)), E=E, e=E @ rng.normal(size=p) * 10.0, D=np.vstack([-np.eye(p),
        np.eye(p)]), d=np.concatenate([limits, limits]), K=K, k=k, mu=rng.uniform(0.3, 1.0, c),
        scales=np.concatenate([limits, limits, np.full(c, 50.0)]),
    )  # fmt: skip


@pytest.mark.compiled
def test_barrier_and_conic_agree():
    pytest.importorskip("clarabel")
    rng, seen = np.random.default_rng(11), set()
    for _ in range(60):
        case = random_program(rng)
        ours, theirs = Barrier().solve(case), Conic().solve(case)
        seen.add(ours.status)
        if theirs.status == "failed":  # the library sometimes cannot reach what is asked of it
            assert ours.status in ("solved", "infeasible")
            continue
        assert ours.status == theirs.status
        if ours.solved:
            # A cost known to 1e-11 leaves forces to its root, 3e-6; below 1 N m they are compared absolutely.
            assert np.abs(ours.x - theirs.x).max() < 3e-6 * max(1.0, np.abs(theirs.x).max())
            assert case.cost(ours.x) <= case.cost(theirs.x) * (1.0 + 1e-9)
            assert case.margins(ours.x).min() > 0.0
            assert ours.residual < 1e-6
    assert seen == {"solved", "infeasible"}


def test_closed_form():
    """Least |u|^2 / 2 with u_x = 3 in a cone of mu 0.5 about z: u_z = 6, multipliers from stationarity."""
    case = program(
        np.eye(3), E=np.array([[1.0, 0.0, 0.0]]), e=np.array([3.0]), K=np.eye(3)[[2, 0, 1]], k=np.zeros(3), mu=[0.5]
    )
    found = Barrier().solve(case)
    assert found.solved
    assert np.allclose(found.x, [3.0, 0.0, 6.0], atol=1e-8)
    # H x = E^T y + K^T z: z_n = 6, z_t = -z_n / mu ... in the dual cone, on its edge: z_t = -12.
    assert np.allclose(found.cones, [[6.0, -12.0, 0.0]], atol=1e-6)
    assert np.allclose(found.equality, [15.0], atol=1e-6)


def test_the_apex_of_a_cone():
    """No force is best: the apex, where the cone has no tangent."""
    case = program(np.eye(3), g=np.array([0.0, 0.0, 1.0]), K=np.eye(3)[[2, 0, 1]], k=np.zeros(3), mu=[0.5])
    found = Barrier().solve(case)
    assert found.solved
    assert np.abs(found.x).max() < 1e-6
    assert np.allclose(found.cones[0, 0], 1.0, atol=1e-5)


def test_unconstrained_and_determined():
    free = Barrier().solve(program(np.diag([2.0, 4.0]), g=np.array([-2.0, 4.0])))
    assert free.solved
    assert np.allclose(free.x, [1.0, -1.0])
    fixed = Barrier().solve(program(np.eye(2), E=np.eye(2), e=np.array([1.0, 2.0]), D=np.eye(2), d=np.zeros(2)))
    assert fixed.solved
    assert np.allclose(fixed.x, [1.0, 2.0])
    outside = Barrier().solve(
        program(np.eye(2), E=np.eye(2), e=np.array([1.0, -2.0]), D=np.eye(2), d=np.zeros(2), names=("a", "b"))
    )
    assert outside.status == "infeasible"
    assert outside.conflict == ("b",)


def test_redundant_and_contradicting_equalities():
    E = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]])
    box = {"D": np.vstack([np.eye(3), -np.eye(3)]), "d": np.full(6, 5.0)}
    assert Barrier().solve(program(np.eye(3), E=E, e=np.array([2.0, 4.0]), **box)).solved
    assert Barrier().solve(program(np.eye(3), E=E, e=np.array([2.0, 5.0]), **box)).status == "inconsistent"


def test_conflicts_are_named_and_smallest():
    """Three limits of which two conflict, x >= 3 and x <= 1; the third has nothing to do with it."""
    case = program(
        np.eye(2),
        D=np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]),
        d=np.array([-3.0, 1.0, 2.0]),
        names=("low", "high", "other"),
    )
    found = Barrier().solve(case)
    assert found.status == "infeasible"
    assert np.isclose(found.violation, 1.0, atol=1e-5)  # both give way by 1
    assert set(smallest_conflict(case, case.names)) == {"low", "high"}


def test_a_thin_interior_is_found():
    """|x| <= 1e-5 between two limits: feasible, if only just."""
    case = program(np.eye(1), g=np.array([1.0]), D=np.array([[1.0], [-1.0]]), d=np.array([1e-5, 1e-5]))
    found = Barrier().solve(case)
    assert found.solved
    assert np.isclose(found.x[0], -1e-5, rtol=1e-4)


def test_residuals_tell_a_wrong_answer():
    case = program(
        np.eye(3), E=np.array([[1.0, 0.0, 0.0]]), e=np.array([3.0]), K=np.eye(3)[[2, 0, 1]], k=np.zeros(3), mu=[0.5]
    )
    found = Barrier().solve(case)
    moved = case.residuals(found.x + np.array([0.0, 0.0, 0.1]), found.equality, found.linear, found.cones)
    assert moved["stationarity"] > 1e-3
    assert case.residuals(np.array([3.0, 0.0, 1.0]), found.equality, found.linear, found.cones)["violation"] > 1.0


def test_bad_programs_are_refused():
    with pytest.raises(ArgumentError, match="H: expected shape"):
        program(np.eye(2), g=np.zeros(3))
    with pytest.raises(ArgumentError, match="mu: expected positive"):
        program(np.eye(3), K=np.eye(3), k=np.zeros(3), mu=[0.0])
    with pytest.raises(ArgumentError, match="NaN or infinity"):
        program(np.eye(2), g=np.array([np.nan, 0.0]))
