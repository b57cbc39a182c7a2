"""The record of a run: saved to one file, loaded again, plotted and replayed."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass, field, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops._files import load_arrays, save_arrays
from spatialops.collision._layout import PAIR_FRICTION
from spatialops.contact.certificate import UNITS, Certificate, certify_contacts
from spatialops.dynamics.jacobian import body_poses
from spatialops.errors import AssetError, RecordError, SpatialOpsError
from spatialops.simulation import _layout as at
from spatialops.simulation.event_log import EventLog
from spatialops.simulation.scene import Scene
from spatialops.simulation.tables import Tables
from spatialops.tree.model import Model
from spatialops.tree.state import State

FORMAT = 1


@dataclass(frozen=True, eq=False)
class Record:
    """What a run left behind.

    Attributes
    ----------
    scene : Scene
    times : (T,) array
        s.
    q, v : (T, nq), (T, nv) arrays
    kinetic, potential : (T,) arrays
        J.
    contact_counts, impact_counts, pivots : (T,) arrays
        Contacts of the recorded step's last problem; impacts and pivots since the row before.
    residuals, penetrations : (T,) arrays
        Certificate: worst natural residual, and largest penetration (m), since the row before.
    hits : (K, 13) array
        Contacts that acted: time, pair, kind (0 contact, 1 impact), gap, position (3), normal (3), impulse on A (3) in
        world axes, N s.
    events : (E, 6) array
        Impacts: time, contacts and stops, approach speed, kinetic energy before and after, share of the restitution
        given back.
    metadata : dict
        Options, versions, counts.
    moments : (K', 13) array
        Torsional and rolling friction of the contacts that have it: as `hits`, with the moment on A (N m s).
    closure_errors : (T,) array
        Certificate: largest error of a closure (m or rad) since the row before.
    stop_impulses, dry_impulses : (T, nv) arrays
        Impulses of the joints' stops and dry friction along each velocity since the row before, N m s or N s.
    joint_work : (T, nv) array
        Work of both since the row before, J.
    loop_forces : (T, n_rows) array
        Forces of the closures along their rows (N, N m; they push A along the row and B against it) where the recorded
        step's dynamics were evaluated, with what they answer to its contacts but not to impacts; zero in the first row.
    certificates : (T, 11) array
        The worst certificate since the row before, in the order of `contact.certificate.UNITS`; NaN what was not
        measured: all but ``certify="full"``.
    """

    scene: Scene
    times: Array
    q: Array
    v: Array
    kinetic: Array
    potential: Array
    contact_counts: Array
    impact_counts: Array
    residuals: Array
    penetrations: Array
    pivots: Array
    hits: Array
    events: Array
    metadata: dict[str, Any]
    closure_errors: Array = field(default_factory=lambda: np.zeros(0))
    loop_forces: Array = field(default_factory=lambda: np.zeros((0, 0)))
    moments: Array = field(default_factory=lambda: np.zeros((0, at.HIT_COLUMNS)))
    stop_impulses: Array = field(default_factory=lambda: np.zeros((0, 0)))
    dry_impulses: Array = field(default_factory=lambda: np.zeros((0, 0)))
    joint_work: Array = field(default_factory=lambda: np.zeros((0, 0)))
    certificates: Array = field(default_factory=lambda: np.zeros((0, len(UNITS))))

    def __post_init__(self) -> None:
        if len(self.closure_errors) != len(self.times):  # of a mechanism without loops, or an older record
            object.__setattr__(self, "closure_errors", np.zeros(len(self.times)))
            object.__setattr__(self, "loop_forces", np.zeros((len(self.times), self.scene.loops.n_rows)))
        if len(self.certificates) != len(self.times):
            object.__setattr__(self, "certificates", np.full((len(self.times), len(UNITS)), np.nan))
        for name in _OF_JOINTS:
            if getattr(self, name).shape != self.v.shape:  # without stops and dry friction, or in an older record
                object.__setattr__(self, name, np.zeros(self.v.shape))

    @property
    def energy(self) -> Array:
        """Total energy, (T,), J."""
        return self.kinetic + self.potential

    @property
    def final(self) -> State:
        """The last state."""
        return State(self.q[-1].copy(), self.v[-1].copy(), float(self.times[-1]))

    def certificate(self) -> Certificate:
        """The worst of the whole run: in full with ``certify="full"``, else what the recorded contacts show.

        There friction is that of bodies' contacts against the coefficients of their pairs.
        """
        gap, residual = float(self.penetrations.max(initial=0.0)), float(self.residuals.max(initial=0.0))
        if not np.isnan(self.certificates).all():
            full = [Certificate.from_array(row) for row in self.certificates if not np.isnan(row).all()]
            return Certificate.worst([*full, Certificate(gap=gap)])
        p, n = self.hits[:, at.HIT_IMPULSE : at.HIT_IMPULSE + 3], self.hits[:, at.HIT_NORMAL : at.HIT_NORMAL + 3]
        normal = np.einsum("ij,ij->i", p, n)
        along = np.linalg.norm(p - normal[:, None] * n, axis=1)
        own = [law is not None for law in self.scene.pair_table.laws]  # whose limits are not those of coefficients
        limits = np.where(own, np.inf, self.scene.pair_values[:, PAIR_FRICTION])
        friction = limits[self.hits[:, at.HIT_PAIR].astype(np.int64)]
        impulses = np.column_stack([normal, along, np.zeros(len(along))])
        return certify_contacts(impulses, friction, gap=gap, residual=residual)

    @property
    def log(self) -> EventLog:
        """What happened when, of a run with `EventDriven`; impacts of others are in `events`."""
        return EventLog.from_data(self.metadata.get("log", ()))

    def summary(self) -> dict[str, Any]:
        """Figures of the run in plain numbers, for people and for JSON."""
        gains = (self.events[:, at.EVENT_AFTER] - self.events[:, at.EVENT_BEFORE]) if len(self.events) else np.zeros(1)
        return {
            "duration": float(self.times[-1] - self.times[0]),
            "steps": int(self.metadata["steps"]),
            "collisions": len(self.events),
            "contact_problems": int(self.metadata["contact_problems"]),
            "warm_started": int(self.metadata["warm_started"]),
            "solver_fallbacks": int(self.metadata["solver_fallbacks"]),
            "position_projections": int(self.metadata["position_projections"]),
            "contacts_max": int(self.contact_counts.max(initial=0)),
            "penetration_max": float(self.penetrations.max(initial=0.0)),
            "closure_error_max": float(self.closure_errors.max(initial=0.0)),
            "residual_max": float(self.residuals.max(initial=0.0)),
            "energy_start": float(self.energy[0]),
            "energy_end": float(self.energy[-1]),
            "collision_energy_gain_max": float(max(gains.max(), 0.0)),
            "joints_stopped": self._joints_with(self.stop_impulses),
            "stop_impulse_max": float(np.abs(self.stop_impulses).max(initial=0.0)),
            "dry_friction_impulse_max": float(np.abs(self.dry_impulses).max(initial=0.0)),
            "joint_work": float(self.joint_work.sum()),
            "effort_clipped": dict(self.metadata.get("effort_clipped", {})),
            "certificate": self.certificate().to_data(),
        }

    def _joints_with(self, values: Array) -> list[str]:
        """Names of the joints that have entries other than zero."""
        model = self.scene.model
        return [name for name in model.joint_names if values[:, model.v_slice(name)].any()]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write everything to one .npz file, whole or not at all.

        Raises
        ------
        RecordError
            If the file cannot be written.
        """
        arrays = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in _APART}
        model = self.scene.model.to_arrays()
        header = {
            "format": FORMAT,
            "metadata": self.metadata,
            "scene": self.scene.to_data(),
            "names": {key: list(value) for key, value in model.items() if not isinstance(value, np.ndarray)},
        }
        arrays |= {f"model.{key}": value for key, value in model.items() if isinstance(value, np.ndarray)}
        try:
            return save_arrays(path, {"header": np.array(json.dumps(header)), **arrays})
        except AssetError as error:
            raise RecordError(str(error)) from error

    def plot(self, path: str | os.PathLike[str], kind: str = "motion") -> Path:
        """Draw the run: "motion" (height and normal velocity of the last body), "frames", "energy" or "contacts"."""
        from spatialops.view.record import plot_record

        return plot_record(self, path, kind)

    def replay(self, path: str | os.PathLike[str], *, rate: float = 60.0) -> Path:
        """Write a self-contained HTML page that replays the motion in 3-D at `rate` frames a second."""
        from spatialops.view.record import replay_record

        return replay_record(self, path, rate=rate)

    def geom_positions(self, rows: Any) -> tuple[Array, Array]:
        """World positions (F, G, 3) and rotations (F, G, 3, 3) of the scene's geoms at recorded rows."""
        model, positions, rotations = self.scene.model, [], []
        frames = [model.frame(geom.body) for geom in self.scene.geoms]
        for row in rows:
            poses = body_poses(model, self.q[row])
            origins = np.concatenate([poses.positions, np.zeros((1, 3))])  # the world's frame is number -1
            turns = np.concatenate([poses.rotations, np.eye(3)[None]])
            local = [
                f.position + f.rotation @ np.asarray(g.position) for f, g in zip(frames, self.scene.geoms, strict=True)
            ]
            positions.append([origins[f.body] + turns[f.body] @ p for f, p in zip(frames, local, strict=True)])
            rotations.append(
                [turns[f.body] @ f.rotation @ g.turn for f, g in zip(frames, self.scene.geoms, strict=True)]
            )
        shape = (len(positions), len(frames))
        return np.reshape(positions, (*shape, 3)), np.reshape(rotations, (*shape, 3, 3))


