"""The simulator: options, steps and runs that agree to the last bit, solvers, failures."""

import pickle
import warnings

import numpy as np
import pytest

import spatialops as so
from spatialops.collision import HalfSpace, Sphere
from spatialops.contact import LCPSolution, Lemke, Status, solve
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.contact.problem import ContactProblem
from spatialops.errors import ArgumentError, ContactError, SolverFailed, SpatialOpsError

GRAVITY = 9.81


def ball(height=0.0, *, velocity=(0.0, 0.0, 0.0), restitution=0.5, friction=0.5):
    """A ball of 1 kg and 0.1 m, `height` above the floor."""
    builder = so.TreeBuilder()
    builder.add_body("ball", joint=so.Joint("free"), inertia=so.Inertia.sphere(0.1, mass=1.0))
    model = builder.build()
    pair = {"friction": friction, "restitution": restitution}
    geoms = [
        so.Geom("ball", "ball", Sphere(0.1), **pair),
        so.Geom("floor", "world", HalfSpace(), **pair),
    ]
    q, v = model.neutral(), np.zeros(6)
    q[2], v[3:] = 0.1 + height, velocity
    return so.Scene(model, geoms, state=so.State(q, v))


def block(side, *, velocity=(0.0, 0.0, 0.0), height=0.0):
    """A plate on side x side spherical feet."""
    builder = so.TreeBuilder()
    builder.add_body(
        "plate", joint=so.Joint("free"), inertia=so.Inertia.box((1.0, 1.0, 0.1), mass=2.0)
    )
    model = builder.build()
    grid = np.linspace(-0.4, 0.4, side)
    geoms = [
        so.Geom(f"foot{i}{j}", "plate", Sphere(0.05), position=(grid[i], grid[j], -0.05))
        for i in range(side)
        for j in range(side)
    ]
    q, v = model.neutral(), np.zeros(6)
    q[2], v[3:] = 0.1 + height, velocity
    return so.Scene(model, [*geoms, so.Geom("floor", "world", HalfSpace())], state=so.State(q, v))


def dropped_pendulum(n=4):
    """A pendulum let go at 45 degrees: it strikes the floor, and slides on it for a while."""
    return so.models.pendulum(n, rate=0.0).scene(friction=0.5, restitution=0.3)


# ------------------------------------------------------------------------------------------ options


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("dt", (0.0, -1e-3, np.nan, np.inf, "fast", None)),
        ("integrator", ("euler", None, 3, ["rk4"])),
        ("certify", ("maybe", None, True)),
        ("margin", (-1e-4, np.nan, "wide")),
        ("impact_threshold", (-1.0, np.nan, "slow")),
        ("depth_limit", (-1.0, np.nan, "deep")),
        ("solver", ("lemky", None, 3)),
        ("formulation", ("osc", 3, None)),
    ],
)
def test_bad_options_are_refused_by_name(option, values):
    scene = ball()
    for value in values:
        with pytest.raises(ArgumentError, match=option):
            so.Simulator(scene, **{option: value})


@pytest.mark.parametrize("option", ["dt", "margin", "impact_threshold", "depth_limit"])
def test_options_take_whatever_is_a_number(option):
    for value in (np.float32(0.5), "0.5", 1):
        so.Simulator(ball(), **{option: value})


def test_a_misspelt_option_and_a_missing_scene_fail():
    with pytest.raises(TypeError):
        so.Simulator(ball(), timestep=1e-3)
    with pytest.raises(ArgumentError, match="scene"):
        so.Simulator(ball().model)


def test_a_simulator_says_what_it_is():
    lines = repr(so.Simulator(ball(), dt=2e-3, law="cone", certify="warn")).splitlines()
    assert len(lines) == 5
    assert lines[0].startswith("Simulator of 1 bodies")
    assert "moreau, dt 0.002 s" in lines[1]
    assert "ConeCoulomb" in lines[2]
    assert "warn" in lines[4]
    assert "moreau" not in repr(so.Simulator(ball(), time=so.EventDriven()))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"duration": -1.0}, "duration"),
        ({"duration": np.nan}, "duration"),
        ({"duration": np.inf}, "duration"),
        ({"duration": 1e30}, r"at most 1e\+12 are run"),
        ({"duration": "long"}, "duration"),
        ({"record_every": 0}, "record_every"),
        ({"record_every": 1.5}, "record_every"),
        ({"record_every": True}, "record_every"),
        ({"record_every": "often"}, "record_every"),
        ({"record_every": None}, "record_every"),
        ({"state": np.zeros(7)}, "state"),
        ({"controller": 3}, "controller"),
    ],
)
def test_bad_runs_are_refused_by_name(options, named):
    with pytest.raises(ArgumentError, match=named):
        so.Simulator(ball()).run(**{"duration": 0.003, **options})


