"""Soaks: scenes that run for long, watched for what creeps.

    python -m tests.trust.soak --seconds 300 [--only stack]
    python -m tests.trust.soak --steps 10_000_000

Each of four scenes gets its share of the time, or as many steps, in rounds. A round reports the
largest penetration and residual, energy, memory and time of a step; the soak fails where the second
half of the rounds has more of one of them than the first allows, or a contact problem is not
solved. That is stored, for `spatialops solve FILE`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import spatialops as so
from spatialops.errors import SpatialOpsError
from tests.support.runs import boxes

_ROUND = 20_000  # steps
_LEAST = 4  # rounds
_CREEP = 1.5  # by which penetration may differ between the halves, and
_FLOOR = 1e-7  # m, below which nobody asks
_GROWTH = 20.0  # MB that memory may grow from the end of the first half
_SLOWER = 1.5  # medians of step times, on a machine that does other things
_GAIN = 1e-6  # of its scale, by which energy may grow in a scene that nothing drives
_TABLE = 0.95  # m, its height: a few millimetres below the fingertips, which shaking presses on it


class Soak(NamedTuple):
    """A scene, its step, and what drives it.

    Attributes
    ----------
    driven : bool
        Whether a controller may bring in energy.
    """

    scene: so.Scene
    dt: float
    controller: Callable[[float, so.State, object], object] | None = None
    driven: bool = False


class Round(NamedTuple):
    """What a round of steps left behind."""

    failed: int
    contacts: float  # of its last step
    penetration: float
    residual: float
    energy: float
    memory: float
    step: float  # s


def _pendulum() -> Soak:
    return Soak(so.models.pendulum(12).scene(), 1e-3)


def _stack() -> Soak:
    return Soak(boxes(5, speed=0.0), 2e-3)


def _quadruped() -> Soak:
    scene = so.models.quadruped().scene()
    return Soak(scene, 1e-3, _holding(scene), driven=True)


def _dual_arm() -> Soak:
    table = so.Geom(
        "table", "world", so.Box((0.4, 0.8, 0.04)), position=(0.7, 0.0, _TABLE - 0.02), friction=0.6
    )
    scene = so.models.dual_arm().scene([table])
    return Soak(scene, 1e-3, _holding(scene), driven=True)


def _holding(scene: so.Scene) -> Callable[[float, so.State, object], object]:
    """Joints that are held where they are and shaken slowly; free bodies are left alone."""
    model = scene.model
    rest = scene.state.q
    moved = [
        (model.q_slice(name).start, model.v_slice(name).start)
        for name, kind in zip(model.joint_names, model.joint_kinds, strict=True)
        if kind in ("revolute", "prismatic")
    ]
    of_q, of_v = (np.array(indices) for indices in zip(*moved))
    inertia = np.diag(so.mass_matrix(model, rest))[of_v]

    def control(t: float, state: so.State, contacts: object) -> object:
        tau = np.zeros(model.nv)
        target = rest[of_q] + 0.05 * np.sin(2.0 * t + np.arange(len(of_q)))
        own = 400.0 * (target - state.q[of_q]) - 40.0 * state.v[of_v]
        tau[of_v] = inertia * own
        return tau

    return control


SOAKS: dict[str, Callable[[], Soak]] = {
    "pendulum": _pendulum,
    "stack": _stack,
    "quadruped": _quadruped,
    "dual arm": _dual_arm,
}


class Length(NamedTuple):
    """How long a scene is run: until the first of the two is reached, at least four rounds."""

    seconds: float
    steps: float


def soak(name: str, length: Length, out: Path) -> list[str]:
    """Run a scene for a while and print what it did; what is wrong with it."""
    own = SOAKS[name]()
    simulator = so.Simulator(own.scene, dt=own.dt)
    state = own.scene.state
    rounds: list[Round] = []
    until = time.monotonic() + length.seconds
    most = max(_LEAST, length.steps / _ROUND)
    while len(rounds) < most and (time.monotonic() < until or len(rounds) < _LEAST):
        begin = time.process_time()
        failed = 0
        try:
            record = simulator.run(state, _ROUND * own.dt, controller=own.controller, record=False)
        except SpatialOpsError as error:
            failed = 1
            record = error.record
            problem = getattr(error, "problem", None)
            if hasattr(problem, "save"):
                problem.save(out / f"{name}-{len(rounds)}.npz")
            print(f"{name}: {error}", flush=True)
        taken = (time.process_time() - begin) / _ROUND
        if record is None or failed:
            return [f"{name}: ended after {len(rounds)} rounds"]
        state = record.final
        rounds.append(_round(own, record, failed, taken))
    _report(name, rounds)
    return _faults(name, own, rounds)


def _round(own: Soak, record: so.Record, failed: int, taken: float) -> Round:
    energy = so.energy(own.scene.model, record.final.q, record.final.v)
    return Round(
        failed,
        float(record.contact_counts[-1]),
        float(record.penetrations.max()),
        float(record.residuals.max()),
        float(energy.kinetic + energy.potential),
        _memory(),
        taken,
    )


def _report(name: str, rounds: list[Round]) -> None:
    first, last = rounds[0], rounds[-1]
    print(
        f"{name}: {len(rounds) * _ROUND:,} steps, {sum(r.failed for r in rounds)} failed solves, "
        f"{np.mean([r.contacts for r in rounds]):.1f} contacts\n"
        f"  penetration {first.penetration:.1e} -> {last.penetration:.1e} m, at most "
        f"{max(r.penetration for r in rounds):.1e}; residual at most "
        f"{max(r.residual for r in rounds):.1e}\n"
        f"  energy {first.energy:.9g} -> {last.energy:.9g} J, memory {first.memory:.0f} -> "
        f"{last.memory:.0f} MB, step {1e6 * first.step:.1f} -> {1e6 * last.step:.1f} us",
        flush=True,
    )


def _faults(name: str, own: Soak, rounds: list[Round]) -> list[str]:
    """What grew from the first half of the rounds to the second."""
    half = len(rounds) // 2
    before, after = rounds[:half], rounds[half:]
    faults = []
    allowed = max(_CREEP * max(r.penetration for r in before), _FLOOR)
    if max(r.penetration for r in after) > allowed:
        faults.append("penetration grows")
    if after[-1].memory - before[-1].memory > _GROWTH:
        faults.append("memory grows")
    if np.median([r.step for r in after]) > _SLOWER * np.median([r.step for r in before]):
        faults.append("steps take longer")
    energies = np.array([r.energy for r in rounds])
    scale = max(np.abs(energies).max(), 1.0)
    if not own.driven and (energies[half:].max() - energies[:half].max()) > _GAIN * scale:
        faults.append("energy grows")
    return [f"{name}: {fault}" for fault in faults]


def _memory() -> float:
    """Memory of this process now, MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1e3


def main() -> int:
    """The command; its status is 1 where something crept."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, help="in all; default 120, or as steps take")
    parser.add_argument("--steps", type=float, default=np.inf, help="of each scene, at most")
    parser.add_argument("--only", choices=SOAKS)
    parser.add_argument("--out", type=Path, default=Path("out/soak"))
    own = parser.parse_args()
    own.out.mkdir(parents=True, exist_ok=True)
    names = [own.only] if own.only else list(SOAKS)
    seconds = own.seconds or (120.0 if np.isinf(own.steps) else np.inf)
    length = Length(seconds / len(names), own.steps)
    faults = [found for name in names for found in soak(name, length, own.out)]
    print("\n".join(faults) or "nothing crept")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
