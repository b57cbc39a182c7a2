"""Pictures of a recorded run: what `Record.plot` and `Record.replay` draw."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from spatialops._arrays import Array, BoolArray, IntArray, scalar
from spatialops.dynamics.jacobian import body_poses, node_positions, node_velocities
from spatialops.errors import RecordError
from spatialops.simulation import _layout as at
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.records.acting_contacts import (
    acting_together,
    geom_forces,
    geom_impacts,
)
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.coordinate_names import Named, coordinate_names, force_names, velocity_names
from spatialops.tree.node import Node
from spatialops.view import plots
from spatialops.view.curves import Marks, Panel, named_curves
from spatialops.view.motion import fixtures, motion, moving_shapes
from spatialops.view.replay import write_replay
from spatialops.view.replay_shapes import reach
from spatialops.view.shapes import outline

if TYPE_CHECKING:
    from spatialops.simulation.records.record import Record

# Impacts closer than a thousandth of the run would be drawn on top of each other.
_GRAINS = 1000.0
_LEAST_GRAIN = 1e-12  # s

_BRIEFLY = ("steps", "collisions", "energy")  # of a summary, where two runs share a card
_ROWS = 4000  # points of a curve: more than a figure has pixels


def plot_record(record: Record, path: str | os.PathLike[str], kind: str = "motion") -> Path:
    """Draw a run.

    Parameters
    ----------
    record : Record
        What to draw.
    path : path-like
        The figure, png, svg or pdf by its suffix.
    kind : {"motion", "height", "frames", "energy", "contacts", "forces"}
        Joints by name: coordinates, velocities, and torques where a sensor reads them; height and
        vertical velocity of the last body ([J] figure 6); a series of side views ([J] figure 5);
        energies; contacts with their penetration and residual; contact forces by geom.

    Returns
    -------
    Path
        Of the figure.

    Raises
    ------
    RecordError
        For an unknown kind, or if the figure cannot be written.
    MissingLibraryError
        Without the extra `plots`.
    """
    if kind not in tuple(KINDS):
        raise RecordError(f"kind: expected one of {', '.join(KINDS)}, got {kind!r}")
    return KINDS[kind](record, path)


def replay_record(
    record: Record,
    path: str | os.PathLike[str],
    *,
    rate: float = 60.0,
    title: str = "",
    beside: Record | None = None,
) -> Path:
    """Write a self-contained HTML page that replays a run in 3-D.

    Parameters
    ----------
    record : Record
        What to show.
    path : path-like
        The page.
    rate : float
        Frames a second of simulated time; no more than were recorded.
    title : str
        Title of the page.
    beside : Record, optional
        A second run, shown beside the first by the same clock.

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    ArgumentError
        If `rate` is not positive, or `beside` is no record.
    RecordError
        If the page cannot be written.
    """
    shown = motion(record, scalar(rate, "rate", low=0.0, strict=True), beside=beside)
    told = (
        summary_rows(record)
        if beside is None
        else {**_numbered(1, summary_rows(record)), **_numbered(2, summary_rows(beside))}
    )
    return write_replay(
        path,
        times=shown.times,
        shapes=shown.shapes,
        positions=shown.centres,
        quaternions=_quaternions(shown.turns),
        contacts=shown.contacts,
        fixtures=shown.fixtures,
        title=title or ("Replay of a run" if beside is None else "Two runs side by side"),
        summary=told,
        frames=(shown.origins, _quaternions(shown.body_turns)),
        curves=shown.curves,
        lines=shown.lines,
        view="start" if beside is None else "free",
    )


def _numbered(run: int, rows: dict[str, str]) -> dict[str, str]:
    """Some rows of one of two runs."""
    return {f"{run}: {label}": rows[label] for label in _BRIEFLY}


def _quaternions(turns: Array) -> Array:
    """Of rotations (F, B, 3, 3): (F, B, 4)."""
    flat = Rotation.from_matrix(turns.reshape(-1, 3, 3)).as_quat()
    return np.asarray(flat.reshape(*turns.shape[:2], 4))


def summary_rows(record: Record) -> dict[str, str]:
    """Figures of a run as text with units, for people."""
    data, dt = record.summary(), float(record.metadata["dt"])
    loops = (
        {"loops": f"open by at most {data['closure_error_max']:z.1e} m or rad"}
        if len(record.scene.loops)
        else {}
    )
    return {
        "steps": f"{data['steps']:,} of {1e3 * dt:.4g} ms, {record.metadata['integrator']}",
        "collisions": f"{data['collisions']:,}",
        "contacts": f"at most {data['contacts_max']} at once, "
        f"{_counted(data['contact_problems'], 'contact problem')}",
        "largest penetration": f"{1e3 * data['penetration_max']:z.3g} mm",
        "energy": f"{data['energy_start']:z.2f} J at the start, "
        f"{data['energy_end']:z.2f} J at the end",
        "worst residual": f"{data['residual_max']:z.1e} relative",
        "warm starts": f"{data['warm_started']:,}",
        "solver fallbacks": f"{data['solver_fallbacks']:,}",
        **loops,
        **_joint_rows(data),
    }


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def _joint_rows(data: PlainData) -> dict[str, str]:
    """What stops, dry friction and effort limits of joints did, where they did anything."""
    rows = {}
    if data["joints_stopped"]:
        met = _counted(len(data["joints_stopped"]), "joint")
        most = f"{data['stop_impulse_max']:z.3g} N s or N m s"
        rows["joint stops"] = f"{met} met theirs, impulses a row up to {most}"
    if data["dry_friction_impulse_max"] > 0.0:
        rows["joint friction"] = (
            f"impulses a row up to {data['dry_friction_impulse_max']:z.3g} N s or N m s"
        )
    if rows:
        rows["their work"] = f"{data['joint_work']:z.3g} J"
    if data["effort_clipped"]:
        rows["effort limits"] = f"reached by {_counted(len(data['effort_clipped']), 'joint')}"
    return rows


def _draw_height(record: Record, path: str | os.PathLike[str]) -> Path:
    rows = _thinned(record)
    model = record.scene.model
    (name, node) = _last(record.scene)
    heights = np.array([node_positions(model, record.q[row], [node])[0, 2] for row in rows])
    speeds = np.array(
        [node_velocities(model, record.q[row], record.v[row], [node])[0, 5] for row in rows]
    )
    grain = max(float(record.times[-1] - record.times[0]) / _GRAINS, _LEAST_GRAIN)
    impacts = record.events[:, at.EVENT_TIME]
    impacts = impacts[np.unique((impacts / grain).round(), return_index=True)[1]]
    curves = {name: (heights, speeds)}
    return plots.height_and_velocity(path, times=record.times[rows], curves=curves, impacts=impacts)


def _draw_frames(record: Record, path: str | os.PathLike[str]) -> Path:
    rows = np.unique(
        np.linspace(0, len(record.times) - 1, min(len(record.times), 240)).round().astype(np.int64)
    )
    shapes, centres, turns = moving_shapes(record, rows, "both", "collision")
    robot = plots.Robot([outline(shape) for shape in shapes], turns, _links(record, rows))
    return plots.frames(
        path,
        times=record.times[rows],
        positions=centres,
        radii=[reach(shape) for shape in shapes],
        robot=robot,
        fixtures=fixtures(record.scene, "both", "collision"),
    )


def _links(record: Record, rows: IntArray) -> Array:
    """From the joint of every body's parent to its own, (F, L, 2, 3)."""
    model = record.scene.model
    children = np.flatnonzero(model.body_parents >= 0)
    origins = np.stack([body_poses(model, record.q[row]).positions for row in rows])
    return np.stack([origins[:, model.body_parents[children]], origins[:, children]], axis=2)


