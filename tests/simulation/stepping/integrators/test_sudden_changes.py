"""What comes down together gives no energy, however far chains turn in a step."""

import numpy as np
import pytest

import spatialops as so

RADIUS, LENGTH = 0.02, 0.08  # m
LINKS = 20


def ropes(n):
    """Ropes of capsules and ball joints over one another, a little crumpled, above the floor."""
    shape = so.Capsule(RADIUS, LENGTH - RADIUS)
    lying = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    inertia = so.collision.shape_inertia(shape, 500.0).rotated(lying)
    builder = so.TreeBuilder()
    geoms = [so.Geom("floor", "world", so.HalfSpace(), friction=0.5)]
    q = []
    for r in range(n):
        for i in range(LINKS):
            name = f"r{r}-{i}"
            parent = f"r{r}-{i - 1}" if i > 0 else "world"
            joint = so.Joint("ball", damping=1e-4) if i > 0 else so.Joint("free")
            place = (LENGTH if i > 0 else 0.0, 0.0, 0.0)
            builder.add_body(name, parent=parent, joint=joint, inertia=inertia, position=place)
            geoms.append(so.Geom(name, name, shape, rotation=lying, friction=0.5))
            if i == 0:
                half = np.radians(27.5 * r)
                ends = 0.01 * r - 0.5 * LINKS * LENGTH, 0.05 * r, 0.3 + 0.1 * r
                q += [*ends, 0.0, 0.0, np.sin(half), np.cos(half)]
            else:
                half = np.radians(1.5 * np.sin(i))
                q += [0.0, np.sin(half), 0.0, np.cos(half)]
    model = builder.build()
    return so.Scene(model, geoms, state=so.State(np.array(q), np.zeros(model.nv)))


@pytest.mark.compiled
@pytest.mark.parametrize("dt", [1e-2, 5e-3])
def test_ropes_that_fall_over_one_another_gain_nothing(dt):
    scene = ropes(3)
    record = so.Simulator(scene, dt=dt, certify="off").run(duration=0.4)
    energy = record.kinetic + record.potential
    assert np.diff(energy).max() <= 2e-3 * energy[0]  # in a step that arrivals take 0.1 of
    assert energy[-1] <= 0.5 * energy[0]
