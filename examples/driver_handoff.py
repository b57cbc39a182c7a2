"""One hand lifts an impact driver and hands it to the other, with varied mass, friction and places.

Run it with ``python -m examples.driver_handoff``; ``spatialops driver-handoff`` is the same with a
report.
"""

from pathlib import Path

from spatialops.control.manipulation.dual_arm.driver_handoff import driver_handoff, judge, phases
from spatialops.control.manipulation.dual_arm.report import energy_balance
from spatialops.control.manipulation.dual_arm.run import Run, run_task
from spatialops.control.manipulation.dual_arm.task import Variation


def main(
    stop_after: str = "", seeds: tuple[int, ...] = (1,), out: str | Path = "out/driver_handoff"
) -> list[Run]:
    # 1. What will happen: phases, and what must be so before the next one begins.
    for phase in phases():
        print(f"  {phase.name:<16} until {'; '.join(guard.words for guard in phase.until)}")

    # 2. The nominal task, then random variations that the controller is not told about.
    runs = []
    for variation in (Variation(), *(Variation.random(seed) for seed in seeds)):
        print(f"driver of {1.8 * variation.mass:.2f} kg, friction times {variation.friction:.2f}")
        run = run_task(driver_handoff(variation), stop_after=stop_after)
        runs.append(run)
        if run.stopped:
            continue

        # 3. The record is judged, not the controller's word for it.
        verdict = judge(run)
        print("  " + ("handed over" if verdict["succeeded"] else "; ".join(verdict["faults"])))
        if verdict["succeeded"]:
            slip, height = 1e3 * verdict["slip"], 100 * verdict["height"]
            print(f"  slip {slip:.4f} mm, {height:.1f} cm above the bench")
        balance = energy_balance(run)
        lost = -balance["friction_and_impacts"]
        print(f"  motors {balance['motors']:.2f} J, friction and impacts {lost:.3f} J")

    # 4. Look at it.
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    runs[0].record.save(folder / "record.npz")
    runs[0].record.replay(folder / "replay.html")
    return runs


if __name__ == "__main__":
    main()
