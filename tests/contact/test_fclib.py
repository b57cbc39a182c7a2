"""FCLIB files: round trips, problems of others, eliminations, damage of every kind."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from spatialops.compare.stored import solve_file
from spatialops.contact import ConeProblem, load_fclib, load_fclib_solution, save_fclib, solve
from spatialops.errors import ArgumentError, AssetError
from tests.support.contacts import random_problem
from tests.support.heaps import box_stack

h5py = pytest.importorskip("h5py")
OTHERS = Path(os.environ.get("SPATIALOPS_PROBLEMS", "no such folder")) / "friction"


def stored(path, problem, kind, solution=None):
    """Write by hand, as the layout says, with W as triplets, columns or rows."""
    W = sp.coo_array(problem.W)
    with h5py.File(path, "w") as file:
        put_matrix(file, "fclib_local/W", W, kind)
        file["fclib_local/spacedim"] = [problem.dim]
        file["fclib_local/vectors/q"], file["fclib_local/vectors/mu"] = problem.b, problem.mu
        if solution is not None:
            file["solution/r"] = solution
    return path


def put_matrix(file, name, A, kind):
    A = sp.coo_array(A)
    if kind >= 0:
        p = A.col
        i = A.row
        x = A.data
        kind = A.nnz
    else:
        packed = sp.csc_array(A) if kind == -1 else sp.csr_array(A)
        p = packed.indptr
        i = packed.indices
        x = packed.data
    for key, value in {"m": A.shape[0], "n": A.shape[1], "nz": kind, "nzmax": len(x)}.items():
        file[f"{name}/{key}"] = np.array([value], dtype=np.int32)
    file[f"{name}/p"] = p.astype(np.int32)
    file[f"{name}/i"] = i.astype(np.int32)
    file[f"{name}/x"] = x


@pytest.mark.parametrize("kind", [0, -1, -2])
def test_all_kinds_of_matrices_are_read(kind, tmp_path, rng):
    problem = ConeProblem(
        rng.normal(size=(6, 6)), rng.normal(size=6), [0.3, 0.7]
    )  # not symmetric on purpose
    again = load_fclib(stored(tmp_path / "problem.hdf5", problem, kind))
    np.testing.assert_array_equal(again.W.toarray(), problem.W)
    np.testing.assert_array_equal(again.b, problem.b)
    np.testing.assert_array_equal(again.mu, problem.mu)
    assert again.dim == 3
    assert load_fclib_solution(tmp_path / "problem.hdf5") is None


def test_round_trip_with_solution(tmp_path):
    problem = box_stack(3)
    r = solve(problem).r
    path = save_fclib(tmp_path / "new" / "stack.hdf5", problem, r, title="three boxes")
    again = load_fclib(path)
    np.testing.assert_array_equal(again.W.toarray(), problem.W)
    np.testing.assert_array_equal(load_fclib_solution(path), r)
    assert again.residual(load_fclib_solution(path)) <= 1e-8
    assert [item.name for item in path.parent.iterdir()] == ["stack.hdf5"]
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["solution/u"], problem.velocities(r))


def test_a_plane_problem(tmp_path):
    problem = ConeProblem(np.eye(4), [-1.0, 0.2, -1.0, 3.0], 0.5, 2)
    assert load_fclib(save_fclib(tmp_path / "plane.h5", problem)).dim == 2


def test_closures_of_a_contact_problem_are_eliminated(tmp_path, rng):
    problem = random_problem(rng, 3, loops=2)
    cone = load_fclib(save_fclib(tmp_path / "loops.hdf5", problem))
    n_b, n = problem.n_loop_rows, 3 * problem.n_contacts
    p = rng.normal(size=n)  # whatever the contacts do, closures answer
    W, u = problem.compliance, problem.velocities
    answer = -np.linalg.pinv(W[:n_b, :n_b], rcond=1e-10) @ (u[:n_b] + W[:n_b, n_b:] @ p)
    expected = u[n_b:] + W[n_b:, n_b:] @ p + W[n_b:, :n_b] @ answer
    np.testing.assert_allclose(cone.velocities(p), expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("with_equations", [False, True])
def test_a_global_problem(with_equations, tmp_path, rng):
    nv = 7
    rows = 2
    n = 6
    A = rng.normal(size=(nv, nv))
    M = A @ A.T + np.eye(nv)
    H = rng.normal(size=(nv, n))
    G = rng.normal(size=(nv, rows))
    f = rng.normal(size=nv)
    w = rng.normal(size=n)
    b = rng.normal(size=rows)
    r = rng.normal(size=n)
    with h5py.File(tmp_path / "global.hdf5", "w") as file:
        put_matrix(file, "fclib_global/M", M, -2)
        put_matrix(file, "fclib_global/H", H, 0)
        file["fclib_global/spacedim"] = [3]
        file["fclib_global/vectors/f"], file["fclib_global/vectors/w"] = f, w
        file["fclib_global/vectors/mu"] = [0.5, 0.5]
        if with_equations:
            put_matrix(file, "fclib_global/G", G, -1)
            file["fclib_global/vectors/b"] = b
    problem = load_fclib(tmp_path / "global.hdf5")
    v = np.linalg.solve(M, H @ r + f)
    if with_equations:
        K = np.block([[M, -G], [G.T, np.zeros((rows, rows))]])
        v = np.linalg.solve(K, np.concatenate([H @ r + f, -b]))[:nv]
        np.testing.assert_allclose(G.T @ v + b, 0.0, atol=1e-9)
    np.testing.assert_allclose(problem.velocities(r), H.T @ v + w, atol=1e-9)


def test_a_local_problem_with_equations(tmp_path, rng):
    W = rng.normal(size=(6, 6))
    V = rng.normal(size=(6, 2))
    R = rng.normal(size=(2, 2))
    q = rng.normal(size=6)
    s = rng.normal(size=2)
    r = rng.normal(size=6)
    path = stored(tmp_path / "local.hdf5", ConeProblem(W, q, [0.5, 0.5]), 0)
    with h5py.File(path, "a") as file:
        put_matrix(file, "fclib_local/V", V, 0)
        put_matrix(file, "fclib_local/R", R, -2)
        file["fclib_local/vectors/s"] = s
    multipliers = -np.linalg.solve(R, V.T @ r + s)
    np.testing.assert_allclose(
        load_fclib(path).velocities(r), W @ r + V @ multipliers + q, atol=1e-9
    )


@pytest.mark.skipif(not OTHERS.is_dir(), reason="SPATIALOPS_PROBLEMS names no folder of problems")
@pytest.mark.parametrize(
    "name", ["fclib_local_problem_test", "siconos_Rover1039", "contactbench_sliding_cube"]
)
def test_problems_of_others_by_way_of_a_file(name, tmp_path):
    data = np.load(OTHERS / f"{name}.npz")
    n = data["q"].size
    W = sp.csr_array((data["W_data"], data["W_indices"], data["W_indptr"]), shape=(n, n))
    problem = ConeProblem(W, data["q"], data["mu"], n // data["mu"].size)
    solution = solve(load_fclib(stored(tmp_path / "other.hdf5", problem, -1)))
    assert solution.solved
    assert problem.residual(solution.r) <= 1e-8


def test_what_the_layout_cannot_say_is_refused(tmp_path, rng):
    with pytest.raises(ArgumentError, match="torsional"):
        save_fclib(tmp_path / "x.hdf5", ConeProblem(np.eye(4), -np.ones(4), 0.5, torsion=0.1))
    with pytest.raises(ArgumentError, match="prior_normal_impulse"):
        save_fclib(tmp_path / "x.hdf5", random_problem(rng, 2, prior_normal_impulse=True))
    with pytest.raises(ArgumentError, match="ConeProblem"):
        save_fclib(tmp_path / "x.hdf5", None)
    with pytest.raises(ArgumentError, match="solution"):
        save_fclib(tmp_path / "x.hdf5", box_stack(1), [1.0])
    assert not list(tmp_path.iterdir())


def replaced(name, value):
    def change(file):
        del file[f"fclib_local/{name}"]
        if value is not None:
            file[f"fclib_local/{name}"] = value

    return change


BROKEN = {
    "no matrix": (replaced("W", None), "W/m: is missing"),
    "no mu": (replaced("vectors/mu", None), "mu: is missing"),
    "NaN": (replaced("vectors/q", np.full(12, np.nan)), "NaN"),
    "text": (replaced("vectors/q", np.bytes_("text")), "type"),
    "too short": (replaced("vectors/q", np.zeros(9)), "fit"),
    "index outside": (replaced("W/i", np.full(144, 99)), "ind"),
    "negative size": (replaced("W/m", [-4]), "size"),
    "enormous": (replaced("W/m", [2**31 - 1]), "size"),
    "kind": (replaced("W/nz", [-7]), "no kind"),
    "spacedim": (replaced("spacedim", [4]), "fit"),
    "two numbers": (replaced("spacedim", [3, 3]), "one number"),
    "negative mu": (replaced("vectors/mu", -np.ones(4)), "mu"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_wrong_contents_are_named(what, tmp_path, rng):
    change, named = BROKEN[what]
    problem = ConeProblem(rng.normal(size=(12, 12)), rng.normal(size=12), np.ones(4))
    path = stored(tmp_path / "problem.hdf5", problem, -2)
    with h5py.File(path, "a") as file:
        change(file)
    with pytest.raises(AssetError, match=named):
        load_fclib(path)


def test_a_small_file_cannot_ask_for_much_memory(tmp_path):
    path = stored(tmp_path / "bomb.hdf5", box_stack(1), -2)
    with h5py.File(path, "a") as file:
        del file["fclib_local/vectors/q"]
        file["fclib_local/vectors"].create_dataset(
            "q", shape=(10**12,), chunks=(10**6,), dtype="f8", compression="gzip"
        )
    with pytest.raises(AssetError, match="values of type"):
        load_fclib(path)


def test_links_to_other_files_are_refused(tmp_path):
    other = stored(tmp_path / "other.hdf5", box_stack(1), -2)
    path = stored(tmp_path / "links.hdf5", box_stack(1), -2)
    with h5py.File(path, "a") as file:
        del file["fclib_local/vectors/q"]
        file["fclib_local/vectors/q"] = h5py.ExternalLink(other.name, "/fclib_local/vectors/q")
    with pytest.raises(AssetError, match="another file"):
        load_fclib(path)


def test_damaged_files(tmp_path, rng):
    with pytest.raises(AssetError):
        load_fclib(tmp_path / "missing.hdf5")
    whole = save_fclib(tmp_path / "whole.hdf5", box_stack(2), np.zeros(24)).read_bytes()
    path = tmp_path / "damaged.hdf5"
    read = 0
    for k in range(150):
        data = bytearray(whole[: rng.integers(0, len(whole))] if k % 3 == 0 else whole)
        for place in rng.integers(0, max(len(data), 1), 6 if data else 0):
            data[place] = rng.integers(0, 256)
        path.write_bytes(bytes(data))
        try:
            load_fclib(path)
            read += 1
        except AssetError:
            pass
    assert read < 150


def test_the_command_solves_a_file(tmp_path):
    summary = solve_file(save_fclib(tmp_path / "stack.hdf5", box_stack(2)), "os", "auto", 4)
    assert summary["solved"]
    assert summary["contacts"] == 8
    assert sum(summary["normal_impulses"][:4]) == pytest.approx(
        2.0 * 9.81e-2
    )  # the weight of both boxes
    with pytest.raises(ArgumentError, match="solver"):
        solve_file(tmp_path / "stack.hdf5", "os", "nonsense", 4)
