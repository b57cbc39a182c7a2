"""A simulation that is watched: its clock, a hand that pulls, and, with viser, the page."""

from __future__ import annotations

import builtins
import urllib.request
from itertools import count

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError, MissingLibraryError
from spatialops.sensors import JointPositions
from spatialops.view.live.course import Course, Driving
from spatialops.view.live.pull import grip_at, pulling


def ball(height: float = 1.0, mass: float = 1.0, gravity: float = 0.0) -> so.Scene:
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -gravity))
    inertia = so.Inertia.sphere(0.1, mass=mass)
    builder.add_body("ball", joint="free", inertia=inertia, position=(0.0, 0.0, height))
    geoms = [so.Geom("ball", "ball", so.Sphere(0.1)), so.Geom("floor", "world", so.HalfSpace())]
    return so.Scene(builder.build(), geoms)


@pytest.mark.compiled
@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e4])
def test_the_hand_is_as_strong_as_what_it_pulls_is_heavy(mass: float) -> None:
    """A ball follows by x'' = w^2 (1 - x) - 2 w x', whatever its mass: x = 1 - (1 + w t) e^-wt."""
    scene = ball(mass=mass)
    q = scene.state.q
    middle = so.body_poses(scene.model, q).positions[0]
    grip = grip_at(scene.model, q, 0, middle)._replace(hand=middle + [1.0, 0.0, 0.0])
    pull = pulling(scene.model, grip, q, 1e-4)
    record = so.Simulator(scene, dt=1e-4).run(duration=0.25, external=pull)
    t = 8.0 * record.times
    np.testing.assert_allclose(record.q[:, 0], 1.0 - (1.0 + t) * np.exp(-t), atol=2e-4)


def test_a_grabbed_point_stays_on_its_body() -> None:
    scene = so.models.pendulum(3).scene()
    q = np.array([0.3, -0.5, 0.9])
    poses = so.body_poses(scene.model, q)
    place = poses.positions[1] + poses.rotations[1] @ [0.1, 0.2, 0.3]
    np.testing.assert_allclose(grip_at(scene.model, q, 1, place).node[1], [0.1, 0.2, 0.3])


def test_frames_go_on_as_the_clock_does() -> None:
    simulator = so.Simulator(so.models.pendulum(2).scene(), dt=1e-3)
    course = Course(simulator, None, Driving())
    course.clock = lambda: 0.0  # a machine that is never busy
    course.speed = 0.5
    times = [course.frame(1.0).state.time for _ in range(2)]
    np.testing.assert_allclose(times, [0.5, 1.0], atol=1.1e-3)
    expected = simulator.run(duration=float(round(times[1], 9))).final
    np.testing.assert_array_equal(course.now.q, expected.q)
    course.paused = True
    assert course.frame(1.0).state.time == times[1]
    assert course.single_step().state.time == pytest.approx(times[1] + 1e-3)
    course.reset()
    assert course.now.time == 0.0


def test_what_is_too_slow_is_let_go() -> None:
    course = Course(so.Simulator(so.models.pendulum(2).scene(), dt=1e-5), None, Driving())
    course.clock = count(0.0, 0.001).__next__  # a step takes 1 ms: 16 of them in 0.8 of a frame
    course.speed = 1e6
    assert course.frame(0.02).pace == pytest.approx(16 * 1e-5 / 0.02, rel=0.1)
    course.speed = 1e-9
    assert course.frame(0.02).state.time == pytest.approx(course.now.time)


def test_arrows_bear_the_weight_and_the_hand_lifts() -> None:
    scene = ball(height=0.1, gravity=9.81)
    simulator = so.Simulator(scene, sensors=[JointPositions("q")])
    course = Course(simulator, None, Driving())
    course.clock = lambda: 0.0
    frame = course.frame(0.05)
    np.testing.assert_allclose(frame.arrows[:, 3:6], [[0.0, 0.0, 9.81]], atol=1e-9)
    np.testing.assert_allclose(frame.readings, frame.state.q)
    high = np.array([0.0, 0.0, 2.0])
    middle = np.array([0.0, 0.0, 0.1])
    course.grip = grip_at(scene.model, course.now.q, 0, middle)._replace(hand=high)
    for _ in range(20):
        frame = course.frame(0.05)
    assert frame.state.q[2] > 1.0  # of 1.9, as the hand gives way to the weight
    assert not len(frame.arrows)
    course.grip = None
    for _ in range(30):
        frame = course.frame(0.05)
    assert frame.state.q[2] == pytest.approx(0.0, abs=1e-4)


def test_a_failure_stops_and_reset_begins_anew() -> None:
    def controller(time: float, state: so.State, contacts: object) -> np.ndarray:
        return np.zeros(2) if time < 0.01 else np.full(2, np.nan)

    simulator = so.Simulator(so.models.pendulum(2).scene(), dt=1e-3)
    course = Course(simulator, None, Driving(controller))
    course.clock = lambda: 0.0
    course.frame(0.1)
    assert "tau" in course.failure
    stopped = course.now.time
    assert course.frame(0.1).state.time == stopped
    course.reset()
    assert course.failure == ""
    assert course.frame(0.005).state.time > 0.0


def test_whoever_watches_is_told_what_a_controller_raised() -> None:
    def controller(time: float, state: so.State, contacts: object) -> np.ndarray:
        raise KeyError("hip")

    course = Course(so.Simulator(so.models.pendulum(2).scene()), None, Driving(controller))
    course.frame(0.1)
    assert course.failure == "the controller raised KeyError: 'hip'"


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"ctrl": [1.0, 2.0]}, "ctrl: expected shape"),
        ({"external": "wind"}, "external: expected"),
        ({"port": 70000}, "port: expected"),
        ({"port": "8080"}, "port: expected"),
        ({"host": "no.such.host.invalid"}, "no address of this machine"),
        ({"host": 3}, "no address of this machine"),
    ],
)
def test_a_view_refuses_what_does_not_fit(wrong: dict, named: str) -> None:
    with pytest.raises(ArgumentError, match=named):
        so.Simulator(so.models.pendulum(2).scene()).view(**wrong)


def test_without_viser_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: object, **kwargs: object) -> object:
        if name == "viser":
            raise ImportError(name)
        return real(name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingLibraryError, match=r"spatialops\[view\]"):
        so.Simulator(so.models.pendulum(2).scene()).view()


def test_a_view_serves_its_page_and_obeys_its_buttons(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("viser")
    view = so.Simulator(ball(), sensors=[JointPositions("q")]).view(port=18080)
    try:
        assert capsys.readouterr().out == ""  # viser's box stays out
        assert b"<html" in urllib.request.urlopen(view.url, timeout=10).read()
        assert view.url in view._repr_html_()
        panel, course = view._panel, view.course
        panel._asked.append("Step")
        for _ in range(200):
            if course.paused:
                break
            view._closed.wait(0.05)
        stood = course.now.time
        view._closed.wait(0.2)
        assert course.now.time == stood
        panel._choice.value = "energy [J]"
        panel._collision.value = True
        panel._forces.value = 0.0
        panel.show(course.frame(0.01))
        panel._asked.append("Reset")
        for _ in range(200):
            if course.now.time == 0.0:
                break
            view._closed.wait(0.05)
        assert course.now.time == 0.0
    finally:
        view.close()
