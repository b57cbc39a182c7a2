"""The first steps of a new process: how long they take, in what memory, and what is compiled.

``python tests/_compile/first_steps.py`` in any environment with the package; exits with 1 if
anything was compiled, which nothing is where a wheel has brought machine code.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from typing import Any

STARTED = time.perf_counter()


def megabytes() -> float:
    with open("/proc/self/status") as status:
        [line] = [line for line in status if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1024.0


def balls(so: Any) -> Any:
    """Two balls that fall on a floor, the scene of README."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -9.81))
    geoms = [so.Geom("floor", "world", so.HalfSpace(), restitution=0.5)]
    for name, height in (("lower", 0.5), ("upper", 1.0)):
        inertia = so.Inertia.sphere(0.1, mass=1.0)
        builder.add_body(name, joint="free", inertia=inertia, position=(0.0, 0.0, height))
        geoms.append(so.Geom(name, name, so.Sphere(0.1), restitution=0.5))
    return so.Scene(builder.build(), geoms)


def compiled() -> list[str]:
    """Names of the functions that Numba compiles from here on."""
    from numba.core import event

    names: list[str] = []

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            names.append(event.data["dispatcher"].py_func.__qualname__)

        def on_end(self, event: Any) -> None: ...

    event.register("numba:compile", Listener())
    return names


def main() -> int:
    import spatialops as so

    simulator_of, pendulum = so.Simulator, so.models.pendulum  # loaded when they are asked for
    imported = time.perf_counter()
    memory = [megabytes()]
    names = compiled()
    simulator = simulator_of(pendulum(3).scene(), dt=1e-3)
    simulator.run(duration=1e-3)
    stepped = time.perf_counter()
    memory.append(megabytes())
    record = simulator.run(duration=1.0)
    simulated = time.perf_counter()
    touching = simulator_of(balls(so), dt=1e-3).run(duration=1.0)
    found = {
        "import, s": imported - STARTED,
        "first step, s": stepped - imported,
        "to the first simulated second, s": simulated - STARTED,
        "memory after import, MB": memory[0],
        "memory after the first step, MB": memory[1],
        "compiled": names,
        "contacts": int(touching.contact_counts.sum()),
        "results": hashlib.sha256(
            b"".join(item.tobytes() for r in (record, touching) for item in (r.q, r.v))
        ).hexdigest(),
    }
    json.dump(found, sys.stdout, indent=2)
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
