"""Many short runs against `mujoco.rollout`: the same scenes, states and torques, one thread each.

Every environment begins at a state of its own and is driven by constant torques. Both write all
states down; ours solves every contact problem to 1e-9, without the certificate of a run beside it.
Integrators and contact models are each engine's own, so that states drift apart with time: what is
compared is the first step of environments without contacts. Ours by default is of second order,
MuJoCo's Euler of first; our integrator of first order is beside it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.inertia import Inertia
from spatialops.bench.contacts.robots import limp, standing_quadruped
from spatialops.bench.contacts.setting import Setting
from spatialops.bench.contacts.twin import Twin
from spatialops.bench.measure import Effort, Quartiles, Row, relative_difference, take_turns
from spatialops.bench.peers import LibraryObject, installed_file, require
from spatialops.io.build import load_model
from spatialops.models.pendulum import pendulum
from spatialops.models.quadruped import quadruped
from spatialops.simulation.batch.batch import Batch
from spatialops.simulation.options import Integrator
from spatialops.simulation.scene.placement import raised
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.simulator import Simulator
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.state import State

DT = 1e-3
SIZE = 32  # environments
MANY = 1000  # of scenes without contacts on two threads, beside as many as above
STEPS = 100
_KICK = 0.1  # rad/s and m/s: spread of the first velocities
_FREE_BAR, _CONTACT_BAR = 1 / 2, 1 / 1.5  # of ours / MuJoCo's
_TWO_THREADS_BAR = 1 / 1.8


@dataclass(frozen=True)
class Case:
    """A scene, and what ours / MuJoCo's must not exceed."""

    name: str
    make: Callable[[], Setting | None]
    bar: float


def cart_pole() -> Setting:
    """A pole hinged to a cart on a rail."""
    rod = Inertia.cylinder(0.01, 0.6, mass=0.2).shifted((0.0, 0.0, 0.3))
    builder = TreeBuilder()
    slide, hinge = Joint("prismatic", axis="x"), Joint("revolute", axis="y")
    builder.add_body("cart", joint=slide, inertia=Inertia.sphere(0.1, mass=1.0))
    builder.add_body("pole", parent="cart", joint=hinge, inertia=rod)
    return Setting(Scene(builder.build()))


def panda() -> Setting | None:
    """An arm of seven joints with a gripper, without geoms, away from its stops."""
    path = installed_file("panda_description/urdf/panda.urdf")
    if path is None:
        return None
    model = load_model(path)
    middle = 0.5 * (model.lower + model.upper)  # of joints that all have limits
    return Setting(Scene(model, state=State(middle, np.zeros(model.nv))))


def falling_quadruped() -> Setting:
    """The library's quadruped without motors, a little above the floor."""
    scene = quadruped().scene()
    scene.state = raised(scene, 0.02)
    return Setting(scene)


CASES = (
    Case("pendulum of 2 links", lambda: Setting(_bare(pendulum(2).scene())), _FREE_BAR),
    Case("cart-pole", cart_pole, _FREE_BAR),
    Case("panda", panda, _FREE_BAR),
    Case("quadruped standing", standing_quadruped, _CONTACT_BAR),
    Case("quadruped falling", falling_quadruped, _CONTACT_BAR),
    Case("humanoid (talos) falling", partial(limp, "talos"), _CONTACT_BAR),
)


def _bare(scene: Scene) -> Scene:
    """The same without geoms."""
    return Scene(scene.model, state=scene.state)


class Ours:
    """Rollouts of a batch on one thread."""

    def __init__(
        self,
        scene: Scene,
        taus: Array,
        v: Array,
        *,
        integrator: Integrator = "moreau",
        threads: int = 1,
    ) -> None:
        simulator = Simulator(scene, dt=DT, certify="off", integrator=integrator)
        self.batch = Batch(simulator, len(taus), threads=threads)
        self.taus = taus
        self.v = v

    def __call__(self) -> None:
        """All environments, all steps."""
        self.q = self.batch.rollout(self.taus, v=self.v).q


