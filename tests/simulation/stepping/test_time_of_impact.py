"""What arrives within a step is met when it arrives, also at shapes that touch already."""

import numpy as np
import pytest

import spatialops as so
from spatialops._compile.jit import COMPILED
from spatialops._compile.references import refer
from spatialops._layout import PARENT
from spatialops.bench.contacts.engines import Ours
from spatialops.collision._layout import GEOM_LINK
from spatialops.collision.pair_runs import count_pairs
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping import state_machine
from spatialops.simulation.stepping.adapter import load_state
from spatialops.simulation.stepping.time_of_impact import inner_share, mark_ways

HALF = (0.1, 0.06, 0.04)
DT = 2e-3


def tumbling(count, rng):
    """Boxes, each by itself, that fall on a floor tilted, and rock until they lie."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -9.81))
    geoms = [so.Geom("floor", "world", so.HalfSpace(), friction=0.5)]
    inertia = so.Inertia.box(tuple(2.0 * h for h in HALF), mass=1.0)
    for i in range(count):
        place = (0.5 * i, 0.0, 0.12)
        builder.add_body(f"box{i}", joint=so.Joint("free"), inertia=inertia, position=place)
        geoms.append(so.Geom(f"box{i}", f"box{i}", so.Box(HALF), friction=0.5))
    model = builder.build()
    turn = np.zeros((count, 6))
    turn[:, :3] = 0.3 * rng.standard_normal((count, 3))
    q = so.integrate(model, model.neutral(), turn.ravel())
    return so.Scene(model, geoms, state=so.State(q, np.zeros(model.nv)))


@pytest.mark.compiled  # for its length
def test_a_corner_that_comes_down_is_met_once(rng):
    # The corner on which a box rocks sinks by what a step leaves, and so did the distance of the
    # pair: steps were cut up to sixty times where it had sunk, and corners met 0.5 mm too deep.
    engine = Ours(tumbling(8, rng), DT)
    for _ in range(300):
        before = engine.tables.control.copy()
        engine.run(1)
        done = engine.tables.control - before
        assert done[at.SOLVES] <= 6 * done[at.IMPACTS] + 6
    assert engine.depth < 2e-5
    assert engine.residual <= 1e-9


@pytest.mark.parametrize("height", [0.31, 0.5, 1.7])
def test_a_ball_arrives_when_it_does(height):
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body(
        "ball",
        joint=so.Joint("free"),
        inertia=so.Inertia.sphere(0.1, mass=1.0),
        position=(0.0, 0.0, height + 0.1),
    )
    geoms = [so.Geom("floor", "world", so.HalfSpace()), so.Geom("ball", "ball", so.Sphere(0.1))]
    scene = so.Scene(builder.build(), geoms)
    time = np.sqrt(2.0 * height / 9.81)
    record = so.Simulator(scene, dt=7e-3).run(duration=time + 0.01)
    assert record.events[0, at.EVENT_TIME] == pytest.approx(time, abs=1e-10)


def test_only_the_links_that_a_pair_hangs_on_are_placed_again():
    scene = so.models.quadruped().scene()
    t = so.Simulator(scene, dt=1e-3).stepping.tables()
    links = t.geom_ints[scene.pairs[:, 0], GEOM_LINK], t.geom_ints[scene.pairs[:, 1], GEOM_LINK]
    for pair in range(count_pairs(t.pair_runs)):
        t.lcp_ints[0] = pair
        mark_ways(t, 1)
        way = set()
        for k in (links[0][pair], links[1][pair]):
            while k >= 0:
                way.add(int(k))
                k = t.tree[k, PARENT]
        assert set(np.flatnonzero(t.vectors[at.ON_WAY, : t.v.size])) == way
        assert 0 < len(way) < t.v.size


def test_parabolas_are_followed_to_their_root_and_jumps_are_halved():
    def gap(x):
        return (x - 0.3) * (1.0 + 0.1 * x)

    near = 0.31, gap(0.31)
    far = 0.0, gap(0.0)
    third = 1.0, gap(1.0)
    x = near[0] + inner_share(near, far, third) * (far[0] - near[0])
    assert x == pytest.approx(0.3, abs=1e-4)
    assert inner_share((0.4, -1.0), (0.2, 5.0), (0.8, -1.0)) == 0.5


@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit", "rk4"])
def test_what_dips_in_and_is_on_its_way_out_at_the_end_of_a_step_has_met_the_floor(integrator):
    # A pinned rod whose tip would be 0.3 mm deep at its lowest, just before the end of a step.
    length, w = 0.5, 40.0
    dip = 3e-4
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    hinge = so.Joint("revolute", axis="y")
    rod = so.Inertia.capsule(0.02, 2.0 * length, mass=1.0)
    builder.add_body("rod", joint=hinge, inertia=rod, position=(0.0, 0.0, length + 0.02 - dip))
    tip = so.Sphere(0.02)
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), friction=0.0, restitution=1.0),
        so.Geom("tip", "rod", tip, position=(0.0, 0.0, -length), friction=0.0, restitution=1.0),
    ]
    simulator = so.Simulator(so.Scene(builder.build(), geoms), dt=1e-3, integrator=integrator)
    record = simulator.run(so.State([-2.98e-3 * w], [w]), duration=6e-3)
    assert len(record.events) == 1
    met = np.arccos(1.0 - dip / length)
    assert record.events[0, 0] == pytest.approx(2.98e-3 - met / w, abs=1e-8)
    assert record.v[-1] == pytest.approx([-w], rel=1e-9)
    assert record.penetrations.max() <= 1e-9


@pytest.mark.skipif(COMPILED, reason="a stage by itself is called in Python only")
@pytest.mark.parametrize(("left", "stage"), [(1e-6, at.IMPACT), (5e-12, at.END)])
def test_slivers_of_a_step_are_none(left, stage):
    """Forces of what is left behind an arrival are its impulses over its length."""
    builder, dt = so.TreeBuilder(), 1e-3
    builder.add_body("ball", joint=so.Joint("free"), inertia=so.Inertia.sphere(0.1, mass=1.0))
    scene = so.Scene(builder.build())
    t = so.Simulator(scene, dt=dt).stepping.tables()
    load_state(t, scene.state, np.zeros(6), 1)
    t.monitor[at.REMAINING], t.monitor[at.LONGEST] = dt * (1.0 + left), dt
    assert state_machine.begin_piece(refer(t)) == state_machine.GO_ON
    assert t.control[at.STAGE] == at.MOVE
    state_machine.move(refer(t))
    assert t.control[at.STAGE] == stage
