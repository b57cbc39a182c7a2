"""The quadruped between its waypoints ([Z] 7.6): a run of one controller on one terrain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from spatialops._arrays import Array, BoolArray
from spatialops.collision.shapes import Geom, HeightField
from spatialops.contact.laws.compliant import Compliant
from spatialops.control.inverse_dynamics.base import UNSETTLED, ContactInverseDynamics
from spatialops.control.inverse_dynamics.coulomb import ConeController, CoulombController
from spatialops.control.inverse_dynamics.dissipation import (
    DissipationController,
    NoSlipDissipationController,
)
from spatialops.control.inverse_dynamics.measured_forces import MeasuredForcesController
from spatialops.control.inverse_dynamics.no_slip import NoSlipController
from spatialops.control.joint_tracking import Gains, JointTracking, PIDController
from spatialops.control.locomotion.leg_kinematics import Legs
from spatialops.control.locomotion.trot import Trot
from spatialops.control.locomotion.waypoints import Waypoints
from spatialops.errors import ArgumentError, SpatialOpsError
from spatialops.experiments.zapolsky.measures import Measured, ending, relative_error, torque_rates
from spatialops.models.quadruped import Quadruped, quadruped
from spatialops.simulation.options import LawName
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.simulator import Simulator

LOW, HIGH = 0.1, 10.0  # friction
SINK = 1e-3  # m, of the compliant ground at rest
FALLEN = 0.6  # of the height at rest
# Forces felt late lag by up to T = 0.13 s here, and velocity must exceed T position.
SENSED = Gains(position=300.0)
LAWS = ("own", "coulomb", "cone", "no-slip", "max-dissipation")
_OWN: dict[str, LawName] = {
    "qp": "max-dissipation",
    "qp-released": "max-dissipation",
    "qp-no-slip": "no-slip",
    "lcp-no-slip": "no-slip",
    "cone": "cone",
}


@dataclass(frozen=True, eq=False)
class Run:
    """What one run measured; arrays have one row a step.

    Attributes
    ----------
    completed : bool
        Whether the robot was on its feet at the end.
    reached : int
        Waypoints met.
    seconds : float
        Simulated.
    position, rate : (n,) arrays
        Mean absolute joint errors, rad and rad/s.
    tau : (n, nv) array
        N m.
    predicted, measured : (n,) arrays
        Summed normal forces, N.
    missed : (n,) array
        Largest difference of an actuated acceleration from the predicted one, rad/s^2.
    settled : (n,) bool array
        Whether nothing landed, no limit bound, and directions of friction had settled: steps whose
        prediction counts on all of their contacts.
    times : (n,) array
        Of the commands, s.
    path : (n, 2) array
        Of the base, m.
    statuses : dict
        How many commands of each status.
    """

    completed: bool
    reached: int
    seconds: float
    dt: float
    position: Array
    rate: Array
    tau: Array
    predicted: Array
    measured: Array
    missed: Array
    settled: BoolArray
    times: Array
    path: Array
    statuses: dict[str, int]
    fault: str = ""

    def summary(self) -> PlainData:
        """The figures of tables 3, 4 and 5, of figure 19's times, and how the run ended."""
        change = torque_rates(self.tau[:, 6:], self.dt)
        pressed = self.measured > 1.0
        errors = np.abs(self.predicted - self.measured)
        shares = errors[pressed] / self.measured[pressed]
        counted = shares[self.settled[pressed]]
        return {
            "completed": self.completed,
            "seconds": self.seconds,
            "waypoints": self.reached,
            "position_error": float(self.position.mean()),
            "rate_error": float(self.rate.mean()),
            "torque_derivative": float(change.mean()) if len(change) else 0.0,
            "torque": float(np.abs(self.tau[:, 6:]).mean()),
            "force_error": float(errors.mean()),
            "force_error_relative": relative_error(self.predicted, self.measured),
            "force_error_median": float(np.median(shares)) if len(shares) else 0.0,
            "force_error_99": float(np.quantile(shares, 0.99)) if len(shares) else 0.0,
            "settled": float(self.settled.mean()),
            "settled_force_error": float(counted.mean()) if len(counted) else 0.0,
            "settled_force_error_99": float(np.quantile(counted, 0.99)) if len(counted) else 0.0,
            "acceleration_missed_median": float(np.median(self.missed)),
            "milliseconds_median": 1e3 * float(np.median(self.times)),
            "milliseconds_999": 1e3 * float(np.quantile(self.times, 0.999)),
            **ending(self.statuses, self.fault),
        }


