"""Every alarm goes off just beyond its limit, and is silent just below it.

The limits stand here once more, as the pages state them: whoever moves one has to say so in two
places.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from spatialops.algebra.rotation import rotation_matrix
from spatialops.contact import Coulomb, MixedLCP, certificate
from spatialops.contact.certificate import Certificate
from spatialops.contact.lcp.infeasibility import infeasible
from spatialops.errors import ArgumentError, ContactError
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.held import watched_steps
from spatialops.simulation.stepping.step_check import check, findings
from spatialops.tree.state import transport
from tests.support.runs import boxes

RESIDUAL = 1e-9  # of contact problems, relative to their scale
GAIN = 1e-9  # of kinetic energy that an impact may add
CERTIFIED = 1e-8  # residual of full certificates
OPENING = 1e-8  # m or rad, of closures
DEPTH = 1e-3  # m, of things of half a metre or so: `depth_limit`
NEXT = 1.01


def ball(restitution: float, speed: float, floor: float | None = None) -> so.Scene:
    """A ball that touches the floor and moves towards it."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    inertia = so.Inertia.sphere(0.1, mass=1.0)
    builder.add_body("ball", joint=so.Joint("free"), inertia=inertia)
    geoms = [
        so.Geom("ball", "ball", so.Sphere(0.1), restitution=restitution),
        so.Geom(
            "floor",
            "world",
            so.HalfSpace(),
            restitution=restitution if floor is None else floor,
        ),
    ]
    q = np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0])
    v = np.array([0.0, 0.0, 0.0, 0.0, 0.0, -speed])
    return so.Scene(builder.build(), geoms, state=so.State(q, v))


def runner(**options):
    return so.Simulator(boxes(1), dt=1e-3, depth_limit=DEPTH, **options).stepping_runner("test")


def measured(column: int, value: float):
    """Tables of a run in which a monitor has seen a value."""
    t = runner().setup.stepping.tables()
    t.monitor[[at.RESIDUAL, at.GAIN, at.LOWEST_GAP, at.OPENING, at.FASTEST]] = 0.0
    t.monitor[column] = value
    return t


MONITORS = {
    "residual": (at.RESIDUAL, RESIDUAL),
    "raised the kinetic energy": (at.GAIN, GAIN),
    "penetration": (at.LOWEST_GAP, -DEPTH),
    "loop opened": (at.OPENING, OPENING),
}


@pytest.mark.parametrize("alarm", MONITORS)
def test_what_the_loop_has_measured_is_compared_with_its_limit(alarm: str) -> None:
    column, limit = MONITORS[alarm]
    runner().check(measured(column, limit / NEXT))
    with pytest.raises(ContactError, match=alarm):
        runner().check(measured(column, limit * NEXT))
    with pytest.raises(ContactError, match=alarm):
        runner().check(measured(column, math.nan))


@pytest.mark.parametrize("alarm", MONITORS)
def test_steps_are_watched_for_the_same(alarm: str) -> None:
    column, limit = MONITORS[alarm]
    beyond = getattr(watched_steps.beyond, "py_func", watched_steps.beyond)
    limits = runner().watched
    assert not beyond(measured(column, limit / NEXT), limits)
    assert beyond(measured(column, limit * NEXT), limits)
    assert beyond(measured(column, math.nan), limits)
    silent = runner(certify="off").watched
    assert not beyond(measured(column, limit * NEXT), silent)


@pytest.mark.parametrize("alarm", ["residual", "penetration", "loop opened"])
def test_the_last_row_counts_too(alarm: str) -> None:
    _, limit = MONITORS[alarm]
    column = {"residual": at.ROW_RESIDUAL, "penetration": at.ROW_GAP, "loop opened": at.ROW_OPENING}
    beyond = getattr(watched_steps.beyond, "py_func", watched_steps.beyond)
    for share, expected in ((1.0 / NEXT, False), (NEXT, True)):
        t = measured(at.RESIDUAL, 0.0)
        t.control[at.ROWS] = 1
        t.rows[0, :] = 0.0
        t.rows[0, column[alarm]] = share * limit
        assert beyond(t, runner().watched) == expected
        found = findings(t, None)
        assert found.within(runner().limits) != expected


