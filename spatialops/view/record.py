"""Pictures of a recorded run: what `Record.plot` and `Record.replay` draw."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

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
from spatialops.view.frame_forces import frame_forces
from spatialops.view.parts import Layer, drawn_parts, fixture
from spatialops.view.replay import write_replay
from spatialops.view.replay_curves import replay_curves
from spatialops.view.replay_shapes import reach
from spatialops.view.shapes import outline

if TYPE_CHECKING:
    from spatialops.simulation.records.record import Record

# Impacts closer than a thousandth of the run would be drawn on top of each other.
_GRAINS = 1000.0
_LEAST_GRAIN = 1e-12  # s

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
    """
    if kind not in tuple(KINDS):
        raise RecordError(f"kind: expected one of {', '.join(KINDS)}, got {kind!r}")
    return KINDS[kind](record, path)


def replay_record(
    record: Record, path: str | os.PathLike[str], *, rate: float = 60.0, title: str = ""
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

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    ArgumentError
        If `rate` is not positive.
    RecordError
        If the page cannot be written.
    """
    rows = frame_rows(record.times, scalar(rate, "rate", low=0.0, strict=True))
    shapes, centres, turns = moving_shapes(record, rows)
    origins, body_turns = _body_frames(record, rows)
    return write_replay(
        path,
        times=record.times[rows],
        shapes=shapes,
        positions=centres,
        quaternions=_quaternions(turns),
        contacts=frame_forces(record, record.times[rows]),
        fixtures=fixtures(record.scene),
        title=title or "Replay of a run",
        summary=summary_rows(record),
        frames=(origins, _quaternions(body_turns)),
        curves=replay_curves(record, rows),
    )


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


def frame_rows(times: Array, rate: float) -> IntArray:
    """Recorded rows nearest to `rate` frames a second, the first and the last included."""
    if len(times) == 1:
        return np.zeros(1, dtype=np.int64)
    wanted = np.append(np.arange(times[0], times[-1], 1.0 / rate), times[-1])
    after = np.clip(np.searchsorted(times, wanted), 1, len(times) - 1)
    return np.unique(np.where(wanted - times[after - 1] <= times[after] - wanted, after - 1, after))


class Moving(NamedTuple):
    """What moves in F frames: G parts, their centres (F, G, 3), m, and rotations (F, G, 3, 3)."""

    shapes: list[dict[str, object]]
    centres: Array
    turns: Array


def moving_shapes(record: Record, rows: IntArray, *layers: Layer) -> Moving:
    """Shapes on bodies, of some layers only where such are named; or balls at their origins."""
    model = record.scene.model
    origins, turns = _body_frames(record, rows)
    parts = [part for part in drawn_parts(record.scene) if part.body >= 0]
    parts = [part for part in parts if part.layer in layers or not layers]
    if not parts:
        radius = max(0.02 * float(np.ptp(origins, axis=(0, 1)).max(initial=0.0)), 0.01)
        balls = [{"kind": "sphere", "radius": radius, "name": name} for name in model.body_names]
        return Moving(balls, origins, turns)
    bodies = [part.body for part in parts]
    local = np.array([part.position for part in parts])
    centres = origins[:, bodies] + np.einsum("fgij,gj->fgi", turns[:, bodies], local)
    turned = np.array([part.rotation for part in parts])
    return Moving([part.shape for part in parts], centres, turns[:, bodies] @ turned)


def _body_frames(record: Record, rows: IntArray) -> tuple[Array, Array]:
    """Origins (F, B, 3) and rotations (F, B, 3, 3) of all bodies."""
    poses = [body_poses(record.scene.model, record.q[row]) for row in rows]
    return np.stack([p.positions for p in poses]), np.stack([p.rotations for p in poses])


def fixtures(scene: Scene, *layers: Layer) -> list[dict[str, object]]:
    """What does not move: half-spaces, and shapes on the world, of some layers or all."""
    still = [part for part in drawn_parts(scene) if part.body < 0]
    return [fixture(part) for part in still if part.layer in layers or not layers]


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
