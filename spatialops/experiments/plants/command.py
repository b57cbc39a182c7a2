"""What `spatialops reproduce zapolsky --plant mujoco` runs and prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spatialops.bench.walkers import FILES
from spatialops.experiments.plants.trotting import PLANTS, trot
from spatialops.simulation.plain_data import PlainData

CONTROLLERS = ("cone", "qp", "qp-released", "qp-no-slip", "lcp", "lcp-no-slip")


def trots(
    robots: Sequence[str],
    names: Sequence[str],
    *,
    duration: float,
    period: float,
    horizon: float | None,
    say: Callable[[str], None],
) -> list[PlainData]:
    """A row for each robot, controller and plant of `PLANTS`; default: all robots of files."""
    found = []
    for robot in robots or tuple(FILES):
        for name in names or CONTROLLERS:
            for plant, suffering in PLANTS.items():
                made = trot(
                    robot, name, suffering, duration=duration, period=period, horizon=horizon
                )
                row = {"robot": robot, "controller": name, "plant": plant, **made.summary()}
                found.append(row)
                end = f"fell at {row['seconds']:.2f} s" if row["fell"] else "stays up"
                say(
                    f"  {robot:<9}{name:<13}{plant:<15}error {row['position_error']:.4f} rad, "
                    f"largest torque {row['torque']:.3g} N m, "
                    f"|d tau/dt| {row['torque_derivative']:.3g} N m/s, "
                    f"{row['milliseconds_median']:.2f} ms, {end}"
                )
    return found