class MuJoCo:
    """The same by `mujoco.rollout` without threads of its own."""

    def __init__(self, scene: Scene, taus: Array, v: Array) -> None:
        self.lib = require("mujoco")
        rollout = require("mujoco.rollout")
        self.twin = Twin(scene, DT)
        model = self.twin.model
        self.data = self.lib.MjData(model)
        starts, forces = [], []
        for tau, velocity in zip(taus, v, strict=True):
            self.twin.put_state(self.data, State(scene.state.q, velocity))
            self.twin.put_forces(self.data, tau[0])
            starts.append(self._read(self.lib.mjtState.mjSTATE_FULLPHYSICS))
            forces.append(np.tile(self.data.qfrc_applied, (taus.shape[1], 1)))
        self.starts = np.array(starts)
        self.forces = np.array(forces)
        self.rollout: LibraryObject = rollout.Rollout(nthread=0)
        self.end = starts[0]

    def _read(self, kinds: LibraryObject) -> Array:
        values = np.empty(self.lib.mj_stateSize(self.twin.model, kinds))
        self.lib.mj_getState(self.twin.model, self.data, values, kinds)
        return values

    def __call__(self) -> None:
        """All environments, all steps."""
        state, _ = self.rollout.rollout(
            self.twin.model,
            self.data,
            self.starts,
            self.forces,
            control_spec=int(self.lib.mjtState.mjSTATE_QFRC_APPLIED),
        )
        self.states = state

    def first(self) -> Array:
        """Coordinates of the first environment after one step, as ours are."""
        kinds = self.lib.mjtState.mjSTATE_FULLPHYSICS
        self.lib.mj_setState(self.twin.model, self.data, self.states[0, 0], kinds)
        return self.twin.state(self.data).q


def drive(setting: Setting, size: int, steps: int) -> tuple[Array, Array]:
    """Torques (size, steps, nv) and first velocities (size, nv), different in each environment."""
    scene = setting.scene
    nv = scene.model.nv
    rng = np.random.default_rng(5)
    tau = np.zeros(nv) if setting.control is None else setting.control(scene.state)
    v = scene.state.v + _KICK * rng.normal(size=(size, nv))
    return np.broadcast_to(tau, (size, steps, nv)).copy(), v


def run(effort: Effort, *, quick: bool = False) -> Iterator[Row]:
    """Rows of all cases; those whose robots are not installed are left out."""
    size, steps = (8, 20) if quick else (SIZE, STEPS)
    for case in CASES:
        setting = case.make()
        if setting is None:
            continue
        taus, v = drive(setting, size, steps)
        peer = MuJoCo(setting.scene, taus, v)
        ours = {
            "a step": Ours(setting.scene, taus, v),
            "semi-implicit": Ours(setting.scene, taus, v, integrator="semi-implicit"),
        }
        peer()
        for one in ours.values():
            one()
        timing = take_turns({**ours, "MuJoCo": peer}, effort)
        each = size * steps
        for what, one in ours.items():
            yield Row(
                "rollout",
                what,
                case.name,
                timing.of(what) / each,
                timing.of("MuJoCo") / each,
                "mujoco.rollout",
                timing.ratio(what, "MuJoCo"),
                case.bar,
                relative_difference(one.q[0, 0], peer.first()),
                f"{1e-3 * each / timing.of(what).median:.0f} k steps/s",
            )
        yield two_threads(setting.scene, taus, v, case.name, effort)
        if case.bar == _FREE_BAR and not quick:  # else so few end before a thread is awake
            taus, v = drive(setting, MANY, steps)
            yield two_threads(setting.scene, taus, v, f"{case.name}, {MANY} of it", effort)


def two_threads(scene: Scene, taus: Array, v: Array, name: str, effort: Effort) -> Row:
    """Wall-clock time on two threads against one, on all cores that there are."""
    calls = {"two": Ours(scene, taus, v, threads=2), "one": Ours(scene, taus, v)}
    seconds: dict[str, list[float]] = {"two": [], "one": []}
    pinned = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        for i in range(effort.rounds + 1):
            for key in ("two", "one") if i % 2 else ("one", "two"):
                begin = perf_counter()
                calls[key]()
                seconds[key].append(perf_counter() - begin)
    finally:
        os.sched_setaffinity(0, pinned)
    two, one = (np.array(seconds[key][1:]) for key in ("two", "one"))
    times = Quartiles.of(two), Quartiles.of(one)
    each = taus.shape[0] * taus.shape[1]
    return Row(
        "rollout",
        "on two threads",
        name,
        times[0] / each,
        times[1] / each,
        "ours on one",
        Quartiles.of(two / one),
        _TWO_THREADS_BAR,
    )