def test_full_certificates_have_a_limit() -> None:
    own = runner()
    t = measured(at.RESIDUAL, 0.0)
    for residual, fails in ((CERTIFIED / NEXT, False), (CERTIFIED * NEXT, True)):
        found = findings(t, Certificate(gap=0.0, residual=residual))
        assert found.within(own.limits) != fails
        if fails:
            with pytest.raises(ContactError, match="certificate"):
                check(found, own.limits, 0.0, "full", lambda: _nobody())


class _nobody:
    acting = ""
    deepest = ""


class Kicks:
    """A law that pushes bodies along the ground, and says nothing of it."""

    rigid = True
    promises = certificate.COULOMB

    def solve(self, problem, warm_start=None):
        answer = Coulomb().solve(problem, warm_start)
        given = answer.impulses + [0.0, 10.0, 0.0]
        return replace(answer, impulses=given, velocity=problem.after(given.ravel()))


@pytest.mark.filterwarnings("ignore")
def test_an_impact_that_adds_energy_is_noticed() -> None:
    simulator = so.Simulator(ball(0.5, 1.0), dt=1e-3, law=Kicks())
    with pytest.raises(ContactError, match="raised the kinetic energy"):
        simulator.run(duration=5e-3)


@pytest.mark.parametrize(("own", "floor"), [(0.8, 0.2), (0.9, 0.9), (0.5, 0.0), (1.0, 0.25)])
def test_a_pair_has_the_geometric_mean_of_both_restitutions(own: float, floor: float) -> None:
    record = so.Simulator(ball(own, 1.0, floor), dt=1e-3).run(duration=5e-3)
    assert record.v[-1, 5] == pytest.approx(math.sqrt(own * floor), abs=1e-9)


@pytest.mark.parametrize("restitution", ["poisson", "newton"])
@pytest.mark.parametrize("threshold", [None, 0.3])
def test_slow_impacts_have_no_restitution(restitution: str, threshold: float | None) -> None:
    """Below the threshold a contact is pressed; one per cent above it bounces."""
    options = {"dt": 1e-3, "restitution": restitution, "impact_threshold": threshold}
    limit = so.Simulator(ball(0.5, 1.0), **options).options.impact_threshold
    assert limit == pytest.approx(0.01 if threshold is None else threshold)
    for share, after in ((0.99, 0.0), (1.01, 0.5 * 1.01 * limit)):
        simulator = so.Simulator(ball(0.5, share * limit), **options)
        record = simulator.run(duration=5e-3)
        assert record.v[-1, 5] == pytest.approx(after, abs=1e-12)


@pytest.mark.parametrize("angle", np.geomspace(1e-9, 3.0, 60))
def test_turning_is_exact_on_both_sides_of_the_series(angle: float) -> None:
    """Where the series of sin(a) / (2 a) ends, a term of 1e-5 rad^4 would be seen."""
    model = _free_body()
    turned = so.integrate(model, model.neutral(), [angle, 0.0, 0.0, 0.0, 0.0, 0.0])
    half = np.longdouble(angle) / 2
    expected = float(np.sin(half)), float(np.cos(half))
    assert turned[3] == pytest.approx(expected[0], rel=8e-16)
    assert turned[6] == pytest.approx(expected[1], rel=8e-16)


def _free_body() -> so.Model:
    builder = so.TreeBuilder()
    builder.add_body("body", joint=so.Joint("free"), inertia=so.Inertia.sphere(0.1, mass=1.0))
    return builder.build()


def test_quaternions_of_unit_length_keep_their_bits() -> None:
    model = _free_body()
    unit = np.array([0.5, 0.5, 0.5, 0.5])
    for error, kept in ((0.5e-12, True), (3e-12, False)):
        q = np.concatenate([np.zeros(3), unit * (1.0 + error)])
        checked = so.State(q, np.zeros(6)).checked(model).q
        assert np.array_equal(checked, q) == kept
        assert np.linalg.norm(checked[3:]) == pytest.approx(1.0, abs=2.0 * error if kept else 1e-15)


