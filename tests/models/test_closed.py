"""Ready-made closed mechanisms: geometry, published reference values, energy and closure."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError


def ten_seconds(linkage, *, loops=(), state=None, dt=1e-3):
    scene = linkage.scene(loops=loops)
    record = so.Simulator(scene, dt=dt, integrator="rk4").run(state, 10.0, record_every=20)
    errors = [np.abs(so.loop_errors(linkage.model, scene.loops, q)).max() for q in record.q]
    assert max(errors) <= 1e-10
    swing = np.ptp(record.kinetic)
    assert swing > 0.5
    return record, np.abs(record.energy - record.energy[0]).max() / swing


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "bricard"])
def test_energy_and_closure(name):
    linkage = getattr(so.models, name)()
    coarse, fine = (ten_seconds(linkage, dt=dt)[1] for dt in (2e-3, 1e-3))
    assert fine < 2e-8
    assert coarse / fine > 10.0


@pytest.mark.parametrize(
    "name", ["four_bar", "slider_crank", "bricard", "squeezer", "stewart_platform"]
)
def test_closed_at_the_start(name):
    linkage = getattr(so.models, name)()
    assert np.abs(so.loop_errors(linkage.model, linkage.loops, linkage.state.q)).max() <= 1e-12
    freedoms = {
        "four_bar": 1,
        "slider_crank": 1,
        "bricard": 1,
        "squeezer": 1,
        "stewart_platform": 6,
    }
    tau = np.zeros(linkage.model.nv)
    found = so.constrained_dynamics(
        linkage.model, linkage.loops, linkage.state.q, linkage.state.v, tau
    )
    assert linkage.model.nv - found.rank == freedoms[name]


def test_lengths_of_the_four_bar():
    linkage = so.models.four_bar((0.9, 0.3, 0.8, 0.6), height=2.0)
    ends = [
        so.Node("crank", (0, 0, 0)),
        so.Node("crank", (0.3, 0, 0)),
        so.Node("rocker", (0.6, 0, 0)),
        so.Node("rocker"),
    ]
    points = so.node_positions(linkage.model, linkage.state.q, ends)
    sides = np.linalg.norm(points - np.roll(points, -1, axis=0), axis=1)
    assert sides == pytest.approx([0.3, 0.8, 0.6, 0.9], abs=1e-12)
    assert points[0] == pytest.approx([0.0, 0.0, 2.0])


@pytest.mark.compiled
def test_bricards_linkage_turns_right_over():
    """It moves although it has as many closure rows as joints.

    The redundant one is found, and locks nothing.
    """
    record, _ = ten_seconds(so.models.bricard())
    assert np.ptp(record.q[:, 0]) > 3.0
    # The symmetric motion: hinges turn alike, in turn to either side.
    assert np.allclose(record.q[:, 0], record.q[:, 2], atol=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: so.models.four_bar((3.0, 0.3, 0.8, 0.6)), "do not meet"),
        (lambda: so.models.four_bar((1.0, 2.0)), "expected 4 numbers"),
        (lambda: so.models.four_bar((1.0, -2.0, 1.0, 1.0)), "lengths: expected a number > 0"),
        (lambda: so.models.slider_crank(0.5, 0.4), "longer than the crank"),
        (lambda: so.models.bricard(0.0), "size: expected a number > 0"),
        (lambda: so.models.stewart_platform(height=0.0), "plane of the base"),
    ],
)
def test_impossible_sizes(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


# --- Andrews' squeezing mechanism

NAMES = ("beta", "theta", "gamma", "phi", "delta", "omega", "epsilon")
# Angles at t = 0.03 s: reference solution of problem "andrews" of the Test Set for IVP Solvers
# (PSIDE on a Cray C90, tolerances 1e-14), and accelerations and multipliers at the start, likewise.
END = (
    15.81077119629904,
    -15.75637105984298,
    0.04082224013073101,
    -0.5347301163226948,
    0.5244099658805304,
    0.5347301163226948,
    1.048080741042263,
)
END_RATES = (
    1139.920302151208,
    -1424.379294994111,
    11.03291221937134,
    19.29337464421385,
    0.5735699284790808,
)
START_ACCELERATIONS = {
    "beta": 14222.4439199541138705911625887,
    "theta": -10666.8329399655854029433719415,
}
START_FORCE = (98.5668703962410896057654982170, -6.12268834425566265503114393122)


def test_squeezer_starts_as_published():
    squeezer = so.models.squeezer()
    model, q = squeezer.model, squeezer.state.q
    found = so.constrained_dynamics(model, squeezer.loops, q, squeezer.state.v, squeezer.forces(q))
    for name in NAMES:
        a = found.accelerations[model.v_slice(name)][0]
        assert a == pytest.approx(START_ACCELERATIONS.get(name, 0.0), abs=1e-9, rel=1e-12)
    # Force of K3 on K2 at their pin; the published multipliers act with the other sign. The others
    # carry nothing.
    wrenches = so.loop_forces(model, squeezer.loops, q, found.multipliers)
    assert wrenches[0, 3:5] == pytest.approx([-START_FORCE[0], -START_FORCE[1]], rel=1e-12)
    assert np.abs(wrenches[1:]).max() < 1e-10
    assert found.rank == 6
    assert len(found.redundant) == 9


def squeezer_end(squeezer, tolerance, pieces=30):
    """State at 0.03 s, by a Runge-Kutta method of order 8, closed again after every piece."""
    from scipy.integrate import solve_ivp

    model = squeezer.model
    loops = squeezer.loops
    nv = squeezer.model.nv

    def rates(_, y):
        motion = so.constrained_dynamics(model, loops, y[:nv], y[nv:], squeezer.forces(y[:nv]))
        return np.concatenate([y[nv:], motion.accelerations])

    q, v = squeezer.state.q, squeezer.state.v
    for i in range(pieces):
        span = (0.03 * i / pieces, 0.03 * (i + 1) / pieces)
        y = solve_ivp(
            rates, span, np.concatenate([q, v]), method="DOP853", rtol=tolerance, atol=tolerance
        ).y[:, -1]
        q, v = so.close_loops(model, loops, y[:nv], y[nv:])
    return q, v


@pytest.mark.compiled
def test_squeezer_ends_as_published():
    """Angles of up to 16 rad to 2e-9 at 0.03 s, after the crank's two and a half turns."""
    squeezer = so.models.squeezer()
    q, v = squeezer_end(squeezer, 1e-12)
    at = [squeezer.model.q_slice(name).start for name in NAMES]
    assert q[at] == pytest.approx(np.array(END), abs=3e-9)
    assert v[at[:5]] == pytest.approx(np.array(END_RATES), rel=1e-7)


