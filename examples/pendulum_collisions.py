"""A pendulum of many links swings into a floor and a wall: from a model to pictures in one page.

Run it with ``python -m examples.pendulum_collisions``. It is the experiment of Jain, *Minimal
Coordinates Formulation of Contact Dynamics*, section 8. Needs matplotlib: `pip install
spatialops[plots]`.
"""

from pathlib import Path

import spatialops as so


def main(links: int = 12, duration: float = 3.0, out: str | Path = "out/pendulum") -> so.Record:
    # 1. A model is a tree of bodies; a scene adds the shapes that may touch, with their friction
    # and restitution. Spheres that share a pin are never tested against each other.
    pendulum = so.models.pendulum(links)
    scene = pendulum.scene(friction=0.5, restitution=0.7)
    pairs = f"{scene.n_pairs} pairs of shapes that may touch"
    print(f"{links} links of radius {pendulum.radius:.3g} m, {pairs}")

    # 2. A simulator steps a scene. Contact is a complementarity problem in operational space, by
    # default with friction along four directions; impacts are met at their own time within a step.
    simulator = so.Simulator(scene, dt=1e-4)

    # 3. One step, to look inside. `state` is (q, v, time); `info` says what happened and how well
    # it was solved.
    state, info = simulator.step(scene.state)
    seen = f"{len(info.contacts)} contacts, residual {info.residual:.1e}"
    print(f"after one step: t = {state.time:g} s, {seen}")

    # 4. A run is many steps in one compiled loop. Its record keeps states, contacts, impacts and
    # energies.
    record = simulator.run(scene.state, duration, record_every=10)
    for time, count, speed, before, after, _ in record.events:
        lost = f"{before - after:.2f} J lost"
        print(f"  impact at {time:.4f} s: {count:.0f} contact(s), {speed:.2f} m/s, {lost}")

    # 5. Every run says how far it can be trusted; with certify="raise", the default, a bad step
    # would have stopped it.
    facts = record.summary()
    print(f"{facts['steps']} steps, {facts['collisions']} collisions")
    print(f"worst residual {facts['residual_max']:.1e}")
    print(f"energy {facts['energy_start']:.1f} J -> {facts['energy_end']:.1f} J")

    # 6. Records are saved, loaded again (`so.load_record`), drawn, and replayed in 3-D in any
    # browser.
    folder = Path(out)
    record.save(folder / "record.npz")
    for kind in ("motion", "frames", "energy", "contacts"):
        record.plot(folder / f"{kind}.png", kind)
    record.replay(folder / "replay.html")
    print(f"pictures and replay.html are in {folder}")
    return record


if __name__ == "__main__":
    main()
