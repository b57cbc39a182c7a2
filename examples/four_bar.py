"""A four-bar linkage as a graph with a loop: it swings, is driven, and falls onto a floor.

Run it with ``python -m examples.four_bar``.
"""

from pathlib import Path

import numpy as np

import spatialops as so


def linkage() -> tuple[so.Model, so.Loops]:
    # 1. Bodies, and joints between any two of them: four bars are a loop. A spanning tree of the
    # graph becomes the model; the joint that it cuts becomes a closure. The choice can be seen, and
    # overruled with `cut`.
    graph, hinge = so.GraphBuilder(), so.Joint("revolute", axis="y")
    for name, length in (("crank", 0.3), ("coupler", 0.8), ("rocker", 0.6)):
        rod = so.Inertia.box((length, 0.05, 0.05), mass=length)
        graph.add_body(name, rod.shifted((0.5 * length, 0.0, 0.0)))
    graph.add_joint("crank", "world", "crank", hinge, position_a=(0.0, 0.0, 0.6))
    graph.add_joint("rocker", "world", "rocker", hinge, position_a=(0.9, 0.0, 0.6))
    graph.add_joint("elbow", "crank", "coupler", hinge, position_a=(0.3, 0.0, 0.0))
    graph.add_joint(
        "knee", "coupler", "rocker", hinge, position_a=(0.8, 0.0, 0.0), position_b=(0.6, 0.0, 0.0)
    )
    model, loops = graph.build()
    closed = f"closed at {', '.join(graph.cut_joints)}: {loops.n_rows} rows"
    print(f"tree of {', '.join(graph.tree_joints)}; {closed}")
    return model, loops


def main(duration: float = 5.0, out: str | Path = "out/four_bar") -> dict[str, so.Record]:
    model, loops = linkage()

    # 2. A guess becomes a closed configuration, with the crank where it is.
    guess = np.zeros(model.nq)
    for joint, angle in (("crank", -1.0), ("rocker", 2.0), ("elbow", 2.0)):
        if joint in model.joint_names:
            guess[model.q_slice(joint)] = angle
    q = so.close_loops(model, loops, guess, hold=["crank"])

    # 3. It has one degree of freedom: three joints, five rows, three of which a planar mechanism
    # does not need.
    still = np.zeros(model.nv)
    motion = so.constrained_dynamics(model, loops, q, still, still)
    print(f"{model.nv - motion.rank} degree of freedom; redundant: {', '.join(motion.redundant)}")
    forces = so.loop_forces(model, loops, q, motion.multipliers)
    print(f"let go, the knee carries {np.linalg.norm(forces[0, 3:]):.3f} N")

    # 4. Swinging: energy is kept to the order of the integrator, the loop stays closed to rounding.
    records = {}
    scene = so.Scene(model, loops=loops, state=so.State(q, still))
    records["swing"] = swing = so.Simulator(scene, dt=1e-3, integrator="rk4").run(
        duration=duration, record_every=10
    )
    drift = np.abs(swing.energy - swing.energy[0]).max() / np.ptp(swing.kinetic)
    gap = swing.closure_errors.max()
    print(f"swinging: energy drifts by {drift:.1e}, the loop opens by {gap:.1e}")

    # 5. Driven: a motor is a closure with a prescribed rate; its torque is the closure's force.
    motor = so.Loop(kind="coupler", joints={"crank": 1.0}, rate=3.0, name="motor")
    driven = so.Scene(model, loops=[*loops.items, motor])
    start = so.close_loops(model, driven.loops, q, still)
    records["drive"] = drive = so.Simulator(driven, dt=1e-3).run(
        so.State(*start), duration, record_every=10
    )
    torque = drive.loop_forces[1:, driven.loops.rows("motor").start]
    print(f"driven at 3 rad/s: the motor gives {torque.min():.2f} to {torque.max():.2f} N m")

    # 6. Falling onto a floor: contacts answer with the loops closed.
    bouncy: so.collision.Coefficients = {"restitution": 0.5, "friction": 0.4}
    geoms = [
        so.Geom("knee", "coupler", so.Sphere(0.05), position=(0.8, 0.0, 0.0), **bouncy),
        so.Geom("floor", "world", so.HalfSpace(), **bouncy),
    ]
    floor = so.Scene(model, geoms, loops=loops, state=so.State(q, still))
    records["fall"] = fall = so.Simulator(floor, dt=1e-3).run(duration=duration, record_every=10)
    facts = fall.summary()
    energies = f"{facts['energy_start']:.2f} -> {facts['energy_end']:.2f} J"
    print(f"falling: {facts['collisions']} collisions, energy {energies}")

    folder = Path(out)
    for name, record in records.items():
        record.save(folder / f"{name}.npz")
    print(f"records are in {folder}")
    return records


if __name__ == "__main__":
    main()