def simulator(
    terrain: str,
    law: LawName,
    *,
    dt: float = 1e-3,
    robot: Quadruped | None = None,
    seed: int = 0,
    limits: bool = False,
) -> Simulator:
    """A quadruped on a terrain.

    Terrains are "rigid-low", "rigid-high", "compliant-low", "compliant-high" and "bumps". Contacts
    have no restitution and are all taken by the step's problem, as by the time stepping of [Z].
    """
    robot = quadruped() if robot is None else robot
    ground, _, friction = terrain.partition("-")
    if ground not in ("rigid", "compliant", "bumps") or (
        ground != "bumps" and friction not in ("low", "high")
    ):
        raise ArgumentError(
            "terrain: expected rigid-low, rigid-high, compliant-low, compliant-high, bumps; "
            f"got {terrain!r}"
        )
    scene = (
        robot.scene(friction=LOW if friction == "low" else HIGH)
        if ground != "bumps"
        else bumps(robot, seed)
    )
    made: LawName | Compliant = law
    if ground == "compliant":
        stiffness = robot.model.mass * 9.81 / (4.0 * SINK)
        made = Compliant(
            stiffness=stiffness, damping=0.5 * np.sqrt(stiffness * robot.model.mass / 4.0)
        )
    return Simulator(
        scene,
        law=made,
        dt=dt,
        clip_effort=limits,
        impact_threshold=100.0,
        integrator="semi-implicit",
        certify="off",
    )


def bumps(
    robot: Quadruped,
    seed: int = 0,
    *,
    friction: float | None = None,
    height: float = 0.03,
    size: float = 0.2,
    tiles: int = 6,
) -> Scene:
    """Rolling ground of bumps up to `height`, level where the robot starts.

    It is made of tiles of random friction U(0.1, 1.5); `friction` gives one to robot and ground.
    """
    rng = np.random.default_rng(seed)
    waves = rng.uniform(8.0, 16.0, (6, 2)) * rng.choice((-1.0, 1.0), (6, 2))
    phases = rng.uniform(0.0, 2.0 * np.pi, 6)

    def ground(x: Array, y: Array) -> Array:
        rough = np.sin(
            waves[:, 0, None, None] * x + waves[:, 1, None, None] * y + phases[:, None, None]
        ).sum(axis=0)
        level = 1.0 - np.exp(-(((x**2 + y**2) / 0.2**2) ** 2))
        return np.asarray(np.clip(0.25 * rough, -1.0, 1.0) * level * 0.5 * height)

    geoms, grid = [], np.linspace(-0.5 * size, 0.5 * size, 11)
    for i in range(tiles):
        for j in range(tiles):
            x, y = (i - 0.5 * (tiles - 1)) * size, (j - 0.5 * (tiles - 1)) * size
            field = HeightField(
                ground(*np.meshgrid(grid + x, grid + y, indexing="ij")), (size, size)
            )
            geoms.append(
                Geom(
                    f"tile_{i}_{j}",
                    "world",
                    field,
                    (x, y, 0.0),
                    friction=float(rng.uniform(0.1, 1.5)) if friction is None else friction,
                )
            )
    return robot.scene(friction=1.0 if friction is None else friction, ground=geoms)


