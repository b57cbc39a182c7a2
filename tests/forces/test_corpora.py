"""Actuators, springs and tendons of files: trajectories beside MuJoCo's, without contacts.

Contacts, limits, dry friction and equality constraints are switched off in both; controls are
constant. The reference is MuJoCo's RK4 at 0.05 ms; what is chaotic, or unstable there, is left out.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import mujoco
import numpy as np
import pytest

import spatialops as so
from spatialops.errors import SpatialOpsError
from spatialops.io.mjcf_parts.compiled import named
from tests.io.test_robots import MJCFS

DURATION = 2.0
STEPS = (4e-3, 2e-3, 1e-3)
QUICK = ("suite/pendulum.xml", "ant/ant.xml")
# Half a minute each; all others by `python -m tests.forces.test_corpora`.
SLOW = ("suite/acrobot.xml", "suite/cartpole.xml", "suite/point_mass.xml", "suite/pendulum.xml")
OFF = sum(
    int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
    for name in ("CONTACT", "LIMIT", "FRICTIONLOSS", "EQUALITY")
)
_RK4, _IMPLICITFAST = 1, 3


class Twin:
    """One file as our scene and MuJoCo's model, under the same controls."""

    def __init__(self, path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scene = so.load_scene(path, strict=False)
        told = " ".join(scene.warnings)
        told = told.replace("not simulated: friction of tendons", "")
        if any(words in told for words in ("not simulated", "left out", "armature")):
            pytest.skip("has what is not simulated here")
        if not (scene.actuators or scene.tendons or scene.model.stiffness.any()):
            pytest.skip("nothing pulls in it")
        self.m = mujoco.MjModel.from_xml_path(str(path))
        self.m.opt.disableflags |= OFF
        rng, ctrl = np.random.default_rng(1), []
        for one in scene.actuators:  # servos within their ranges, motors gently
            low, high = np.clip(one.ctrl_range, -1.0, 1.0)
            share = 1e-2 if not one.bias.any() else 0.5
            ctrl.append(0.5 * (low + high) * (share == 0.5) + share * rng.uniform(low, high) / 2)
        self.ctrl = np.array(ctrl)
        self.names = named(self.m).joints
        rest = so.State(scene.state.q, np.zeros(scene.model.nv))
        self.scene = so.Scene(
            scene.model,
            state=rest,
            actuators=scene.actuators,
            tendons=[replace(one, limits=(-np.inf, np.inf)) for one in scene.tendons],
            ctrl=self.ctrl,
        )

    def joints(self, qpos):
        """MuJoCo's coordinates by joint, in our order of the quaternion."""
        found = {}
        for j, name in enumerate(self.names):
            at, kind = self.m.jnt_qposadr[j], self.m.jnt_type[j]
            own = qpos[at : at + (7, 4, 1, 1)[kind]].copy()
            if kind < 2:
                own[-4:] = np.roll(own[-4:], -1)
            found[name] = own
        return found

    def theirs(self, dt, integrator):
        m = self.m
        m.opt.timestep, m.opt.integrator = dt, integrator
        d = mujoco.MjData(m)
        for j, name in enumerate(self.names):
            own = self.scene.state.q[self.scene.model.q_slice(name)].copy()
            if m.jnt_type[j] < 2:
                own[-4:] = np.roll(own[-4:], 1)
            d.qpos[m.jnt_qposadr[j] : m.jnt_qposadr[j] + len(own)] = own
        d.ctrl[:] = self.ctrl
        mujoco.mj_step(m, d, round(DURATION / dt))
        return self.joints(d.qpos)

    def ours(self, dt):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            options = {"joint_limits": False, "dry_friction": False}
            end = so.Simulator(self.scene, dt=dt, **options).run(duration=DURATION, record=False)
        return {name: end.final.q[self.scene.model.q_slice(name)] for name in self.names}


def distance(a, b):
    worst = 0.0
    for name, own in a.items():
        other = b[name].copy()
        if len(own) > 3 and own[-4:] @ other[-4:] < 0.0:
            other[-4:] *= -1.0
        worst = max(worst, float(np.abs(own - other).max()))
    return worst


def errors(path):
    """Errors of ours and of MuJoCo's implicitfast at the STEPS."""
    twin = Twin(path)
    reference = twin.theirs(5e-5, _RK4)
    coarse = twin.theirs(1e-4, _RK4)
    if not distance(reference, coarse) < 1e-6:
        pytest.skip("chaotic, or unstable in MuJoCo")
    ours = [distance(twin.ours(dt), reference) for dt in STEPS]
    theirs = [distance(twin.theirs(dt, _IMPLICITFAST), reference) for dt in STEPS]
    return ours, theirs


def files():
    return [
        pytest.param(path, id=name, marks=() if name.endswith(QUICK) else pytest.mark.slow)
        for name, path in MJCFS
        if name.endswith(QUICK + SLOW)
    ] or [pytest.param(None, marks=pytest.mark.skip(reason="no robots installed"))]


@pytest.mark.compiled
@pytest.mark.parametrize("path", files())
def test_trajectories_are_mujocos(path):
    try:
        ours, theirs = errors(path)
    except (SpatialOpsError, ValueError) as error:  # parts of files
        pytest.skip(str(error)[:100])
    assert ours[2] <= max(1.5 * theirs[2], 1e-5)
    assert ours[2] < max(0.7 * ours[0], 1e-7)


def main():
    for name, path in MJCFS:
        try:
            ours, theirs = errors(path)
        except (SpatialOpsError, ValueError, pytest.skip.Exception):
            continue
        text = "  ".join(f"{a:.1e}/{b:.1e}" for a, b in zip(ours, theirs))
        print(f"{name:64s} {text}", flush=True)


if __name__ == "__main__":
    main()
