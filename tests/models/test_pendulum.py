"""The multi-link pendulum: its geometry, and its runs."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError, SpatialOpsError

LINKS = (3, 6, 12, 15, 24, 30)


@pytest.mark.parametrize("n", [1, 2, 3, 12, 30])
def test_geometry(n):
    pendulum = so.models.pendulum(n)
    model = pendulum.model
    assert (model.nq, model.nv, model.n_bodies) == (n, n, n)
    assert pendulum.radius == pytest.approx(6.0 / n, rel=1e-15)
    assert model.mass == pytest.approx(n)
    assert np.allclose(model.gravity, (0.0, 0.0, -9.8), rtol=0.0, atol=0.0)
    assert model.body_names == tuple(f"link{i + 1}" for i in range(n))
    hanging = np.zeros(n)
    origins = so.body_poses(model, hanging).positions
    assert np.allclose(origins[0], (0.0, 0.0, 10.0), rtol=0.0, atol=0.0)
    tip = so.node_positions(model, hanging, [so.Node(n - 1, (0.0, 0.0, -2.0 * pendulum.radius))])[0]
    assert np.allclose(origins[0] - tip, (0.0, 0.0, 12.0), rtol=0.0, atol=1e-12)


def test_start():
    pendulum = so.models.pendulum(12)
    model, state = pendulum.model, pendulum.state
    end = so.Node(11, (0.0, 0.0, -2.0 * pendulum.radius))
    tip = so.node_positions(model, state.q, [end])[0]
    # A straight line, 45 degrees to the left of the vertical, swinging to the right at 1 rad/s.
    reach = 12.0 * np.sqrt(0.5)
    assert np.allclose(tip, (-reach, 0.0, 10.0 - reach), rtol=0.0, atol=1e-12)
    speed = so.node_velocities(model, state.q, state.v, [end])[0]
    assert np.allclose(speed[3:], (reach, 0.0, -reach), rtol=0.0, atol=1e-12)
    assert np.linalg.norm(speed[:3]) == pytest.approx(1.0, rel=1e-14)


def test_scene():
    pendulum = so.models.pendulum(6)
    scene = pendulum.scene(friction=0.3, restitution=0.4)
    names = [geom.name for geom in scene.geoms]
    assert names == ["link1", "link2", "link3", "link4", "link5", "link6", "floor", "wall"]
    assert {geom.friction for geom in scene.geoms} == {0.3}
    assert {geom.restitution for geom in scene.geoms} == {0.4}
    assert {geom.friction for geom in pendulum.scene().geoms} == {0.5}
    assert {geom.restitution for geom in pendulum.scene().geoms} == {0.7}
    floor, wall = scene.geoms[-2:]
    assert (floor.shape.normal, floor.position) == ((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    assert (wall.shape.normal, wall.position) == ((-1.0, 0.0, 0.0), (4.0, 0.0, 0.0))
    pairs = {scene.pair_names(p) for p in range(scene.n_pairs)}
    assert ("link1", "link3") in pairs
    assert not any(abs(int(a[4:]) - int(b[4:])) == 1 for a, b in pairs if b.startswith("link"))
    assert len(pairs) == 6 * 2 + 10
    record = so.Simulator(scene).run(duration=0.0)
    centers = record.geom_positions([0])[0][0, :6]
    steps = np.linalg.norm(np.diff(centers, axis=0), axis=1)
    assert np.allclose(steps, 2.0 * pendulum.radius, rtol=0.0, atol=1e-12)  # neighbours just touch


def test_options():
    pendulum = so.models.pendulum(2, mass=3.0, angle=0.1, rate=0.0)
    assert pendulum.model.mass == pytest.approx(6.0)
    assert pendulum.state.q.tolist() == [0.1, 0.0]
    assert not pendulum.state.v.any()


@pytest.mark.parametrize("n", [0, -3, 2.5, True, np.nan, np.inf, "many", None, 10**30])
def test_bad_numbers_of_links(n):
    with pytest.raises(ArgumentError, match="n_links"):
        so.models.pendulum(n)


@pytest.mark.parametrize(
    ("option", "value"), [("mass", -1.0), ("mass", np.nan), ("angle", np.inf), ("rate", "fast")]
)
def test_bad_options(option, value):
    with pytest.raises(SpatialOpsError, match=option):
        so.models.pendulum(3, **{option: value})


def test_a_few_steps():
    record = so.Simulator(so.models.pendulum(2).scene(), dt=1e-4).run(duration=5e-4)
    assert len(record.times) == 6
    assert record.energy == pytest.approx(record.energy[0], rel=1e-9)


def check_run(n, duration):
    """Two runs at 0.1 ms: certificates hold, no collision gains energy, the same bits."""
    scene = so.models.pendulum(n).scene()
    records = [
        so.Simulator(scene, dt=1e-4).run(duration=duration, record_every=5) for _ in range(2)
    ]
    record = records[0]
    assert record.times[-1] == pytest.approx(duration, abs=1e-9)
    assert record.residuals.max() <= 1e-9
    assert record.penetrations.max() <= 1e-3
    assert np.all(record.events[:, 4] <= record.events[:, 3] * (1.0 + 1e-9))
    assert len(record.events) >= 3
    for name in (
        "q",
        "v",
        "kinetic",
        "potential",
        "residuals",
        "penetrations",
        "pivots",
        "contact_records",
        "events",
    ):
        assert np.array_equal(getattr(records[0], name), getattr(records[1], name)), name


@pytest.mark.compiled
@pytest.mark.parametrize("n", [*LINKS, pytest.param(100, marks=pytest.mark.slow)])
def test_runs(n):
    check_run(n, 3.0)
