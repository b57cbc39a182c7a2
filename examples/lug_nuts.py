"""A driver is handed over, turns four lug nuts off a hub by contact, and the wheel comes off.

Run it with ``python -m examples.lug_nuts``; two minutes on one core.
Needs matplotlib: `pip install spatialops[plots]`.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from spatialops.control.manipulation.dual_arm import wheel_removal
from spatialops.control.manipulation.dual_arm.nut_removal import N_NUTS, THREAD_TORQUE
from spatialops.control.manipulation.dual_arm.nut_report import contact_torques, judge
from spatialops.control.manipulation.dual_arm.nut_run import NutRun, removal_after, run_nuts
from spatialops.control.manipulation.dual_arm.run import run_task
from spatialops.models.lug_nut import PITCH


def main(limit: float = 90.0, out: str | Path = "out/lug_nuts") -> dict[str, object]:
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)

    # 1. The hand-over, then nut after nut. A nut is a screw joint while it is on its thread, and a
    # free body from the end of the thread on: one scene follows the other.
    run = run_nuts(limit=limit)
    for phase in run.controller.hands.script.passed:
        print(f"  {phase.begin:6.2f} s  {phase.name}")
    verdict = judge(run)
    print("nuts off" if not verdict.faults else "; ".join(verdict.faults))
    turned = ", ".join(f"{turns:.2f}" for turns in verdict.turns)
    print(f"  turns on the thread: {turned}; off pitch times angle by {verdict.screwing:.1e} m")
    torques = ", ".join(f"{torque:.4f}" for torque in verdict.torque)
    print(
        f"  torque of contact along the screw: {torques} N m, the thread rubs with "
        f"{THREAD_TORQUE} N m"
    )
    for i, span in enumerate(run.spans):
        span.record.save(folder / f"nuts{i}.npz")
        span.record.replay(folder / f"nuts{i}.html")
    draw(run, folder / "nuts.png")
    if verdict.faults:
        return {"run": run, "verdict": verdict}

    # 2. Nothing holds the wheel any more but the hub: it comes off as always.
    wheel = run_task(removal_after(run))
    removed = wheel_removal.judge(wheel)
    print("wheel off" if removed["succeeded"] else "; ".join(removed["faults"]))
    wheel.record.save(folder / "wheel.npz")
    wheel.record.replay(folder / "wheel.html")
    return {"run": run, "verdict": verdict, "wheel": removed}


def draw(run: NutRun, path: Path) -> None:
    """How far nuts have come along their studs, and what contacts do along their screws."""
    figure, (upper, lower) = plt.subplots(
        2, 1, figsize=(8.0, 5.0), sharex=True, layout="constrained"
    )
    for i in range(N_NUTS):
        spans = [span for span in run.spans if span.threaded[i]]
        times = np.concatenate([span.record.times for span in spans])
        columns = [span.scene.model.q_slice(f"nut{i}").start for span in spans]
        angles = [span.record.q[:, k] for span, k in zip(spans, columns, strict=True)]
        upper.plot(times, 1e3 * PITCH * np.concatenate(angles), label=f"nut {i}")
        at, torques = contact_torques(run, i)
        lower.plot(at, torques, ".", markersize=2)
    lower.axhline(THREAD_TORQUE, color="0.5", linewidth=0.8, label="friction of the thread")
    upper.set(ylabel="along the stud, mm")
    lower.set(xlabel="time, s", ylabel="torque of contact, N m", ylim=(-0.1, 1.5 * THREAD_TORQUE))
    upper.legend()
    lower.legend()
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