def _draw_joints(record: Record, path: str | os.PathLike[str]) -> Path:
    """Coordinates, velocities, and torques where sensors have read them, by their names."""
    rows = _thinned(record)
    model = record.scene.model
    panels = [
        *_by_unit("position", coordinate_names(model), record.q[rows]),
        *_by_unit("velocity", velocity_names(model), record.v[rows]),
    ]
    for sensor in record.metadata.get("sensors", ()):
        if {"N m", "N"} >= set(sensor["units"]) and set(sensor["labels"]) <= set(
            force_names(model).labels
        ):
            named = Named(tuple(sensor["labels"]), tuple(sensor["units"]))
            panels += _by_unit("motor", named, record.sensors[sensor["name"]][rows])
    return named_curves(path, record.times[rows], panels)


def _by_unit(what: str, named: Named, values: Array) -> list[Panel]:
    """A panel for every unit; quaternions are left out."""
    units = np.array(named.units)
    panels = []
    for unit in dict.fromkeys(named.units):
        if unit != "1":
            names = [label for label, own in zip(named.labels, units) if own == unit]
            panels.append(Panel(f"{what} [{unit}]", names, values[:, units == unit]))
    return panels


def _draw_forces(record: Record, path: str | os.PathLike[str]) -> Path:
    """Sizes of the contact forces on every geom that was touched, and impulses of impacts."""
    dt = float(record.metadata["dt"])
    records = record.contact_records
    hits = records[:, at.RECORD_KIND] == 1.0
    rows = _thinned(record)
    panels: list[Panel | Marks] = []
    lasting = geom_forces(record.scene, record.times, records[~hits], dt)
    if lasting.names or not hits.any():
        sizes = np.linalg.norm(lasting.forces, axis=2)
        panels.append(Panel("contact force [N]", lasting.names, sizes[rows]))
    if hits.any():
        panels.append(Marks("impact [N s]", *geom_impacts(record.scene, records[hits])))
    return named_curves(path, record.times[rows], panels)