def controller(
    name: str,
    sim: Simulator,
    trot: Trot,
    *,
    limits: bool = False,
    horizon: float | None = None,
    gains: Gains | None = None,
) -> tuple[Measured, JointTracking]:
    """A controller of the experiments by its name in `paper.TITLES`, and what it tracks.

    `gains` are of those that predict forces; default: `Gains()`.
    """
    if name == "pid":
        pid = PIDController(sim.scene.model, trot, dt=sim.dt)
        return pid, pid.tracking
    if name.startswith("sensed-"):
        track = JointTracking(sim.scene.model, trot, gains=SENSED, dt=sim.dt)
        return MeasuredForcesController(sim, track, delay=int(name[7:])), track
    track = JointTracking(sim.scene.model, trot, gains=gains, dt=sim.dt)
    options: dict[str, object] = {
        "standing": trot.standing,
        "within_limits": limits,
        "horizon": horizon,
    }
    kinds: dict[str, Callable[..., ContactInverseDynamics]] = {
        "qp": DissipationController,
        "qp-released": DissipationController,
        "qp-no-slip": NoSlipDissipationController,
        "lcp": CoulombController,
        "lcp-nearest": CoulombController,
        "lcp-no-slip": NoSlipController,
        "cone": ConeController,
    }
    if name not in kinds:
        raise ArgumentError(
            f"controller: expected one of {', '.join(kinds)}, pid, sensed-k; got {name!r}"
        )
    if name == "lcp-nearest":
        options["choice"] = "nearest"
    if name == "qp-released":
        options["parting"] = "released"
    return kinds[name](sim, track, **options), track


def run(
    name: str,
    terrain: str,
    *,
    duration: float = 30.0,
    law: str = "own",
    dt: float = 1e-3,
    horizon: float | None = None,
    limits: bool = False,
    seed: int = 0,
) -> Run:
    """Walk the course for `duration` seconds.

    Parameters
    ----------
    name : str
        Controller.
    terrain : str
        As `simulator`.
    duration : float
        s.
    law : {"own", "coulomb", "cone", "no-slip", "max-dissipation"}
        Of the simulator: "own" is the controller's.
    dt : float
        Step of simulator and controller, s.
    horizon : float, optional
        Of controllers that predict forces, s; default: their own. With dt they are exact inverses
        of a simulator that has their law.
    limits : bool
        Whether commands and motors keep to the motors' limits, of which [Z] says nothing.
    seed : int
        Of "bumps".
    """
    if law not in LAWS:
        raise ArgumentError(f"law: expected one of {', '.join(LAWS)}, got {law!r}")
    robot = quadruped()
    sim = simulator(
        terrain,
        _OWN.get(name, "coulomb") if law == "own" else cast("LawName", law),
        dt=dt,
        robot=robot,
        seed=seed,
        limits=limits,
    )
    legs, way = Legs(robot.model, robot.feet), Waypoints()
    trot = Trot(legs, robot.state.q[legs.angles], way, dt=dt)
    control, track = controller(name, sim, trot, limits=limits, horizon=horizon)
    return _walked(sim, robot, control, track, way, round(duration / dt))


def _walked(
    sim: Simulator,
    robot: Quadruped,
    control: Measured,
    track: JointTracking,
    way: Waypoints,
    steps: int,
) -> Run:
    """The course of so many steps, or until the robot falls or a step fails."""
    rows = []
    taus = []
    settled = []
    statuses = dict[str, int]()
    state, dt = robot.state, sim.dt
    contacts = None
    fault = ""
    actuated = slice(6, None)
    for _ in range(steps):
        tau = control(state.time, state, contacts)
        said = control.explain()
        statuses[said.status] = statuses.get(said.status, 0) + 1
        before = state
        try:
            state, info = sim.step(before, tau)
        except SpatialOpsError as error:
            fault = str(error)
            break
        contacts = info.contacts
        missed = np.abs((state.v - before.v)[actuated] / dt - said.predicted[actuated]).max()
        measured = float(contacts.impulses[:, 0].sum()) / dt
        taus.append(tau)
        settled.append(not any(note.startswith(UNSETTLED) for note in said.notes))
        errors = float(np.abs(track.errors).mean()), float(np.abs(track.rate_errors).mean())
        rows.append(
            (*errors, float(said.forces[:, 0].sum()), measured, missed, said.seconds, *state.q[:2])
        )
        if state.q[2] < FALLEN * robot.state.q[2]:
            fault = f"fell at t = {state.time:.3f} s"
            break
    table, tau = np.array(rows).reshape(-1, 8), np.array(taus).reshape(-1, robot.model.nv)
    return Run(
        completed=not fault,
        reached=way.reached,
        seconds=state.time,
        dt=dt,
        position=table[:, 0],
        rate=table[:, 1],
        tau=tau,
        predicted=table[:, 2],
        measured=table[:, 3],
        missed=table[:, 4],
        settled=np.array(settled, dtype=np.bool_),
        times=table[:, 5],
        path=table[:, 6:],
        statuses=statuses,
        fault=fault,
    )