@pytest.mark.parametrize(
    "tau", [[np.nan] * 6, [np.inf, 0, 0, 0, 0, 0], np.zeros(5), np.zeros((6, 1)), "push"]
)
def test_bad_joint_forces_are_refused(tau):
    sim = so.Simulator(ball())
    with pytest.raises(ArgumentError, match="tau"):
        sim.step(sim.scene.state, tau)
    with pytest.raises(ArgumentError, match="tau"):
        sim.run(duration=0.002, controller=lambda time, state, contacts: tau)


def test_bad_states_are_refused():
    sim = so.Simulator(ball())
    q, v = sim.scene.state.q, sim.scene.state.v
    for state in (
        so.State(q[:3], v),
        so.State(q, v * np.nan),
        so.State(0.0 * q, v),
        so.State(q, v, np.inf),
    ):
        with pytest.raises(ArgumentError, match="state"):
            sim.step(state)
    for state in (q, None, "rest"):
        with pytest.raises(ArgumentError, match="state"):
            sim.step(state)


# ----------------------------------------------------------------------- small runs, also in Python


def test_a_ball_bounces_once():
    sim = so.Simulator(ball(0.02, restitution=0.5), dt=4e-3)
    record = sim.run(duration=30 * 4e-3)
    assert len(record.times) == 31
    assert record.times[-1] == pytest.approx(0.12, abs=1e-15)
    assert len(record.events) == 1
    assert record.events[0, 0] == pytest.approx(np.sqrt(0.04 / GRAVITY), abs=1e-6)
    assert record.events[0, 2] == pytest.approx(np.sqrt(0.04 * GRAVITY), rel=1e-5)
    assert np.sqrt(record.events[0, 4] / record.events[0, 3]) == pytest.approx(0.5, rel=1e-6)
    assert record.residuals.max() <= 1e-9
    assert record.penetrations.max() <= 1e-5


