"""The gripping arm of [Z] 7.2.2 and 8.4.1: a heavy box in four fingertips, swung at 3 Hz."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.control.actuation import Actuation
from spatialops.control.inverse_dynamics.base import ContactInverseDynamics
from spatialops.control.inverse_dynamics.coulomb import ConeController, CoulombController
from spatialops.control.inverse_dynamics.dissipation import (
    DissipationController,
    NoSlipDissipationController,
)
from spatialops.control.inverse_dynamics.measured_forces import MeasuredForcesController
from spatialops.control.inverse_dynamics.no_slip import NoSlipController
from spatialops.control.joint_tracking import Gains, JointTracking, PIDController, Reference
from spatialops.dynamics.jacobian import body_poses
from spatialops.errors import ArgumentError, SpatialOpsError
from spatialops.experiments.zapolsky.measures import Measured, ending, relative_error, torque_rates
from spatialops.models.gripping_arm import GrippingArm, gripping_arm
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.simulator import Simulator
from spatialops.tree.node import Node
from spatialops.tree.state import State

Fingers = Literal["forces", "motion"]
CONTROLLERS = ("pid", "sensed-1", "qp", "qp-first", "lcp", "lcp-nearest", "lcp-no-slip", "cone")
FRICTION = {"inf": 10.0, "1": 1.0}  # 10: more than any tip needs
_SWING = np.array([0.02, 0.015, 0.02, 0.015, 0.02, 0.015, 0.02])  # rad
_RATE, _BEGIN = 3.0, 0.3  # Hz, s in which the swing grows to its size
_CLOSE = 0.3  # rad/s, of fingers without contact
_SQUEEZE = 0.01  # rad, by which PID's fingers are told to be further
_FORCE = 2.0  # N m, of each finger where its force is given, not its motion
_STIFF = Gains(position=400.0, velocity=20.0)  # N m/rad, N m s/rad
_DROPPED = 0.05  # m of the box from its place in the hand


@dataclass(frozen=True, eq=False)
class Grip:
    """What one run measured; arrays have one row a step.

    Attributes
    ----------
    position : (n,) array
        Mean absolute errors of the arm's joints, rad.
    slip : (n,) array
        Of the box from where it was in the hand, m.
    tau : (n, 11) array
        N m.
    predicted, measured : (n,) arrays
        Summed normal forces, N.
    dropped : float
        s at which the box was lost; infinite where it was not.
    """

    dt: float
    position: Array
    slip: Array
    tau: Array
    predicted: Array
    measured: Array
    dropped: float
    statuses: dict[str, int]
    fault: str = ""

    def summary(self) -> PlainData:
        """Means over the run."""
        change = torque_rates(self.tau, self.dt)
        held = self.slip < _DROPPED
        return {
            "position_error": float(self.position.mean()),
            "position_error_worst": float(self.position.max()),
            "slip": float(self.slip[held].max(initial=0.0)),
            "dropped": None if np.isinf(self.dropped) else self.dropped,
            "torque_derivative": float(change.mean()),
            "torque_derivative_worst": float(change.max()),
            "torque": float(np.abs(self.tau).mean()),
            "force_error_relative": relative_error(self.predicted[held], self.measured[held]),
            **ending(self.statuses, self.fault),
        }


class Swing:
    """Where the motors shall be: the arm on a sinusoid, fingers where they are, or closing."""

    def __init__(self, arm: GrippingArm, dt: float, squeeze: float) -> None:
        self.q0 = arm.state.q[:11].copy()
        self.dt = dt
        self.squeeze = squeeze
        self.tips: IntArray = np.asarray(arm.model.resolve([Node(tip) for tip in arm.tips]).links)
        self.touching = np.ones(4, dtype=bool)

    def __call__(self, time: float, state: State) -> Reference:
        """At `time`; fingers are held at their own angles, or told to be a little further."""
        w, s = 2.0 * np.pi * _RATE, min(time / _BEGIN, 1.0)
        grown = s * s * (3.0 - 2.0 * s)
        rate = 6.0 * s * (1.0 - s) / _BEGIN
        bend = (6.0 - 12.0 * s) / _BEGIN**2
        rate, bend = (rate, bend) if s < 1.0 else (0.0, 0.0)
        sine, cosine = np.sin(w * time), np.cos(w * time)
        q = self.q0.copy()
        v = np.zeros(11)
        a = np.zeros(11)
        q[:7] += _SWING * grown * sine
        v[:7] = _SWING * (rate * sine + grown * w * cosine)
        a[:7] = _SWING * (bend * sine + 2.0 * rate * w * cosine - grown * w * w * sine)
        q[7:] = state.q[7:11] + self.squeeze
        v[7:] = np.where(self.touching, 0.0, _CLOSE)
        return Reference(q, v, a)

    def arm(self, time: float, state: State) -> Reference:
        """Of the arm alone."""
        q, v, a = self(time, state)
        return Reference(q[:7], v[:7], a[:7])

    def squeezing(self, time: float, state: State) -> Array:
        """Forces (nv,) of the fingers: all alike."""
        tau = np.zeros(len(state.v))
        tau[7:11] = _FORCE
        return tau


def controller(
    name: str, sim: Simulator, swing: Swing, fingers: Fingers = "forces"
) -> tuple[Measured, JointTracking]:
    """A controller by its name, and what it tracks."""
    if name == "pid":
        pid = PIDController(sim.scene.model, swing, gains=_STIFF, dt=sim.dt)
        return pid, pid.tracking
    if name == "sensed-1":
        track = JointTracking(sim.scene.model, swing, dt=sim.dt)
        return MeasuredForcesController(sim, track, delay=1), track
    arm = Actuation(sim.scene.model, [f"arm{i + 1}" for i in range(7)])
    track = JointTracking(sim.scene.model, swing.arm, actuation=arm, dt=sim.dt)
    if fingers == "motion":
        track = JointTracking(sim.scene.model, swing, dt=sim.dt)
    kinds: dict[str, tuple[Callable[..., ContactInverseDynamics], Mapping[str, str]]] = {
        "qp": (DissipationController, {}),
        "qp-first": (DissipationController, {"stages": "first"}),
        "qp-no-slip": (NoSlipDissipationController, {}),
        "lcp": (CoulombController, {}),
        "lcp-nearest": (CoulombController, {"choice": "nearest"}),
        "lcp-no-slip": (NoSlipController, {}),
        "cone": (ConeController, {}),
    }
    if name not in kinds:
        raise ArgumentError(
            f"controller: expected one of pid, sensed-1, {', '.join(kinds)}; got {name!r}"
        )
    kind, options = kinds[name]
    if fingers == "motion":
        return kind(sim, track, **options), track
    return kind(sim, track, actuation=arm, others=swing.squeezing, **options), track


def grip(
    name: str,
    friction: str = "1",
    *,
    fingers: Fingers = "forces",
    duration: float = 3.0,
    dt: float = 1e-3,
) -> Grip:
    """Swing the box for `duration` seconds.

    Parameters
    ----------
    name : str
        One of `CONTROLLERS`, or "qp-no-slip".
    friction : {"inf", "1"}
    fingers : {"forces", "motion"}
        "forces": all squeeze alike; those of PID and of measured forces are told to be a little
        further. "motion" is the paper's command, to keep still, and to close where nothing is
        touched: no finger presses on purpose.
    duration, dt : float
        s.
    """
    if friction not in FRICTION:
        raise ArgumentError(f"friction: expected one of {', '.join(FRICTION)}, got {friction!r}")
    arm = gripping_arm()
    scene = arm.scene(friction=FRICTION[friction])
    sim = Simulator(scene, dt=dt, impact_threshold=100.0, certify="off", integrator="semi-implicit")
    squeezes = fingers == "forces" and (name == "pid" or name.startswith("sensed"))
    swing = Swing(arm, dt, _SQUEEZE if squeezes else 0.0)
    control, track = controller(name, sim, swing, fingers)
    state = arm.state
    contacts = None
    fault = ""
    dropped = np.inf
    place = _in_hand(arm, state)
    rows = []
    taus = []
    statuses = dict[str, int]()
    for _ in range(round(duration / dt)):
        tau = control(state.time, state, contacts)
        said = control.explain()
        statuses[said.status] = statuses.get(said.status, 0) + 1
        try:
            state, info = sim.step(state, tau)
        except SpatialOpsError as error:
            fault = str(error)
            break
        contacts = info.contacts
        swing.touching = np.array([bool((contacts.links == tip).any()) for tip in swing.tips])
        slip = float(np.linalg.norm(_in_hand(arm, state) - place))
        dropped = state.time if slip > _DROPPED and np.isinf(dropped) else dropped
        loads = float(said.forces[:, 0].sum()), float(contacts.impulses[:, 0].sum()) / dt
        rows.append((float(np.abs(track.errors[:7]).mean()), slip, *loads))
        taus.append(tau[:11])
    table = np.array(rows).reshape(-1, 4)
    return Grip(
        dt,
        table[:, 0],
        table[:, 1],
        np.array(taus),
        table[:, 2],
        table[:, 3],
        dropped,
        statuses,
        fault,
    )


def _in_hand(arm: GrippingArm, state: State) -> Array:
    """Position of the box in the frame of the arm's last link, m."""
    poses = body_poses(arm.model, state.q)
    hand = arm.model.body_index("arm7")
    result: Array = np.asarray(poses.rotations[hand]).T @ (
        state.q[11:14] - np.asarray(poses.positions[hand])
    )
    return result
