"""Order 2 on smooth stretches with contact: chains, open and closed, that drag a ball over a floor.

The reference is event-driven: an integrator of order 8 and other code for contact and closures.
"""

import numpy as np
import pytest

import spatialops as so
from spatialops.experiments.accuracy.measures import order
from tests.support.loops import onto

RADIUS = 0.05
STEPS = (2e-3, 1e-3, 5e-4)
DURATION = 0.08  # s, within which nothing comes to rest, turns back or lifts off
HINGES = np.array([[-0.5, 0.9], [-0.75, 0.5], [-0.3, 0.35], [0.0, 0.05], [0.4, 0.45], [0.5, 0.9]])


def chain(n_links, *, closed, friction):
    """Rods on hinges along y from a pin, a ball on the end of the third one, on a floor.

    The last one of a closed chain is pinned to the world where it ends.
    """
    builder, hinges = so.TreeBuilder(), np.insert(HINGES, 1, 0.0, axis=1)
    way = np.diff(hinges, axis=0)
    for i in range(n_links):
        mass = float(np.linalg.norm(way[i]))
        builder.add_body(
            f"link {i + 1}",
            parent=f"link {i}" if i else "world",
            joint=so.Joint("revolute", axis="y"),
            inertia=so.Inertia.sphere(RADIUS, mass=mass).shifted(0.5 * way[i]),
            position=way[i - 1] if i else hinges[0],
        )
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), friction=friction),
        so.Geom("ball", "link 3", so.Sphere(RADIUS), position=way[2], friction=friction),
    ]
    pin = so.Loop(
        kind="revolute",
        a=f"link {n_links}",
        position_a=way[n_links - 1],
        position_b=hinges[n_links],
        axis="y",
    )
    model = builder.build()
    return so.Scene(model, geoms, loops=[pin] if closed else []), way[2] - [0.0, 0.0, RADIUS]


def slip_rows(scene, foot, q):
    """Rows of the point of the ball that touches: along the floor and off it."""
    rows = so.jacobian(scene.model, q, [so.Node("link 3", foot + [0.0, 0.0, RADIUS])])
    return rows[3] - RADIUS * rows[1], rows[5]


def set_off(scene, foot, slip):
    """The state in which the ball slips along x at `slip`, m/s, and the rest moves somehow."""
    model, q = scene.model, scene.model.neutral()
    rows, rates = np.array(slip_rows(scene, foot, q)), np.array([slip, 0.0])
    if len(scene.loops):
        closed = so.loop_jacobian(model, scene.loops, q)
        rows, rates = np.vstack([rows, closed]), np.append(rates, np.zeros(len(closed)))
    return so.State(q, onto(rows, np.array([0.3, -0.3, 0.2, 0.3, -0.2])[: model.nv], rates))


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("n_links", "closed", "friction", "slip"),
    [
        pytest.param(3, False, 0.3, -1.2, id="tree that slides"),
        pytest.param(5, True, 0.3, -1.0, id="loop that slides"),
        pytest.param(3, False, 3.0, 0.0, id="tree that rolls"),
        pytest.param(5, True, 3.0, 0.0, id="loop that rolls"),
    ],
)
def test_errors_fall_with_the_square_of_the_step_in_contact(n_links, closed, friction, slip):
    scene, foot = chain(n_links, closed=closed, friction=friction)
    state = set_off(scene, foot, slip)
    reference = so.Simulator(scene, dt=0.02, time=so.EventDriven(tolerance=1e-11)).run(
        state, DURATION
    )
    assert not reference.log
    end = slip_rows(scene, foot, reference.q[-1])[0] @ reference.v[-1]
    assert end == pytest.approx(0.0, abs=1e-9) if slip == 0.0 else end * slip > 0.1
    errors = []
    for dt in STEPS:
        record = so.Simulator(scene, dt=dt).run(state, DURATION)
        assert record.contact_counts[1:].min() == 1
        errors.append(np.abs(record.q[-1] - reference.q[-1]).max())
    assert order(errors) == pytest.approx(2.0, abs=0.1)
    assert errors[-1] < 1e-6