def test_a_resting_block_rests():
    sim = so.Simulator(block(2), dt=1e-3)
    state = sim.scene.state
    for i in range(5):
        state, info = sim.step(state)
        assert state.time == pytest.approx(1e-3 * (i + 1), abs=1e-15)
        assert len(info.contacts) == 4
        assert info.contacts.world_impulses.sum(axis=0) == pytest.approx(
            [0.0, 0.0, 2.0 * GRAVITY * 1e-3], abs=1e-12
        )
        assert len(info.events) == 0
        assert info.residual <= 1e-9
        assert info.penetration <= 1e-12
    assert info.pivots <= 1  # the forces of the step before, refined where rounding asks for it
    assert np.abs(state.v).max() < 1e-12
    assert np.allclose(state.q, sim.scene.state.q, rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_a_slow_landing_ends_on_the_floor(integrator):
    # Slower than an impact, and through the floor within the step but for the contact: it arrives,
    # and no further.
    scene = ball(4e-6, velocity=(0.0, 0.0, -5e-3))
    sim = so.Simulator(scene, dt=1e-3, integrator=integrator)
    state, info = sim.step(scene.state)
    assert len(info.contacts) == 1
    assert len(info.events) == 0
    assert state.q[2] == pytest.approx(0.1, abs=1e-12)
    for _ in range(3):
        state, _ = sim.step(state)
    # The speed that was left may carry it on for half a step, slower than the threshold of impacts.
    assert -0.5 * 1e-3 * 0.01 <= state.q[2] - 0.1 <= 1e-12
    assert np.abs(state.v).max() < 1e-12


def test_an_impact_is_told_by_the_step():
    sim = so.Simulator(
        ball(1e-7, velocity=(0.0, 0.0, -2.0), restitution=0.8, friction=0.0), dt=1e-3
    )
    state, info = sim.step(sim.scene.state)
    assert info.events.shape == (1, 6)
    time, contacts, speed, before, after, share = info.events[0]
    assert 0.0 <= time < 1e-6
    assert contacts == 1
    assert speed == pytest.approx(2.0, rel=1e-6)
    assert before == pytest.approx(2.0, rel=1e-6)
    assert after == pytest.approx(0.64 * before, rel=1e-9)
    assert share == 1.0
    assert state.v[5] == pytest.approx(1.6 - GRAVITY * 1e-3, rel=1e-6)


# ------------------------------------------------------------------------------------ the same bits


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit", "rk4"])
@pytest.mark.parametrize(
    "scene", [ball(0.05, velocity=(1.0, 0.0, 0.0)), dropped_pendulum()], ids=["ball", "pendulum"]
)
def test_steps_and_runs_agree_to_the_last_bit(scene, integrator):
    options = {"dt": 1e-3, "integrator": integrator}
    n = 1500 if scene.model.nv == 4 else 400
    record = so.Simulator(scene, **options).run(duration=n * 1e-3)
    assert len(record.events) > 0
    sim = so.Simulator(scene, **options)
    state = scene.state
    events = []
    for i in range(n):
        state, info = sim.step(state)
        events.extend(info.events)
        assert np.array_equal(state.q, record.q[i + 1]), i
        assert np.array_equal(state.v, record.v[i + 1]), i
        assert state.time == record.times[i + 1]
    assert np.array_equal(events, record.events)


@pytest.mark.compiled
def test_two_runs_are_the_same_to_the_last_bit():
    sim = so.Simulator(dropped_pendulum(), dt=1e-3)
    first, second = sim.run(duration=1.5), sim.run(duration=1.5)
    other = so.Simulator(dropped_pendulum(), dt=1e-3).run(duration=1.5)
    sent = pickle.loads(pickle.dumps(sim)).run(duration=1.5)  # as to another process
    assert len(first.events) > 0
    for again in (second, other, sent):
        for name in (
            "times",
            "q",
            "v",
            "kinetic",
            "residuals",
            "penetrations",
            "pivots",
            "contact_records",
            "events",
        ):
            assert np.array_equal(getattr(first, name), getattr(again, name)), name
        assert again.metadata == first.metadata


@pytest.mark.compiled
@pytest.mark.parametrize("every", [3, 7])
def test_recording_less_changes_nothing(every):
    scene = dropped_pendulum()
    full = so.Simulator(scene, dt=1e-3).run(duration=1.4)
    thin = so.Simulator(scene, dt=1e-3).run(duration=1.4, record_every=every)
    assert np.array_equal(thin.q, full.q[::every])
    assert np.array_equal(thin.times, full.times[::every])
    assert np.array_equal(thin.events, full.events)
    assert (
        thin.impact_counts[1:].sum()
        == full.impact_counts[1 : every * (len(thin.times) - 1) + 1].sum()
    )
    assert thin.penetrations.max() == full.penetrations[: every * (len(thin.times) - 1) + 1].max()


# ----------------------------------------------------------------------------- solvers from outside


class Counting:
    """A solver of one's own: Lemke, counted."""

    def __init__(self):
        self.calls = 0

    def solve(self, problem, warm_start=None):
        self.calls += 1
        return Lemke().solve(problem, warm_start)


class Mirrored:
    """A formulation of one's own: the OS problem with the unknowns in the opposite order."""

    def assemble(self, problem):
        lcp = OperationalSpace(4).assemble(problem)
        return so.contact.MixedLCP(lcp.A[::-1, ::-1], lcp.b[::-1])

    def recover(self, problem, solution):
        turned = LCPSolution(
            solution.z[::-1].copy(), solution.w, solution.status, 0, solution.residual
        )
        return OperationalSpace(4).recover(problem, turned)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("scene", "dt", "steps"),
    [
        (block(2, velocity=(2.0, 0.3, 0.0)), 1e-3, 300),
        (ball(0.01, velocity=(1.0, 0.0, 0.0)), 1e-3, 600),
        (dropped_pendulum(), 1e-3, 1500),
    ],
    ids=["block", "ball", "pendulum"],
)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_solvers_from_outside_give_the_same_motion(scene, dt, steps):
    inside = so.Simulator(scene, dt=dt).run(duration=steps * dt)
    assert (inside.contact_counts > 0).sum() > 100
    counting = Counting()
    others = ("nmc", "mc", "rmc", "nmc/os", "trinkle", Mirrored())
    chosen = [
        {"solver": Lemke()},
        {"solver": "lemke"},
        {"solver": counting},
        *({"formulation": f} for f in others),
    ]
    for options in chosen:
        outside = so.Simulator(scene, dt=dt, **options).run(duration=steps * dt)
        assert np.abs(outside.q - inside.q).max() < 1e-9
        assert np.abs(outside.v - inside.v).max() < 1e-9
        assert len(outside.events) == len(inside.events)
        assert outside.residuals.max() <= 1e-9
    assert counting.calls >= (inside.contact_counts > 0).sum()


