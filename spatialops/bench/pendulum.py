"""The whole step of the multi-link pendulum against MuJoCo's, in free flight and in contact.

Both engines get the same spheres, hinges, planes, masses, friction and time step, and run many
steps per call: ours by the compiled loop that `Simulator.run` drives (with a row of the record
every 1000 steps and all contacts recorded), MuJoCo by `mj_step(model, data, nstep)`. Contact models
differ (exact complementarity against soft constraints), so trajectories do too; what is compared is
the smooth acceleration at the same state, and the number of contacts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from spatialops._arrays import Array
from spatialops._layout import DAMPING
from spatialops.bench.measure import Effort, Row, agreed, take_turns
from spatialops.bench.peers import require
from spatialops.collision._layout import CONTACT_A, POINT
from spatialops.collision.shapes import Coefficients, Geom, HalfSpace, Sphere
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.dynamics.forward_dynamics import forward_dynamics
from spatialops.dynamics.jacobian import body_poses, jacobian
from spatialops.models.pendulum import BASE_HEIGHT, GRAVITY, pendulum
from spatialops.simulation import _layout as at
from spatialops.simulation.options import Integrator
from spatialops.simulation.records.record import Record
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.simulator import Simulator
from spatialops.simulation.stepping.adapter import load_state
from spatialops.simulation.stepping.record_rows import start
from spatialops.tree.node import Node
from spatialops.tree.state import State

FREE_BAR, CONTACT_BAR = 1.0 / 3.0, 1.0 / 2.0
SETTLE = 50
SLIDE = 0.3  # m/s: lasts longer than a block
LINKS = (12, 30)
DT = 1e-4
FRICTION, RESTITUTION = 0.5, 0.7
STEPS = 200  # in one call of either engine, always from the same state
INTEGRATORS: tuple[Integrator, ...] = ("semi-implicit", "moreau")


@dataclass(frozen=True)
class Place:
    """Where floor and wall are, m; the base is at x = 0, 10 m up."""

    floor: float
    wall: float


FAR = Place(-20.0, 20.0)
PAPER = Place(0.0, 4.0)
RAISED = Place(4.0, 4.0)  # half of the pendulum lies on the floor


@dataclass(frozen=True)
class Phase:
    """What is measured: a place, the state that blocks start from, and a bar."""

    name: str
    place: Place
    state: State
    bar: float
    settle: (
        int  # steps that MuJoCo gets first, to reach the penetration that its soft contacts rest at
    )


def build_scene(n: int, place: Place, *, damping: float = 0.0) -> Scene:
    """The pendulum of n links at a place; joint damping lets it come to rest."""
    made = pendulum(n)
    links = made.model.links.copy()
    links[:, DAMPING] = damping
    pair: Coefficients = {"friction": FRICTION, "restitution": RESTITUTION}
    geoms = [
        Geom(b, b, Sphere(made.radius), position=(0.0, 0.0, -made.radius), **pair)
        for b in made.model.body_names
    ]
    geoms.append(
        Geom("floor", "world", HalfSpace((0.0, 0.0, 1.0)), position=(0.0, 0.0, place.floor), **pair)
    )
    geoms.append(
        Geom("wall", "world", HalfSpace((-1.0, 0.0, 0.0)), position=(place.wall, 0.0, 0.0), **pair)
    )
    return Scene(replace(made.model, links=links), geoms, state=made.state)


def mjcf(n: int, place: Place, integrator: str = "Euler") -> str:
    """The same in MuJoCo's language, which by itself lets no parent collide with its child."""
    radius = pendulum(n).radius
    body = "".join(
        f'<body pos="0 0 {BASE_HEIGHT if i == 0 else -2.0 * radius}">'
        '<joint type="hinge" axis="0 -1 0"/>'
        f'<geom type="sphere" size="{radius}" pos="0 0 {-radius}" mass="1"/>'
        for i in range(n)
    )
    return (
        f'<mujoco><option timestep="{DT}" gravity="0 0 {-GRAVITY}" integrator="{integrator}"/>'
        f'<default><geom friction="{FRICTION} 0 0" condim="3"/></default><worldbody>'
        f'<geom type="plane" size="0 0 1" pos="0 0 {place.floor}"/>'
        f'<geom type="plane" size="0 0 1" pos="{place.wall} 0 0" zaxis="-1 0 0"/>'
        f"{body}{'</body>' * n}</worldbody></mujoco>"
    )