def _draw_energy(record: Record, path: str | os.PathLike[str]) -> Path:
    rows = _thinned(record)
    kinetic, potential = record.kinetic[rows], record.potential[rows]
    return plots.energies(path, times=record.times[rows], kinetic=kinetic, potential=potential)


def _draw_contacts(record: Record, path: str | os.PathLike[str]) -> Path:
    """Of all that happened between two points of the curves, the worst is drawn."""
    rows = _thinned(record)
    starts = np.concatenate([[0], rows[:-1] + 1])
    moments, sizes = acting_together(record.contact_records, float(record.metadata["dt"]))
    count = np.zeros(len(rows))
    slots = np.searchsorted(record.times[rows], moments, side="right")
    np.maximum.at(count, np.minimum(slots, len(rows) - 1), sizes)
    return plots.contacts(
        path,
        times=record.times[rows],
        count=count,
        penetration=np.maximum.reduceat(np.maximum(record.penetrations, 0.0), starts),
        residual=np.maximum.reduceat(record.residuals, starts),
    )


KINDS: dict[str, Callable[[Record, str | os.PathLike[str]], Path]] = {
    "motion": _draw_joints,
    "height": _draw_height,
    "frames": _draw_frames,
    "energy": _draw_energy,
    "contacts": _draw_contacts,
    "forces": _draw_forces,
}


def _thinned(record: Record) -> IntArray:
    size = len(record.times)
    return np.unique(np.linspace(0, size - 1, min(size, _ROWS)).round().astype(np.int64))


def _last(scene: Scene) -> tuple[str, Node]:
    """Name and centre of the last shape on a body, or the last body's origin."""
    for geom in reversed(scene.geoms):
        if scene.model.frame(geom.body).body >= 0:
            return geom.name, Node(geom.body, geom.position)
    name = scene.model.body_names[-1]
    return name, Node(name)


def _moving_sides(scene: Scene) -> BoolArray:
    """For every geom whether it sits on a body."""
    return np.array([scene.model.frame(geom.body).body >= 0 for geom in scene.geoms], dtype=bool)