@pytest.mark.compiled
@pytest.mark.parametrize("n_f", [2, 6, 8])
def test_other_numbers_of_directions(n_f):
    # Sliding along a direction of the polyhedron: their number does not matter.
    scene = block(2, velocity=(2.0, 0.0, 0.0))
    base = so.Simulator(scene, dt=1e-3).run(duration=0.3)
    other = so.Simulator(scene, formulation=OperationalSpace(n_f), dt=1e-3).run(duration=0.3)
    assert base.final.v[3] > 0.1
    assert np.abs(other.q - base.q).max() < 1e-9


class Fails:
    """A solver that never solves."""

    def solve(self, problem, warm_start=None):
        return LCPSolution(np.zeros(problem.size), problem.b, Status.RAY, 3, 1.0, "fails")


def test_a_failed_solve_carries_its_problem(tmp_path):
    scene = ball(0.0)
    sim = so.Simulator(scene, solver=Fails())
    with pytest.raises(SolverFailed, match="residual") as caught:
        sim.step(scene.state)
    error = caught.value
    assert isinstance(error, ContactError)
    assert isinstance(error.problem, ContactProblem)
    assert error.solution.status == Status.RAY
    problem = ContactProblem.load(error.problem.save(tmp_path / "failed.npz"))
    formulation = OperationalSpace(4)
    solution = solve(formulation.assemble(problem))
    assert solution.solved
    impulses = formulation.recover(problem, solution).impulses
    assert impulses[0] == pytest.approx([GRAVITY * 1e-3, 0.0, 0.0], abs=1e-12)
    with pytest.raises(SolverFailed):
        so.Simulator(scene, solver=Fails()).run(duration=0.01)


class Numbers:
    """A solver that answers NaN and calls it solved."""

    def solve(self, problem, warm_start=None):
        z = np.zeros(problem.size)
        z[0] = np.nan
        return LCPSolution(z, z.copy(), Status.SOLVED, 1, 0.0, "nan")


def test_nan_from_a_solver_is_a_failed_solve():
    scene = ball(0.0)
    with pytest.raises(SolverFailed):
        so.Simulator(scene, solver=Numbers()).step(scene.state)


def test_a_simulator_is_whole_after_a_failure():
    scene = ball(0.0)

    class Recovers(Fails):
        ill = True

        def solve(self, problem, warm_start=None):
            return super().solve(problem) if self.ill else Lemke().solve(problem)

    solver = Recovers()
    sim = so.Simulator(scene, solver=solver)
    with pytest.raises(SolverFailed):
        sim.step(scene.state)
    solver.ill = False
    state, _ = sim.step(scene.state)
    expected, _ = so.Simulator(scene, solver=Lemke()).step(scene.state)
    assert np.array_equal(state.q, expected.q)
    assert np.array_equal(state.v, expected.v)


# ------------------------------------------------------------------------------------ many contacts