def test_quaternions_of_no_length_are_refused() -> None:
    model = _free_body()
    unit = np.array([0.5, 0.5, 0.5, 0.5])
    with pytest.raises(ArgumentError, match="quaternion at index 3 is zero"):
        so.State(np.concatenate([np.zeros(3), 0.5e-9 * unit]), np.zeros(6)).checked(model)
    checked = so.State(np.concatenate([np.zeros(3), 2e-9 * unit]), np.zeros(6)).checked(model)
    np.testing.assert_allclose(rotation_matrix(checked.q[3:]), rotation_matrix(unit))


@pytest.mark.parametrize(("gap", "proved"), [(1e-3, True), (3e-7, True), (3e-8, False)])
def test_a_contradiction_must_be_larger_than_rounding(gap: float, proved: bool) -> None:
    """w1 = z1 - z2 - 1 and w2 = z2 - z1 + 1 - gap cannot both be positive: their sum is -gap."""
    problem = MixedLCP([[1.0, -1.0], [-1.0, 1.0]], [-1.0, 1.0 - gap])
    y = infeasible(problem)
    assert (y is not None) == proved
    if y is not None:
        assert (y >= 0.0).all()
        assert y @ problem.b < 0.0


def test_equalities_are_refuted_by_multipliers_of_either_sign() -> None:
    """z1 + z2 = 1 and z1 + z2 = 2: the multipliers of a proof are 1 and -1, or the other way."""
    for b in ([-1.0, -2.0], [-2.0, -1.0]):
        y = infeasible(MixedLCP([[1.0, 1.0], [1.0, 1.0]], b, n_free=2))
        assert y is not None
        assert np.abs(y.sum()) < 1e-9
        assert y @ np.array(b) < 0.0


def test_a_warning_points_at_who_called() -> None:
    simulator = so.Simulator(ball(0.5, 1.0), dt=1e-3, certify="warn", depth_limit=1e-12)
    state = so.State(np.array([0.0, 0.0, 0.099, 0.0, 0.0, 0.0, 1.0]), np.zeros(6))
    with pytest.warns(UserWarning, match="penetration") as caught:
        simulator.run(state, 2e-3)
    assert {item.filename for item in caught} == {__file__}


@pytest.mark.parametrize("kind", ["ball", "free"])
def test_differences_of_attitudes_are_those_of_scipy(kind: str) -> None:
    """Two bodies, so that the second one's quaternion stands further on."""
    from scipy.spatial.transform import Rotation

    builder = so.TreeBuilder()
    for name in ("first", "second"):
        inertia = so.Inertia.box((0.1, 0.2, 0.3), mass=1.0)
        builder.add_body(name, joint=so.Joint(kind), inertia=inertia)
    model = builder.build()
    rng = np.random.default_rng(2)
    for _ in range(20):
        q0, q1 = model.random(rng), model.random(rng)
        v = so.difference(model, q0, q1)
        for name in model.joint_names:
            a, b = (Rotation.from_quat(q[model.q_slice(name)][-4:]) for q in (q0, q1))
            expected = (a.inv() * b).as_rotvec()
            np.testing.assert_allclose(v[model.v_slice(name)][:3], expected, atol=1e-13)


def test_linear_velocities_are_carried_over_as_they_are_in_the_world() -> None:
    builder = so.TreeBuilder()
    for name in ("first", "second"):
        builder.add_body(name, joint=so.Joint("free"), inertia=so.Inertia.sphere(0.1, mass=1.0))
    model = builder.build()
    rng = np.random.default_rng(3)
    old = model.random(rng)
    new = model.random(rng)
    v = rng.normal(size=12)
    carried = v.copy()
    transport(model.tree, old, new, carried)
    for q, w in ((0, 0), (7, 6)):
        before = rotation_matrix(old[q + 3 : q + 7]) @ v[w + 3 : w + 6]
        after = rotation_matrix(new[q + 3 : q + 7]) @ carried[w + 3 : w + 6]
        np.testing.assert_allclose(after, before, atol=1e-14)
        np.testing.assert_array_equal(carried[w : w + 3], v[w : w + 3])
