"""Figures of a robot: what is drawn is told by name, and lies where it should."""

import numpy as np
import pytest

import spatialops as so
from spatialops.collision.extents import reach
from spatialops.view import curves, plots
from spatialops.view.shapes import drawn_shape, outline


@pytest.fixture(scope="module")
def record():
    robot = so.models.quadruped()
    scene = robot.scene()
    sensors = [so.sensors.JointTorques("motors", scene.model.joint_names[1:])]
    simulator = so.Simulator(scene, sensors=sensors)
    return simulator.run(
        robot.state, duration=0.05, controller=lambda time, state, contacts: -0.1 * state.v
    )


@pytest.fixture
def drawn(monkeypatch):
    """Figures in place of files."""
    figures = []
    for module in (curves, plots):
        monkeypatch.setattr(module, "save_figure", lambda figure, path: figures.append(figure))
    return figures


def test_motion_names_joints_in_panels_by_unit(record, drawn):
    record.plot("a.png", "motion")
    panels = {axes.get_ylabel(): axes for axes in drawn[0].axes}
    assert list(panels) == [
        "position [m]",
        "position [rad]",
        "velocity [rad/s]",
        "velocity [m/s]",
        "motor [N m]",
    ]
    lines = {line.get_label(): line for line in panels["position [rad]"].lines}
    name = record.scene.model.joint_names[3]
    at = record.scene.model.q_slice(name).start
    assert len(lines) == 12
    assert np.array_equal(lines[name].get_ydata(), record.q[:, at])
    torque = {line.get_label(): line for line in panels["motor [N m]"].lines}
    assert torque[name].get_color() == lines[name].get_color()


def test_forces_are_drawn_by_geom(record, drawn):
    record.plot("a.png", "forces")
    (axes,) = drawn[0].axes
    assert axes.get_ylabel() == "contact force [N]"
    assert len(axes.lines) == 4


def test_impacts_are_dots_of_their_impulses_and_no_forces(drawn):
    """A ball of 1 kg falls by h = 0.2 m and bounces with e = 0.5: v = sqrt(2 g h) e^k."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body("ball", joint="free", inertia=so.Inertia.sphere(0.1, mass=1.0))
    geoms = [so.Geom("floor", "world", so.HalfSpace(), restitution=0.5)]
    geoms.append(so.Geom("ball", "ball", so.Sphere(0.1), restitution=0.5))
    scene = so.Scene(builder.build(), geoms)
    record = so.Simulator(scene, dt=1e-3).run(so.raised(scene, 0.2), duration=0.5)
    record.plot("a.png", "forces")
    (axes,) = drawn[0].axes
    assert axes.get_ylabel() == "impact [N s]"
    (dots,) = axes.lines
    assert dots.get_linestyle() == "None"
    speed = np.sqrt(2.0 * 9.81 * 0.2)
    assert dots.get_xdata()[0] == pytest.approx(speed / 9.81, rel=1e-9)
    assert dots.get_ydata() == pytest.approx([1.5 * speed, 0.75 * speed], rel=1e-9)


def test_frames_draw_shapes_and_links(record, drawn):
    record.plot("a.png", "frames")
    axes = drawn[0].axes[0]
    shapes = sum(body >= 0 for body in record.scene.bodies)
    floor = 1
    assert len(axes.patches) == shapes + floor
    assert len(axes.lines) >= record.scene.model.n_bodies - 1


@pytest.mark.parametrize(
    "shape",
    [
        so.Sphere(0.3),
        so.Box((0.2, 0.4, 0.6)),
        so.Capsule(0.1, 0.5),
        so.Cylinder(0.2, 0.5),
        so.Cone(0.2, 0.5),
        so.Ellipsoid((0.1, 0.2, 0.3)),
        so.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]),
    ],
    ids=lambda shape: type(shape).__name__,
)
def test_outlines_reach_as_far_as_their_shapes(shape):
    points = outline(drawn_shape(so.Geom("a", "b", shape)))
    rng = np.random.default_rng(1)
    for direction in rng.normal(size=(30, 3)):
        direction /= np.linalg.norm(direction)
        far = (points @ direction).max()
        assert far <= reach(shape, direction) + 1e-12
        assert far >= 0.97 * reach(shape, direction) - 1e-12