@pytest.mark.compiled
@pytest.mark.parametrize("solver", ["auto", "lemke"])
@pytest.mark.parametrize(("height", "impacts"), [(0.0, 0), (0.002, 1)])
def test_tables_grow_with_the_contacts(height, impacts, solver):
    # 25 feet on the floor at once, more than a scene of 25 pairs is given room for.
    scene = block(5, height=height)
    sim = so.Simulator(scene, dt=2e-3, solver=solver)
    record = sim.run(duration=0.1)
    assert record.contact_counts.max() == 25
    assert len(record.events) == impacts
    assert np.abs(record.v[-1]).max() < 1e-9
    assert record.residuals.max() <= 1e-9
    assert record.penetrations.max() <= 1e-5
    weights = record.contact_records[record.contact_records[:, 0] > 0.097][
        :, 12
    ].sum()  # the last step's
    assert weights == pytest.approx(2.0 * GRAVITY * 2e-3, rel=1e-6)
    state = scene.state
    for i in range(50):
        state, info = sim.step(state)
        assert np.allclose(state.q, record.q[i + 1], rtol=0.0, atol=1e-12)
    assert len(info.contacts) == 25


# -------------------------------------------------------------------------------------- controllers


def test_the_controller_is_called_before_every_step():
    scene, seen = ball(0.0), []

    def controller(time, state, contacts):
        seen.append((time, state.time, len(contacts)))
        return np.array([0.0, 0.0, 0.0, 0.0, 0.0, 4.0 * time])

    sim = so.Simulator(scene, dt=1e-3)
    record = sim.run(duration=0.005, controller=controller)
    assert [round(1e3 * time) for time, _, _ in seen] == [0, 1, 2, 3, 4]
    assert all(time == own for time, own, _ in seen)
    assert [count for _, _, count in seen][1:] == [1, 1, 1, 1]
    state = scene.state
    for i in range(5):
        state, info = sim.step(state, [0.0, 0.0, 0.0, 0.0, 0.0, 4.0 * state.time])
        assert np.array_equal(state.v, record.v[i + 1])
        expected = 1e-3 * (GRAVITY - 4.0 * 1e-3 * i)
        assert info.contacts.impulses[0, 0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.compiled
def test_a_controller_that_carries_the_weight_holds_the_mechanism():
    scene = so.models.pendulum(3, rate=0.0).scene()

    def carry(time, state, contacts):
        return so.bias(scene.model, state.q, state.v)

    record = so.Simulator(scene, dt=1e-3).run(duration=0.2, controller=carry)
    assert np.abs(record.v).max() < 1e-10
    assert np.abs(so.Simulator(scene, dt=1e-3).run(duration=0.2).v).max() > 0.1


def test_an_error_in_the_controller_comes_through():
    def controller(time, state, contacts):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        so.Simulator(ball()).run(duration=0.01, controller=controller)


# ------------------------------------------------------------------------------------- certificates


def sunk():
    return ball(-0.005)


def test_certificates_raise_warn_or_keep_quiet():
    scene = sunk()
    with pytest.raises(ContactError, match="penetration"):
        so.Simulator(scene).step(scene.state)
    with pytest.raises(ContactError, match="penetration"):
        so.Simulator(scene).run(duration=0.002)
    with pytest.warns(UserWarning, match="penetration"):
        so.Simulator(scene, certify="warn").step(scene.state)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        so.Simulator(scene, certify="off").step(scene.state)
        so.Simulator(scene, depth_limit=0.006).step(scene.state)


def test_penetration_is_pushed_out_without_energy():
    scene = sunk()
    state, info = so.Simulator(scene, certify="off", dt=1e-3).step(scene.state)
    assert info.penetration == pytest.approx(0.005, rel=1e-6)
    assert state.q[2] == pytest.approx(0.1, abs=1e-5)
    assert np.abs(state.v).max() < 1e-9


@pytest.mark.compiled  # Python's own sine refuses infinity
def test_a_state_that_runs_away_is_told():
    scene = ball(1.0)
    sim = so.Simulator(scene, certify="off", dt=1e-3)
    with pytest.raises(SpatialOpsError, match="no longer finite"):
        sim.step(so.State(scene.state.q, np.full(6, 1e200)))


def test_progress_goes_to_standard_error(capfd):
    so.Simulator(ball(1.0)).run(duration=0.003, progress=True)
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "simulating" in captured.err
    so.Simulator(ball(1.0)).run(duration=0.003)
    assert capfd.readouterr().err == ""