@pytest.mark.compiled
def test_simulated_squeezer_converges_to_the_published_end():
    """The stepping loop with motor and spring as a controller, at the middle of the step.

    Forces held over a step limit RK4 to the second order: the error falls by four with each
    halving."""
    squeezer = so.models.squeezer()
    model, errors = squeezer.model, []
    at = [model.q_slice(name).start for name in NAMES]
    for dt in (2e-5, 1e-5):

        def controller(_, state, contacts, dt=dt):
            return squeezer.forces(so.integrate(model, state.q, 0.5 * dt * state.v))

        simulator = so.Simulator(squeezer.scene(), dt=dt, integrator="rk4")
        record = simulator.run(duration=0.03, controller=controller, record_every=100)
        errors.append(np.abs(record.q[-1, at] - END).max())
        assert record.closure_errors.max() <= 1e-12
    assert errors[1] < 5e-6
    assert 3.5 < errors[0] / errors[1] < 4.7


# --- Stewart platform


def locks(stewart, legs):
    """Closures that hold slides at their present length."""
    q, model = stewart.state.q, stewart.model
    return [
        so.Loop(
            kind="coupler",
            joints={f"slide{i}": 1.0},
            offset=q[model.q_slice(f"slide{i}")][0],
            name=f"lock{i}",
        )
        for i in legs
    ]


@pytest.mark.compiled
def test_a_hanging_platform_swings():
    """Three legs held, three loose: energy to the order of RK4, loops closed, for ten seconds."""
    stewart = so.models.stewart_platform(height=-1.0)
    held = locks(stewart, (1, 3, 5))
    v = np.zeros(stewart.model.nv)
    v[:2] = 0.5, 0.3
    loops = so.Loops(stewart.model, [*stewart.loops.items, *held])
    q, v = so.close_loops(stewart.model, loops, stewart.state.q, v)
    _, coarse = ten_seconds(stewart, loops=held, state=so.State(q, v), dt=4e-3)
    record, fine = ten_seconds(stewart, loops=held, state=so.State(q, v), dt=2e-3)
    assert fine < 1e-9
    assert coarse / fine > 10.0
    assert record.metadata["redundant_rows"] == []


def test_a_platform_on_held_legs_is_a_truss():
    """All six legs held: it stands.

    Forces along the legs carry the weight of the platform and the rods.
    """
    stewart = so.models.stewart_platform()
    scene = stewart.scene(loops=locks(stewart, range(1, 7)))
    record = so.Simulator(scene, dt=1e-3).run(duration=0.05)
    assert np.allclose(record.q, stewart.state.q, atol=1e-11)
    G = so.loop_jacobian(stewart.model, scene.loops, stewart.state.q)
    weight = so.bias(stewart.model, stewart.state.q, np.zeros(stewart.model.nv))
    assert np.allclose(G.T @ record.loop_forces[-1], weight, atol=1e-8)


@pytest.mark.compiled
def test_a_platform_moved_by_its_legs():
    """Legs driven at prescribed rates lift the platform as far as they must."""
    stewart = so.models.stewart_platform()
    model = stewart.model
    drives = [
        so.Loop(kind="coupler", joints={f"slide{i}": 1.0}, rate=0.1, name=f"drive{i}")
        for i in range(1, 7)
    ]
    loops = so.Loops(model, [*stewart.loops.items, *drives])
    q, v = so.close_loops(model, loops, stewart.state.q, stewart.state.v)
    record = so.Simulator(stewart.scene(loops=drives), dt=1e-3).run(so.State(q, v), 1.0)
    length = q[model.q_slice("slide1")][0]
    slides = [record.q[-1, model.q_slice(f"slide{i}")][0] for i in range(1, 7)]
    assert slides == pytest.approx([length + 0.1] * 6, abs=1e-11)
    center = so.node_positions(model, record.q[-1], [so.Node("platform")])[0]
    foot = np.sqrt(length**2 - 1.0)  # of the platform's joint over the base's, seen from above
    assert center == pytest.approx([0.0, 0.0, np.sqrt((length + 0.1) ** 2 - foot**2)], abs=1e-9)