class Ours:
    """Blocks of our compiled loop from one state, without what `Simulator.run` does about them."""

    def __init__(self, scene: Scene, state: State, integrator: Integrator) -> None:
        self.simulator = Simulator(scene, dt=DT, integrator=integrator)
        # So many rows that a block's contacts fit: `run` empties the tables between its chunks.
        self.tables = self.simulator.stepping.tables(steps=(10 * STEPS, 10 * STEPS))
        self.state, self.zero = state, np.zeros(scene.model.nv)

    def __call__(self) -> None:
        """Run one block."""
        t = self.tables
        load_state(t, self.state, self.zero, STEPS)
        t.control[at.EVERY] = 1000
        t.control[at.LOOKED] = 0
        start(t)
        self.tables = self.simulator.stepping.advance(t)

    def contacts(self) -> Array:
        """Contacts acting in every step of a block, (STEPS,)."""
        t, counts = self.tables, np.empty(STEPS)
        load_state(t, self.state, self.zero, 0)
        t.control[[at.EVERY, at.LOOKED]] = 1000, 0
        for i in range(STEPS):
            t.control[at.STEPS_LEFT] = 1
            t = self.tables = self.simulator.stepping.advance(t)
            counts[i] = t.control[at.ACTING]
            t.control[[at.ROWS, at.EVENT_ROWS, at.CONTACT_ROWS]] = 0
        return counts


class MuJoCo:
    """Blocks of MuJoCo's native loop from one state; the solver's warm start is put back, too."""

    def __init__(
        self, n: int, place: Place, state: State, integrator: str, settle: int = 0
    ) -> None:
        self.lib = require("mujoco")
        self.model = self.lib.MjModel.from_xml_string(mjcf(n, place, integrator))
        self.data = self.lib.MjData(self.model)
        self.data.qpos[:], self.data.qvel[:] = state.q, state.v
        self.lib.mj_forward(self.model, self.data)
        if settle:
            self.lib.mj_step(self.model, self.data, nstep=settle)
        self.q, self.v, self.warm = (
            a.copy() for a in (self.data.qpos, self.data.qvel, self.data.qacc_warmstart)
        )

    def _reset(self) -> None:
        self.data.qpos[:] = self.q
        self.data.qvel[:] = self.v
        self.data.qacc_warmstart[:] = self.warm

    def __call__(self) -> None:
        """Run one block."""
        self._reset()
        self.lib.mj_step(self.model, self.data, nstep=STEPS)

    def contacts(self) -> Array:
        """Contacts in every step of a block, (STEPS,)."""
        counts = np.empty(STEPS)
        self._reset()
        for i in range(STEPS):
            self.lib.mj_step(self.model, self.data)
            counts[i] = self.data.ncon
        return counts


