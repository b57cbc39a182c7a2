"""Bodies of every shape fall onto a terrain and come to rest, or roll away.

Run it with ``python -m examples.shapes``.
"""

from pathlib import Path

import numpy as np

import spatialops as so
from spatialops.collision import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HeightField,
    Sphere,
    shape_inertia,
)
from spatialops.collision.shapes import Shape


def main(duration: float = 2.0, out: str | Path = "out/shapes") -> so.Record:
    # 1. Shapes: closed forms, a convex hull of points, and a height field that does not move.
    rng = np.random.default_rng(4)
    shapes: dict[str, Shape] = {
        "box": Box((0.4, 0.3, 0.2)),
        "cylinder": Cylinder(0.15, 0.3),
        "cone": Cone(0.2, 0.35),
        "capsule": Capsule(0.1, 0.25),
        "ellipsoid": Ellipsoid((0.2, 0.15, 0.1)),
        "ball": Sphere(0.15),
        "stone": ConvexHull(rng.uniform(-0.2, 0.2, (14, 3))),
    }
    x = np.linspace(-2.0, 2.0, 33)
    ground = HeightField(0.08 * (x[:, None] ** 2 + x[None, :] ** 2), (4.0, 4.0))

    # 2. One free body each; mass and inertia from the shape by density.
    builder = so.TreeBuilder()
    for name, shape in shapes.items():
        builder.add_body(name, joint=so.Joint("free"), inertia=shape_inertia(shape, density=700.0))
    model = builder.build()
    q = model.neutral()
    for i, name in enumerate(shapes):
        turn = 2.0 * np.pi * i / len(shapes)
        q[model.q_slice(name)][:3] = 0.9 * np.cos(turn), 0.9 * np.sin(turn), 0.5 + 0.1 * i

    # 3. Geoms put shapes on bodies and on the world, with friction and restitution.
    geoms = [
        so.Geom(name, name, shape, friction=0.6, restitution=0.1) for name, shape in shapes.items()
    ]
    geoms.append(so.Geom("ground", "world", ground, friction=0.6, restitution=0.1))
    scene = so.Scene(model, geoms, state=so.State(q, np.zeros(model.nv)))

    # 4. The same compiled loop as for spheres: contacts with faces are manifolds of up to four
    # points.
    record = so.Simulator(scene, dt=1e-3).run(duration=duration)
    facts = record.summary()
    print(f"{facts['collisions']} collisions, at most {facts['contacts_max']} contacts at once")
    print(f"energy {facts['energy_start']:.2f} J -> {facts['energy_end']:.2f} J")
    deepest = 1e3 * facts["penetration_max"]
    print(f"largest penetration {deepest:.3g} mm, residual {facts['residual_max']:.1e}")
    record.save(Path(out) / "record.npz")
    record.replay(Path(out) / "replay.html")
    print(f"record.npz and replay.html are in {out}")
    return record


if __name__ == "__main__":
    main()
