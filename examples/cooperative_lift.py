"""The dual-arm robot lifts a box between its palms: forces in exact cones, least losses, no slip.

Run it with ``python -m examples.cooperative_lift``.
"""

from pathlib import Path

import numpy as np

import spatialops as so
from spatialops.algebra.rotation import from_quaternion
from spatialops.control import (
    Actuation,
    FrictionConeController,
    HeldContact,
    HeldContacts,
    Motors,
    PoseTask,
    Rest,
    Tracking,
)
from spatialops.tree.forest import Planted, forest

RADIUS, MIDDLE = 0.05, (0.0, 0.0, 0.02)  # m, of round palms, in their frames
PALMS = (("left_palm", 1.0), ("right_palm", -1.0))  # the box is to the right of the left palm
PAIR: so.collision.Coefficients = {"friction": 0.6, "restitution": 0.0, "torsion": 0.02}


def main(
    duration: float = 1.0, lift: float = 0.05, out: str | Path = "out/cooperative_lift"
) -> so.Record:
    # 1. Robot and box are one model; the box has no motors. It just fits between the palms.
    robot = so.models.dual_arm()
    palms = so.node_positions(
        robot.model, robot.state.q, [so.Node(name, MIDDLE) for name, _ in PALMS]
    )
    edges = (0.15, palms[0, 1] - palms[1, 1] - 2.0 * RADIUS, 0.15)
    builder = so.TreeBuilder()
    builder.add_body(
        "box", joint=so.Joint("free", name="box"), inertia=so.Inertia.box(edges, mass=2.0)
    )
    model = forest([Planted(robot.model), Planted(builder.build())])
    q = np.concatenate([robot.state.q, palms.mean(axis=0), [0.0, 0.0, 0.0, 1.0]])
    start = so.State(q, np.zeros(model.nv))
    geoms = [so.Geom(name, name, so.Sphere(RADIUS), position=MIDDLE, **PAIR) for name, _ in PALMS]
    geoms.append(so.Geom("box", "box", so.collision.Box(edges), **PAIR))
    scene = so.Scene(model, geoms, state=start)

    # 2. Contacts between palms and box, where they are now: soft ones, which resist spinning too.
    # The controller counts on nine tenths of the friction that there is.
    def grips(time, state):
        turn = from_quaternion(state.q[-4:])
        nodes = [so.Node(name, MIDDLE) for name, _ in PALMS]
        touches = (so.node_positions(model, state.q, nodes) - state.q[-7:-4]) @ turn
        contacts = []
        for node, touch, (name, side) in zip(nodes, touches, PALMS, strict=True):
            place = so.Node("box", (touch[0], 0.5 * side * edges[1], touch[2]))
            contact = HeldContact(
                node=node,
                other=place,
                normal=side * turn[:, 1],
                tangent=turn[:, 0],
                least=1.0,
                radius=RADIUS,
                friction=0.54,
                torsion=0.018,
                name=name,
            )
            contacts.append(contact)
        return HeldContacts(model, contacts)

    # 3. The task is the box's; arms stay near where they are.
    task, rate = PoseTask(so.Node("box")), np.pi / duration
    x, way = task.motion(model, start).x, np.array([0.1, 0.15, -0.05, 0.0, 0.0, lift])

    def path(time):
        wave = (
            0.5 * (1 - np.cos(rate * time)),
            0.5 * rate * np.sin(rate * time),
            0.5 * rate**2 * np.cos(rate * time),
        )
        return x + way * wave[0], way * wave[1], way * wave[2]

    motors = Motors(Actuation(model), torque_constant=0.1, resistance=0.5, gear=80.0)
    controller = FrictionConeController(
        model,
        [Tracking(task, path, stiffness=400.0)],
        motors,
        contacts=grips,
        posture=Rest(q=q, stiffness=4.0, damping=4.0),
    )
    controller(0.0, start)
    told = controller.explain()
    print(f"squeezing with {told.forces[0, 0]:.1f} N, {told.power:.1f} W")
    print(f"it costs to keep: {', '.join(told.binding)}")

    # 4. The simulator knows nothing of the controller: exact cones, unilateral contact.
    record = so.Simulator(scene, law="cone", dt=1e-3).run(start, duration, controller=controller)
    final = so.State(record.q[-1], record.v[-1])
    error = np.abs(task.motion(model, final).x - path(duration)[0]).max()
    slip = np.abs(grips(duration, final).jacobian(final.q) @ final.v).max()
    print(f"lifted by {final.q[-5] - q[-5]:.4f} m, off by {error:.1e} (m, rad)")
    print(f"palms move on the box at {slip:.1e} m/s")
    record.save(Path(out) / "record.npz")
    print(f"the record is in {out}")
    return record


if __name__ == "__main__":
    main()
