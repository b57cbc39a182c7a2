"""Two runs side by side have one clock and keep apart."""

from __future__ import annotations

import numpy as np
import pytest

import spatialops as so
from spatialops.view.motion import motion


def falling(radius=0.1, *, duration=0.4, dt=0.01, speed=0.0):
    """A ball that falls on a floor."""
    builder = so.TreeBuilder()
    builder.add_body("ball", joint="free", inertia=so.Inertia.sphere(radius, mass=1.0))
    model = builder.build()
    floor = so.Geom("floor", "world", so.HalfSpace())
    scene = so.Scene(model, geoms=[so.Geom("ball", "ball", so.Sphere(radius)), floor])
    state = so.State(np.array([0, 0, 2 * radius, 0, 0, 0, 1.0]), np.zeros(6))
    state.v[4] = speed
    return so.Simulator(scene, dt=dt).run(state, duration=duration)


@pytest.fixture(scope="module")
def two():
    return falling(), falling(0.2, duration=0.7, dt=0.02, speed=-0.5)


def test_the_shorter_run_stands_still_at_its_end(two):
    short, long = two
    both = motion(short, 50.0, beside=long)
    assert both.times[0] == 0.0
    assert both.times[-1] == pytest.approx(0.7)
    for frame, time in enumerate(both.times):
        at = int(np.abs(short.times - time).argmin())
        assert np.allclose(both.centres[frame, 0], short.q[at, :3], atol=1e-12)
    assert (both.centres[both.times > 0.41, 0] == both.centres[-1, 0]).all()


@pytest.mark.parametrize("swap", [False, True])
def test_runs_keep_a_gap_and_share_their_floor(two, swap):
    first, second = two[::-1] if swap else two
    radii = (0.2, 0.1) if swap else (0.1, 0.2)
    both = motion(first, 50.0, beside=second)
    one, other = both.centres[:, 0], both.centres[:, 1]
    assert (other[:, 1] - radii[1]).min() > (one[:, 1] + radii[0]).max()
    assert [still["kind"] for still in both.fixtures] == ["half_space"]
    moved = both.origins[:, 1] - motion(second, 50.0, beside=first).origins[:, 0]
    assert np.ptp(moved, axis=0).max() < 1e-12
    assert np.abs(moved[:, [0, 2]]).max() < 1e-12


def test_forces_go_with_their_run(two):
    both = motion(two[0], 50.0, beside=two[1])
    last = both.contacts[-2]
    assert len(last) == 2  # both rest
    rolled = 0.5 / 50.0  # m a frame, at most
    assert np.allclose(last[:, :2], both.centres[-2, :, :2], atol=rolled)
    assert np.allclose(last[:, 5], 9.81, rtol=1e-6)
    assert {curve.name for curve in both.curves} >= {"1: energy", "2: energy"}


def test_the_page_tells_of_both(two, tmp_path):
    page = two[0].replay(tmp_path / "two.html", beside=two[1]).read_text()
    assert "Two runs side by side" in page
    assert '"1: steps"' in page
    assert '"2: steps"' in page


def test_a_video_shows_both(two, tmp_path):
    path = two[0].video(tmp_path / "two.gif", rate=5.0, size=(64, 48), beside=two[1])
    assert path.read_bytes().startswith(b"GIF89a")


def test_what_is_no_record_is_refused(two, tmp_path):
    with pytest.raises(so.errors.ArgumentError, match="beside: expected a Record, got 3"):
        two[0].replay(tmp_path / "two.html", beside=3)