_APART = ("scene", "metadata")
_OF_JOINTS = ("stop_impulses", "dry_impulses", "joint_work")
_LATER = (
    "closure_errors",
    "loop_forces",
    "moments",
    "certificates",
    *_OF_JOINTS,
)  # not in the first records of this format


def load_record(path: str | os.PathLike[str]) -> Record:
    """Read a record that `Record.save` wrote.

    Raises
    ------
    RecordError
        If the file is missing, damaged or of another format.
    """
    try:
        arrays: dict[str, Any] = load_arrays(path, "record")
        header = json.loads(str(arrays.pop("header")))
        if header["format"] != FORMAT:
            raise RecordError(f"{path}: format {header['format']} is not {FORMAT}; use the version that wrote it")
        stored = {key.removeprefix("model."): value for key, value in arrays.items() if key.startswith("model.")}
        model = Model.from_arrays(stored | header["names"])
        expected = [item.name for item in fields(Record) if item.name not in _APART]
        values = {name: arrays[name] for name in expected if name in arrays or name not in _LATER}
        state = State(values["q"][0], values["v"][0], float(values["times"][0]))
        scene = Scene.from_data(model, header["scene"], state)
        return Record(scene=scene, metadata=dict(header["metadata"]), **values)
    except RecordError:
        raise
    except AssetError as error:
        raise RecordError(str(error)) from error
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, SpatialOpsError) as error:
        raise RecordError(f"{path}: not a readable record: {type(error).__name__}: {error}") from error


