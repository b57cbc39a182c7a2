"""Forces of a short horizon."""

import numpy as np
import pytest

from spatialops.control import CentroidalMPC, HorizonWeights
from spatialops.control.locomotion.centroidal_tables import Body, Horizon
from spatialops.errors import ArgumentError

MASS = 12.0
INERTIA = np.array([[0.2, 0.01, 0.0], [0.01, 0.4, 0.02], [0.0, 0.02, 0.5]])
FEET = np.array([[0.2, 0.1, 0.0], [0.2, -0.1, 0.0], [-0.2, 0.1, 0.0], [-0.2, -0.1, 0.0]])


def standing(n, holds=None, at=(0.0, 0.0, 0.3)):
    """What a robot wants that stands, and where it is."""
    wanted = np.tile([0.0, 0.0, 0.0, *at], (n, 1))
    holds = np.ones((n, 4), dtype=bool) if holds is None else holds
    return Horizon(wanted, np.zeros((n, 6)), holds, np.tile(FEET, (n, 1, 1)))


def body(coordinates=(0.0, 0.0, 0.0, 0.0, 0.0, 0.3), rates=(0.0,) * 6):
    return Body(MASS, INERTIA, np.array(coordinates), np.array(rates))


def test_who_is_where_it_should_be_is_carried():
    mpc = CentroidalMPC(steps=8)
    plan = mpc(body(), standing(8))
    assert plan.forces.sum(axis=1)[:, 2] == pytest.approx(np.full(8, MASS * 9.81), rel=1e-6)
    assert np.abs(plan.accelerations).max() < 1e-6
    assert np.abs(plan.forces - [0.0, 0.0, MASS * 9.81 / 4]).max() < 1e-5


def test_the_motion_is_that_of_the_forces():
    """Integrated in small steps, with the arm at the desired place."""
    mpc = CentroidalMPC(steps=6, dt=0.03)
    start = body((0.05, -0.04, 0.1, 0.01, -0.02, 0.28), (0.3, 0.2, -0.1, 0.1, -0.2, 0.1))
    wanted = standing(6, holds=np.random.default_rng(1).random((6, 4)) < 0.6)
    plan = mpc(start, wanted)
    y, rate = start.coordinates.copy(), start.rates.copy()
    fine = 1000
    for k in range(6):
        arms = FEET - wanted.coordinates[k, 3:]
        moment = np.cross(arms, plan.forces[k]).sum(axis=0)
        a = np.concatenate(
            [np.linalg.solve(INERTIA, moment), plan.forces[k].sum(axis=0) / MASS - [0, 0, 9.81]]
        )
        assert plan.accelerations[k] == pytest.approx(a, abs=1e-9)
        for _ in range(fine):
            y += mpc.dt / fine * (rate + 0.5 * mpc.dt / fine * a)
            rate += mpc.dt / fine * a
        assert plan.coordinates[k + 1] == pytest.approx(y, abs=1e-9)
        assert plan.rates[k + 1] == pytest.approx(rate, abs=1e-9)


def test_forces_keep_to_pyramids_and_to_the_schedule():
    mpc = CentroidalMPC(steps=10, friction=0.4, most=0.6)
    holds = np.zeros((10, 4), dtype=bool)
    holds[::2, [0, 3]] = holds[1::2, [1, 2]] = True
    holds[4] = False
    hard = body((0.2, 0.2, 0.0, 0.1, 0.1, 0.2), (2.0, -2.0, 1.0, 2.0, 2.0, -1.0))
    f = mpc(hard, standing(10, holds)).forces / (MASS * 9.81)
    assert np.abs(f[~holds]).max() == 0.0
    assert f[..., 2].min() > -1e-7
    assert f[..., 2].max() < 0.6 + 1e-7
    assert (np.hypot(f[..., 0], f[..., 1]) <= 0.4 * f[..., 2] + 1e-6).all()
    assert np.hypot(f[..., 0], f[..., 1]).max() > 0.1


def test_no_other_forces_are_better():
    """The cost is stationary within the pyramids: along feasible directions it only rises."""
    weights = HorizonWeights()
    mpc = CentroidalMPC(steps=4, weights=weights)
    start = body((0.05, 0.0, 0.1, 0.02, 0.0, 0.28), (0.2, 0.1, 0.0, 0.1, 0.1, 0.0))
    wanted = standing(4)
    of_y, of_rate = weights.stacked()

    def cost(forces):
        y, rate = start.coordinates, start.rates
        total = 0.0
        for k in range(4):
            moment = np.cross(FEET - wanted.coordinates[k, 3:], forces[k]).sum(axis=0)
            push = forces[k].sum(axis=0) / MASS - [0, 0, 9.81]
            a = np.concatenate([np.linalg.solve(INERTIA, moment), push])
            y, rate = y + mpc.dt * rate + 0.5 * mpc.dt**2 * a, rate + mpc.dt * a
            total += of_y @ (y - wanted.coordinates[k]) ** 2 + of_rate @ rate**2
        share = forces / (MASS * 9.81) - [0.0, 0.0, 0.25]
        return total + weights.force * (share**2).sum()

    best = mpc(start, wanted).forces
    rng = np.random.default_rng(2)
    least = cost(best)
    for _ in range(200):
        other = best + rng.normal(size=best.shape) * 10.0 ** rng.uniform(-2.0, 2.0)
        other[..., 2] = np.maximum(other[..., 2], 0.0)
        for axis in (0, 1):
            most = 0.5 / np.sqrt(2.0) * other[..., 2]
            other[..., axis] = np.clip(other[..., axis], -most, most)
        assert cost(other) >= least * (1.0 - 1e-7)


def test_a_robot_in_the_air_falls():
    mpc = CentroidalMPC(steps=5)
    plan = mpc(body(), standing(5, np.zeros((5, 4), dtype=bool)))
    assert plan.rates[-1, 5] == pytest.approx(-9.81 * 5 * mpc.dt, abs=1e-12)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ArgumentError, match="expected 5 steps"):
        CentroidalMPC(steps=5)(body(), standing(4))
    with pytest.raises(ArgumentError, match="not negative"):
        CentroidalMPC(weights=HorizonWeights(place=(0.0, 0.0, -1.0)))
    with pytest.raises(ArgumentError, match="friction"):
        CentroidalMPC(friction=0.0)
