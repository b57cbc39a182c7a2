"""Problems: checked at the door, stored whole or not at all, verified by one residual."""

import dataclasses

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import LCPSolution, MixedLCP, Status, solve
from spatialops.contact.problem import ContactProblem
from spatialops.errors import ArgumentError, AssetError, SpatialOpsError
from tests.support.contacts import random_problem


def small():
    return MixedLCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])


def contact():
    return random_problem(np.random.default_rng(5), 2, loops=2, prior_normal_impulse=True)


@pytest.mark.parametrize(
    ("A", "b", "n_free", "named"),
    [
        (np.eye(2), [1.0, 2.0, 3.0], 0, "b: expected shape"),
        (np.ones((2, 3)), [1.0, 2.0], 0, "A: expected shape"),
        (np.eye(2), [[1.0, 2.0]], 0, "b: expected shape"),
        (np.eye(2), 1.0, 0, "b: expected shape"),
        (np.eye(2), [1.0, np.nan], 0, "b: holds NaN"),
        ([[np.inf, 0.0], [0.0, 1.0]], [1.0, 2.0], 0, "A: holds NaN or infinity at index"),
        ("matrix", [1.0, 2.0], 0, "A: expected numbers"),
        (np.eye(2), None, 0, "b: "),
        (np.eye(2), [1.0, 2.0], 3, "n_free"),
        (np.eye(2), [1.0, 2.0], -1, "n_free"),
        (np.eye(2), [1.0, 2.0], 0.5, "n_free"),
        (np.eye(2), [1.0, 2.0], True, "n_free"),
        (np.eye(2), [1.0, 2.0], "one", "n_free"),
        (np.eye(2), [1.0, 2.0], None, "n_free"),
        (np.eye(2), [1.0, 2.0], np.nan, "n_free"),
    ],
)
def test_bad_problems_are_refused(A, b, n_free, named):
    with pytest.raises(ArgumentError, match=named):
        MixedLCP(A, b, n_free)


def test_residual_by_hand():
    problem = small()
    assert problem.residual([4.0 / 3.0, 7.0 / 3.0]) < 1e-15
    assert problem.residual([0.0, 0.0]) == 1.0  # w = b: |-6| over max |b|
    assert problem.residual([-3.0, 5.0]) == pytest.approx(1.0)  # s z = -6
    free = MixedLCP([[2.0, 0.0], [0.0, 1.0]], [4.0, 1.0], 1)
    assert free.residual([-2.0, 0.0]) == 0.0
    assert free.residual([-1.0, 0.0]) == pytest.approx(0.5)
    assert free.residual([-3.0, 0.0]) == pytest.approx(0.5)  # either side of an equality counts
    assert MixedLCP(np.zeros((0, 0)), []).residual([]) == 0.0


def test_residual_does_not_depend_on_units(rng):
    A = rng.normal(size=(5, 5))
    b = rng.normal(size=5)
    z = rng.uniform(0.0, 1.0, 5)
    base = MixedLCP(A, b).residual(z)
    assert base > 0.01
    for force, speed in ((2.0**40, 1.0), (1.0, 2.0**-40), (2.0**-20, 2.0**30)):
        scaled = MixedLCP(A * speed / force, b * speed)
        assert scaled.residual(z * force) == pytest.approx(base, rel=1e-12)


@pytest.mark.parametrize(
    "z", [[np.nan, 0.0], [0.0, np.nan], [np.nan, np.nan], [np.inf, 0.0], [-np.inf, 1.0]]
)
def test_nan_and_infinity_solve_nothing(z):
    problem = MixedLCP(np.eye(2), [-1.0, -1.0])
    assert not problem.residual(z) <= 1e-9


@pytest.mark.parametrize("z", [[1.0], [1.0, 2.0, 3.0], "two"])
def test_residual_refuses_wrong_shapes(z):
    with pytest.raises(ArgumentError, match="z: "):
        small().residual(z)


def test_mixed_lcp_round_trip(tmp_path, rng):
    problem = MixedLCP(rng.normal(size=(4, 4)), rng.normal(size=4), 2)
    path = problem.save(tmp_path / "problem.npz")
    loaded = MixedLCP.load(path)
    assert np.array_equal(loaded.A, problem.A)
    assert np.array_equal(loaded.b, problem.b)
    assert loaded.n_free == 2
    assert [item.name for item in tmp_path.iterdir()] == ["problem.npz"]


