"""Three events whose time is known: a ball's last bounce, a ball that rolls, a ladder that slips.

Run it with ``python -m examples.event_driven``.
"""

import numpy as np

import spatialops as so

GRAVITY, RADIUS = 9.81, 0.1


def ball(height: float, speed: float, *, friction: float, restitution: float) -> so.Scene:
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -GRAVITY))
    builder.add_body("ball", joint=so.Joint("free"), inertia=so.Inertia.sphere(RADIUS, mass=1.0))
    model = builder.build()
    q, v = model.neutral(), np.zeros(model.nv)
    q[2], v[3] = height, speed
    pair: so.collision.Coefficients = {"friction": friction, "restitution": restitution}
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), **pair),
        so.Geom("ball", "ball", so.Sphere(RADIUS), **pair),
    ]
    return so.Scene(model, geoms, state=so.State(q, v))


def ladder(angle: float, length: float = 2.0) -> so.Scene:
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -GRAVITY))
    rod = so.Inertia(1.0, (0.0, 0.0, 0.0), np.diag([length**2 / 12.0, length**2 / 12.0, 1e-4]))
    builder.add_body("ladder", joint=so.Joint("free"), inertia=rod)
    model = builder.build()
    tip, end = 0.01, (0.0, 0.0, 0.5 * length)
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), friction=0.0),
        so.Geom("wall", "world", so.HalfSpace((1.0, 0.0, 0.0)), friction=0.0),
        so.Geom("top", "ladder", so.Sphere(tip), position=end, friction=0.0),
        so.Geom("foot", "ladder", so.Sphere(tip), position=(0.0, 0.0, -0.5 * length), friction=0.0),
    ]
    q, lean = model.neutral(), angle - 0.5 * np.pi
    q[[0, 2]] = tip + 0.5 * length * np.cos(angle), tip + 0.5 * length * np.sin(angle)
    q[3:7] = 0.0, np.sin(0.5 * lean), 0.0, np.cos(0.5 * lean)
    return so.Scene(model, geoms, state=so.State(q, np.zeros(model.nv)))


def run(scene: so.Scene, duration: float) -> so.Record:
    # dt is only how often a row is recorded; below 1e-6 m/s a bounce is the last one.
    return so.Simulator(scene, dt=0.1, time=so.EventDriven(), impact_threshold=1e-6).run(
        duration=duration
    )


def main(duration: float = 2.0) -> dict[str, so.Record]:
    e = 0.5
    mu = 0.3
    speed = 2.0
    records = {
        "bounce": run(ball(RADIUS + 1.0, 0.0, friction=0.0, restitution=e), duration),
        "roll": run(ball(RADIUS, speed, friction=mu, restitution=0.0), duration),
        "ladder": run(ladder(np.radians(70.0)), duration),
    }
    fall = np.sqrt(2.0 / GRAVITY)
    zeno = fall + 2.0 * e * GRAVITY * fall / (GRAVITY * (1.0 - e))
    rolls = 2.0 * speed / (7.0 * mu * GRAVITY)
    for name, record in records.items():
        print(f"{name}: {len(record.log)} events")
        print(*(f"  {event}" for event in [*record.log[:3], *record.log[3:][-1:]]), sep="\n")
    print(f"the bounces end at {zeno:.9f} s, the ball rolls from {rolls:.9f} s on")
    return records


if __name__ == "__main__":
    main()