class RecordBuilder:
    """Collects what the loop writes, chunk by chunk."""

    def __init__(self, scene: Scene, options: dict[str, Any]) -> None:
        self.scene = scene
        self.options = options
        self.rows: list[Array] = []
        self.states: list[Array] = []
        self.forces: list[Array] = []
        self.joints: list[Array] = []
        self.hits: list[Array] = []
        self.events: list[Array] = []
        self.certificates: list[Array] = []
        self._since: list[Certificate] = []

    def take(self, t: Tables, certificate: Certificate | None = None) -> None:
        """Move the loop's rows here; `certificate` is that of what was done since the last call."""
        counts = t.control[[at.ROWS, at.CONTACT_ROWS, at.EVENT_ROWS]]
        self.rows.append(t.rows[: counts[0]].copy())
        self.states.append(t.row_states[: counts[0]].copy())
        self.forces.append(t.row_forces[: counts[0]].copy())
        self.joints.append(t.row_joints[: counts[0]].copy())
        self.hits.append(t.hits[: counts[1]].copy())
        self.events.append(t.events[: counts[2]].copy())
        self._since += [] if certificate is None else [certificate]
        if counts[0]:
            rows = np.full((counts[0], len(UNITS)), np.nan)
            rows[-1] = Certificate.worst(self._since).to_array()
            self.certificates.append(rows)
            self._since = []
        t.control[[at.ROWS, at.CONTACT_ROWS, at.EVENT_ROWS]] = 0

    def record(self, t: Tables, *, fallbacks: int, clipped: dict[str, int]) -> Record:
        """The whole, with metadata."""
        rows, states = np.concatenate(self.rows), np.concatenate(self.states)
        nq, joints, hits = self.scene.model.nq, np.concatenate(self.joints), np.concatenate(self.hits)
        turning = hits[:, at.HIT_PAIR] < 0  # see `simulation.moments`
        moments = hits[turning]
        moments[:, at.HIT_PAIR] = -1 - moments[:, at.HIT_PAIR]
        metadata = {
            **self.options,
            "steps": int(t.control[at.STEP]),
            "contact_problems": int(t.control[at.SOLVES]),
            "warm_started": int(t.control[at.WARM]),
            "position_projections": int(t.control[at.PROJECTIONS]),
            "solver_fallbacks": fallbacks,
            "effort_clipped": clipped,
            "versions": versions(),
        }
        return Record(
            scene=self.scene,
            times=rows[:, at.ROW_TIME],
            q=states[:, :nq],
            v=states[:, nq:],
            kinetic=rows[:, at.ROW_KINETIC],
            potential=rows[:, at.ROW_POTENTIAL],
            contact_counts=rows[:, at.ROW_CONTACTS],
            impact_counts=rows[:, at.ROW_IMPACTS],
            residuals=rows[:, at.ROW_RESIDUAL],
            penetrations=0.0 - rows[:, at.ROW_GAP],  # never -0.0
            closure_errors=rows[:, at.ROW_OPENING],
            loop_forces=np.concatenate(self.forces),
            moments=moments,
            stop_impulses=joints[:, at.STOP_SUM],
            dry_impulses=joints[:, at.DRY_SUM],
            joint_work=joints[:, at.WORK_SUM],
            certificates=np.concatenate(self.certificates),
            pivots=rows[:, at.ROW_PIVOTS],
            hits=hits[~turning],
            events=np.concatenate(self.events),
            metadata=metadata,
        )


def versions() -> dict[str, str]:
    """Of Python and the packages that results depend on."""
    found = {"python": platform.python_version()}
    for name in ("spatialops", "numpy", "numba", "scipy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