def test_contact_problem_round_trip(tmp_path):
    problem = contact()
    loaded = ContactProblem.load(problem.save(tmp_path / "contact.npz"))
    for name in (
        "compliance",
        "velocities",
        "friction",
        "prior_normal_impulse",
        "loop_terms",
        "gap_bias",
    ):
        assert np.array_equal(getattr(loaded, name), getattr(problem, name))
    phase = dataclasses.replace(problem, phase="compression").save(tmp_path / "phase.npz")
    assert ContactProblem.load(phase).phase == "compression"
    empty = ContactProblem(
        problem.model, problem.q, problem.velocity, [], np.zeros((0, 3)), np.zeros((0, 3, 3)), []
    )
    assert ContactProblem.load(empty.save(tmp_path / "empty.npz")).n_contacts == 0


def test_a_record_is_told_from_a_contact_problem(tmp_path):
    record = so.Simulator(so.models.pendulum(2).scene()).run(duration=0.01)
    with pytest.raises(AssetError, match=r"the record of a run, .*error.problem.save"):
        ContactProblem.load(record.save(tmp_path / "record.npz"))


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("model", None, "model: expected a Model"),
        ("q", np.zeros(3), "q: expected shape"),
        ("velocity", [np.nan], "velocity: "),
        ("links", np.zeros((2, 2)), "links: expected whole numbers"),
        ("links", [[0, 1000], [0, -1]], "links: expected links from"),
        ("links", [[0, -1]], "links: expected whole numbers of shape"),
        ("points", np.zeros((2, 2)), "points: expected shape"),
        ("frames", np.zeros((2, 3, 3)), "frames: rows must be orthonormal"),
        ("friction", [0.1, -0.5], "friction: must not be negative"),
        ("friction", [0.1, np.nan], "friction: holds NaN"),
        ("torsion", [0.1, -1.0], "torsion: must not be negative"),
        ("rolling", [0.1, np.inf], "rolling: holds NaN"),
        ("gap_bias", [0.1], "gap_bias: expected shape"),
        ("prior_normal_impulse", "none", "prior_normal_impulse: expected numbers"),
        ("phase", "bounce", "phase: expected one of"),
        ("loop_targets", [0.0], "loop_ints: every one"),
        ("loop_ints", [[0, 0, -1], [3, 0, -1]], "loop_ints: every one"),
        ("loop_ints", [[0, 0, -1], [1, 0, 99]], "loop_ints: expected links"),
        ("loop_terms", np.zeros((1, 9)), "loop_terms: expected shape"),
    ],
)
def test_contact_problems_are_checked(field, value, named):
    with pytest.raises(ArgumentError, match=named):
        dataclasses.replace(contact(), **{field: value})


def _damaged(raw, rng, count):
    """The file cut short, or with one bit turned, again and again."""
    for i in range(count):
        data = bytearray(raw)
        if i % 5 == 0:
            data = data[: rng.integers(len(data))]
        else:
            data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
        yield bytes(data)


@pytest.mark.parametrize("problem", [small(), contact()], ids=["lcp", "contact"])
def test_damaged_files_are_refused_or_whole(problem, tmp_path, rng):
    raw = problem.save(tmp_path / "good.npz").read_bytes()
    refused = 0
    for data in _damaged(raw, rng, 300):
        path = tmp_path / "bad.npz"
        path.write_bytes(data)
        try:
            loaded = type(problem).load(path)
        except AssetError:
            refused += 1
            continue
        for item in dataclasses.fields(problem):
            if item.name != "model":
                assert np.array_equal(getattr(loaded, item.name), getattr(problem, item.name))
    assert refused > 100


@pytest.mark.parametrize("kind", [MixedLCP, ContactProblem])
def test_missing_and_foreign_files_are_refused(kind, tmp_path):
    (tmp_path / "text.npz").write_text("not a problem")
    (tmp_path / "empty.npz").write_bytes(b"")
    np.save(tmp_path / "array.npy", np.eye(3))
    np.savez(tmp_path / "foreign.npz", other=np.eye(3))
    for name in ("missing.npz", "text.npz", "empty.npz", "array.npy", "foreign.npz", "."):
        with pytest.raises(AssetError, match="not a stored"):
            kind.load(tmp_path / name)


