"""The function that a sweep over a robot's file calls: it is dropped on a floor."""

from __future__ import annotations

from spatialops.io import read
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.scene.loader import scene_of
from spatialops.simulation.scene.placement import raised
from spatialops.simulation.simulator import Simulator


def drop(
    file: str,
    friction: float = 0.5,
    height: float = 0.05,
    dt: float = 1e-3,
    duration: float = 1.0,
    fixed_base: bool = False,
) -> PlainData:
    """What becomes of a robot that falls onto a floor, as `spatialops simulate` does it.

    Parameters
    ----------
    file : str
        URDF or MJCF.
    friction : float
        Of the floor, where the file has none of its own. Default 0.5.
    height : float
        Of its lowest point above the floor, m. Default 0.05.
    dt, duration : float
        s. Default 1 ms, 1 s.
    fixed_base : bool
        Whether the root of a URDF is fixed to the world. Default False.

    Returns
    -------
    dict
        Summary of the record, and the last q and v.
    """
    description = read(file)
    urdf = file.lower().endswith(".urdf")
    grounded = any(spec.kind == "half_space" and spec.collides for spec in description.shapes)
    scene = scene_of(
        description,
        floating_base=urdf and not fixed_base,
        floor=False if grounded else friction,
        self_collision=not urdf,
    )
    scene.state = raised(scene, height)
    record = Simulator(scene, dt=dt).run(duration=duration, record=False)
    summary = record.summary()
    del summary["duration"]  # which is a parameter
    return {**summary, "q": record.final.q.tolist(), "v": record.final.v.tolist()}