def fall(n: int, place: Place, duration: float) -> Record:
    """The pendulum with damped joints, let go so that it comes to rest on the floor."""
    q = np.zeros(n)
    q[0] = -0.3
    if place.floor > 0.0:
        q[0], q[n // 2] = -0.5 * math.pi - 0.1, 0.5 * math.pi + 0.3
    scene = build_scene(n, place, damping=3.0)
    return Simulator(scene, dt=1e-3, certify="off").run(
        State(q, np.zeros(n)), duration, record_every=10
    )


def resting(n: int, place: Place) -> State:
    """The pendulum at rest, its end lying on the floor."""
    return State(fall(n, place, 20.0).q[-1].copy(), np.zeros(n))


def sliding(n: int, place: Place) -> State:
    """The pendulum at rest, set going so that its end slides over the floor.

    Of all velocities that keep the lying spheres at their height and give the last of them `SLIDE`,
    the one of least energy: v = M^-1 G^T (G M^-1 G^T)^-1 u.
    """
    rest, scene = resting(n, place), build_scene(n, place)
    ours, model = Ours(scene, rest, INTEGRATORS[0]), scene.model
    ours()
    count = ours.tables.control[at.ACTING]
    bodies = ours.tables.ints[:count, CONTACT_A]
    points = ours.tables.floats[:count, POINT : POINT + 3]
    poses = body_poses(model, rest.q)
    nodes = [
        Node(int(b), poses.rotations[b].T @ (p - poses.positions[b]))
        for b, p in zip(bodies, points, strict=True)
    ]
    rows = jacobian(model, rest.q, nodes)
    last = int(np.argmax(bodies))
    G = np.vstack([rows[5::6], rows[6 * last + 3]])  # heights of all, and the last along the floor
    u = np.append(np.zeros(count), SLIDE)
    response = np.linalg.solve(mass_matrix(model, rest.q), G.T)
    return State(rest.q, response @ np.linalg.lstsq(G @ response, u)[0])


def phases(n: int, *, quick: bool = False) -> Iterator[Phase]:
    """Free flight, rest and sliding as in the paper, and rest with half of the links lying."""
    q = np.zeros(n)
    q[0] = 0.4
    yield Phase("free", FAR, State(q, np.zeros(n)), FREE_BAR, 0)
    yield Phase("resting", PAPER, resting(n, PAPER), CONTACT_BAR, SETTLE)
    yield Phase("sliding", PAPER, sliding(n, PAPER), CONTACT_BAR, SETTLE)
    if not quick:
        yield Phase("half on floor", RAISED, resting(n, RAISED), CONTACT_BAR, SETTLE)


def smooth_agreement(n: int, theirs: MuJoCo) -> float:
    """Difference of our acceleration without contacts and MuJoCo's at one moving state."""
    model, rng = build_scene(n, FAR).model, np.random.default_rng(n)
    q, v = rng.uniform(-0.5, 0.5, n), rng.normal(size=n)
    theirs.data.qpos[:], theirs.data.qvel[:] = q, v
    theirs.lib.mj_forward(theirs.model, theirs.data)
    ours = forward_dynamics(model, q, v, np.zeros(n))
    return agreed(ours, theirs.data.qacc_smooth, f"pendulum {n}: smooth acceleration")


def measure_phase(n: int, phase: Phase, effort: Effort) -> Iterator[Row]:
    """Rows of one phase: our one-evaluation integrators against MuJoCo's Euler.

    Its implicitfast stands in the note.
    """
    scene = build_scene(n, phase.place)
    ours: dict[str, Ours] = {name: Ours(scene, phase.state, name) for name in INTEGRATORS}
    theirs = {
        name: MuJoCo(n, phase.place, phase.state, name, phase.settle)
        for name in ("Euler", "implicitfast")
    }
    difference = smooth_agreement(n, theirs["Euler"])
    contestants: dict[str, Ours | MuJoCo] = {**ours, **theirs}
    counts = {name: engine.contacts().mean() for name, engine in contestants.items()}
    timing = take_turns(contestants, effort)
    fast = timing.of("implicitfast").median / STEPS * 1e6
    for name in INTEGRATORS:
        note = f"contacts {counts[name]:.3g} and {counts['Euler']:.3g}; implicitfast {fast:.2f} us"
        times = timing.of(name) / STEPS, timing.of("Euler") / STEPS
        case = f"{n} links, {phase.name}, {name}"
        ratio = timing.ratio(name, "Euler")
        yield Row(
            "pendulum", "step", case, *times, "mj_step Euler", ratio, phase.bar, difference, note
        )


def run(effort: Effort, *, quick: bool = False) -> Iterator[Row]:
    """All rows of this group."""
    require("mujoco")
    for n in LINKS[:1] if quick else LINKS:
        for phase in phases(n, quick=quick):
            yield from measure_phase(n, phase, effort)