def test_stored_problems_are_checked_as_new_ones(tmp_path):
    np.savez(tmp_path / "nan.npz", A=np.eye(2), b=[1.0, np.nan], n_free=0)
    np.savez(tmp_path / "list.npz", A=np.eye(2), b=[1.0, 2.0], n_free=[0, 1])
    for name in ("nan.npz", "list.npz"):
        with pytest.raises(AssetError, match="not a stored MixedLCP"):
            MixedLCP.load(tmp_path / name)


@pytest.mark.parametrize("problem", [small(), contact()], ids=["lcp", "contact"])
def test_problems_are_written_whole_or_not_at_all(problem, tmp_path, monkeypatch):
    path = problem.save(tmp_path / "kept.npz")
    before = path.read_bytes()

    def dies(file, **arrays):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", dies)
    with pytest.raises(KeyboardInterrupt):
        problem.save(path)
    assert [item.name for item in tmp_path.iterdir()] == ["kept.npz"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("problem", [small(), contact()], ids=["lcp", "contact"])
def test_a_path_that_cannot_be_written_is_an_error_of_our_tree(problem, tmp_path):
    (tmp_path / "file").write_text("in the way")
    for path in (tmp_path / "file" / "problem.npz", tmp_path):
        with pytest.raises(SpatialOpsError):
            problem.save(path)


class Says:
    """A solver that answers the same whatever it is asked."""

    def __init__(self, z, status=Status.SOLVED):
        self.z, self.status = np.asarray(z), status

    def solve(self, problem, warm_start=None):
        return LCPSolution(self.z, np.zeros(problem.size), self.status, 1, 0.0, "says")


def test_the_door_believes_no_solver():
    wrong = solve(small(), Says([1.0, 1.0]))
    assert wrong.status == Status.INACCURATE
    assert wrong.residual == pytest.approx(0.5)  # w = (-2, -3)
    assert np.allclose(wrong.w, [-2.0, -3.0])
    modest = solve(small(), Says([4.0 / 3.0, 7.0 / 3.0], Status.RAY))
    assert modest.solved
    for z in ([np.nan, 0.0], [0.0, np.nan], [np.inf, np.inf]):
        assert not solve(MixedLCP(np.eye(2), [-1.0, -1.0]), Says(z)).solved


@pytest.mark.parametrize(
    ("problem", "solver"), [(small(), "lemky"), (small(), 3), (small(), None), (np.eye(2), "auto")]
)
def test_the_door_refuses_what_is_no_problem_or_solver(problem, solver):
    with pytest.raises(ArgumentError):
        solve(problem, solver)


def test_every_status_says_something():
    messages = [status.message for status in Status]
    assert len(set(messages)) == len(messages)
    assert all(len(message) > 10 for message in messages)


def jointed_problem(rng):
    """Dry friction of every joint that has some, also of inner links of joints."""
    builder = so.TreeBuilder()
    parent = "world"
    for i, kind in enumerate(["free", "cylindrical", "screw", "ball", "planar", "universal"]):
        inertia = so.Inertia.sphere(0.1, mass=1.0)
        options = {} if kind in ("free", "ball", "planar", "universal") else {"axis": "y"}
        options |= {"pitch": 0.1} if kind == "screw" else {}
        joint = so.Joint(kind, dry_friction=0.5, **options)
        builder.add_body(
            f"b{i}", parent=parent, joint=joint, inertia=inertia, position=(0.3, 0.0, 0.2)
        )
        parent = f"b{i}"
    model = builder.build()
    q = so.integrate(model, model.neutral(), rng.normal(size=model.nv))
    return so.Simulator(so.Scene(model), dt=1e-3).problem(so.State(q, rng.normal(size=model.nv)))


def test_velocities_of_rows_are_those_of_their_jacobian(rng):
    for problem in (jointed_problem(rng), contact(), random_problem(rng, 3)):
        n_b = problem.n_loop_rows
        expected = problem.jacobian @ problem.velocity
        expected[:n_b] -= problem.loop_targets
        expected[n_b:] += problem.bias.ravel()
        np.testing.assert_allclose(problem.velocities, expected, atol=1e-13)
    assert jointed_problem(rng).has_joints
