"""The record of a run: saved to one file, loaded again, plotted and replayed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from spatialops._arrays import Array, constant
from spatialops._html import html_table
from spatialops.collision._layout import PAIR_FRICTION
from spatialops.contact.certificate import UNITS, Certificate, certify_contacts
from spatialops.simulation import _layout as at
from spatialops.simulation.event_log import EventLog
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.records.acting_contacts import acting_together
from spatialops.simulation.records.data_frames import Table, to_pandas, to_xarray
from spatialops.simulation.records.record_file import COUNTS, Kept, Stored, write_record
from spatialops.simulation.scene.placement import geom_poses
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.state import State

if TYPE_CHECKING:
    from spatialops.view.shown import ShownReplay


@dataclass(frozen=True, eq=False, repr=False)
class Record:
    """What a run left behind: T rows of states, their contacts, and the impacts between them.

    `Simulator.run` makes records, and `load_record` reads them. With ``record=False`` they have
    two rows, where the run began and where it ended, and neither contacts nor impacts.

    Parameters
    ----------
    scene : Scene
        What was simulated.
    times : (T,) array
        s.
    q : (T, nq) array
        Coordinates.
    v : (T, nv) array
        Velocities.
    kinetic : (T,) array
        Kinetic energy, J.
    potential : (T,) array
        Potential energy, J.
    contact_counts : (T,) array
        Contacts of the recorded step's last problem.
    impact_counts : (T,) array
        Impacts since the row before.
    residuals : (T,) array
        Certificate: worst natural residual since the row before, relative.
    penetrations : (T,) array
        Certificate: largest penetration since the row before, m.
    pivots : (T,) array
        Pivots of the solver since the row before.
    contact_records : (K, 13) array
        Contacts that acted in recorded steps, and in impacts whenever they were: time, pair, kind
        (0 contact, 1 impact), gap, position (3), normal (3), impulse on A (3) in world axes, N s.
    events : (E, 6) array
        Impacts: time, contacts and stops, approach speed, kinetic energy before and after, share of
        the restitution given back.
    metadata : dict
        Options, versions, counts; of a run that failed, `failure` says why.
    closure_errors : (T,) array
        Certificate: largest error of a closure since the row before, m or rad. Default zeros.
    loop_forces : (T, n_rows) array
        Forces of the closures along their rows (N, N m; they push A along the row and B against it)
        where the recorded step's dynamics were evaluated, with what they answer to its contacts but
        not to impacts; zero in the first row. Default zeros.
    moments : (K', 13) array
        Torsional and rolling friction of the contacts that have it: as `contact_records`, with the
        moment on A (N m s). Default none.
    stop_impulses : (T, nv) array
        Impulses of the joints' stops along each velocity since the row before, N m s or N s.
        Default zeros.
    dry_impulses : (T, nv) array
        Likewise of the joints' dry friction.
    joint_work : (T, nv) array
        Work of both since the row before, J. Default zeros.
    certificates : (T, 11) array
        The worst certificate since the row before, in the order of `contact.certificate.UNITS`; NaN
        what was not measured: all but ``certify="full"``. Default NaN.
    readings : (T, n) array
        Of the sensors, in the order of `metadata["sensors"]`; `sensors` has them by name. NaN where
        nothing was read. Default no columns.
    end : (1 + nq + nv + n,) array
        Time, coordinates, velocities and activations of actuators at the end of the run, recorded
        or not. Default: the last row.

    Examples
    --------
    >>> import spatialops as so
    >>> record = so.Simulator(so.models.pendulum(2).scene(), dt=0.01).run(duration=0.03)
    >>> record.q.shape
    (4, 2)
    >>> round(record.final.time, 9)
    0.03
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
    contact_records: Array
    events: Array
    metadata: PlainData
    closure_errors: Array = field(default_factory=lambda: np.zeros(0))
    loop_forces: Array = field(default_factory=lambda: np.zeros((0, 0)))
    moments: Array = field(default_factory=lambda: np.zeros((0, at.RECORD_COLUMNS)))
    stop_impulses: Array = field(default_factory=lambda: np.zeros((0, 0)))
    dry_impulses: Array = field(default_factory=lambda: np.zeros((0, 0)))
    joint_work: Array = field(default_factory=lambda: np.zeros((0, 0)))
    certificates: Array = field(default_factory=lambda: np.zeros((0, len(UNITS))))
    readings: Array = field(default_factory=lambda: np.zeros((0, 0)))
    end: Array = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        """Put in what a mechanism does not have, or older records did not."""
        n_rows = len(self.times)
        if len(self.closure_errors) != n_rows:
            self._put("closure_errors", np.zeros(n_rows))
            self._put("loop_forces", np.zeros((n_rows, self.scene.loops.n_rows)))
        # One number each, however many rows: what is not there takes no memory.
        if len(self.certificates) != n_rows:
            self._put("certificates", constant(np.nan, (n_rows, len(UNITS))))
        if len(self.readings) != n_rows:
            self._put("readings", np.zeros((n_rows, 0)))
        for name in _OF_JOINTS:
            if getattr(self, name).shape != self.v.shape:
                self._put(name, constant(0.0, self.v.shape))
        if len(self.end) < 1 + self.q.shape[1] + self.v.shape[1]:
            self._put("end", np.concatenate([self.times[-1:], self.q[-1], self.v[-1]]))

    def _put(self, name: str, values: Array) -> None:
        object.__setattr__(self, name, values)

    def __repr__(self) -> str:
        options = [str(self.metadata.get(name, "?")) for name in ("time", "integrator", "law")]
        figures = self.summary()
        first, last = self.times[0], self.final.time
        return (
            f"Record from {first:g} to {last:g} s: {len(self.times)} rows of {figures['steps']} "
            f"steps of {self.metadata.get('dt', 0.0):g} s\n"
            f"  by {', '.join(options)}\n"
            f"  {self.scene.size_text()}\n"
            f"  {figures['collisions']} impacts, at most {figures['contacts_max']} contacts, "
            f"energy {self.energy[0]:.6g} -> {self.energy[-1]:.6g} J\n"
            f"  penetration <= {figures['penetration_max']:.1e} m, "
            f"residual <= {figures['residual_max']:.1e}"
        )

    def _repr_html_(self) -> str:
        """What notebooks show."""
        figures = self.summary()
        rows = {
            "scene": self.scene.size_text(),
            "time": f"{self.times[0]:g} to {self.final.time:g} s, {len(self.times)} rows",
            "energy": f"{self.energy[0]:.6g} J to {self.energy[-1]:.6g} J",
            "steps": f"{figures['steps']:,} of {self.metadata.get('dt', 0.0):g} s",
            "impacts": f"{figures['collisions']:,}",
            "contacts": f"at most {figures['contacts_max']} at once",
            "penetration": f"at most {figures['penetration_max']:.1e} m",
            "residual": f"at most {figures['residual_max']:.1e}",
            "sensors": ", ".join(self.sensors) or "none",
        }
        return html_table("Record", rows)

    def to_pandas(self) -> Table:
        """Rows as a `pandas.DataFrame` over time.

        Returns
        -------
        pandas.DataFrame
            Columns "q.hip", "v.hip", "imu.ax", "kinetic" and so on; `attrs["units"]` has their
            units.

        Raises
        ------
        MissingLibraryError
            Without pandas.
        """
        return to_pandas(self)

    def to_xarray(self) -> Table:
        """Rows as an `xarray.Dataset` over time.

        Returns
        -------
        xarray.Dataset
            Variables as the columns of `to_pandas`, each with its unit in ``attrs["units"]``.

        Raises
        ------
        MissingLibraryError
            Without xarray.
        """
        return to_xarray(self)

    @property
    def energy(self) -> Array:
        """Total energy, (T,), J."""
        return self.kinetic + self.potential

    @property
    def sensors(self) -> dict[str, Array]:
        """Readings of every sensor by its name, (T, k): docs/sensors.md says which instant."""
        widths = [len(one["labels"]) for one in self.metadata.get("sensors", ())]
        parts = np.split(self.readings, np.cumsum(widths)[:-1], axis=1) if widths else []
        names = [one["name"] for one in self.metadata.get("sensors", ())]
        return dict(zip(names, parts))

    @property
    def is_brief(self) -> bool:
        """Whether contacts and impacts were left out: of a run with ``record=False``."""
        return self.metadata.get("record_every", 1) is None

    @property
    def final(self) -> State:
        """The state at the end of the run, whether it was recorded as a row or not."""
        nq, nv = self.q.shape[1], self.v.shape[1]
        q, v, activation = np.split(self.end[1:].copy(), [nq, nq + nv])
        return State(q, v, float(self.end[0]), activation)

    def certificate(self) -> Certificate:
        """The worst of the whole run.

        In full with ``certify="full"``, else what the recorded contacts show; there friction is
        that of bodies' contacts against the coefficients of their pairs.

        Returns
        -------
        Certificate
            Largest violations, in units.
        """
        gap = float(self.penetrations.max(initial=0.0))
        residual = float(self.residuals.max(initial=0.0))
        if not np.isnan(self.certificates).all():
            full = [
                Certificate.from_array(row) for row in self.certificates if not np.isnan(row).all()
            ]
            return Certificate.worst([*full, Certificate(gap=gap)])
        if self.is_brief:
            return Certificate(gap=gap, residual=residual)
        p = self.contact_records[:, at.RECORD_IMPULSE : at.RECORD_IMPULSE + 3]
        n = self.contact_records[:, at.RECORD_NORMAL : at.RECORD_NORMAL + 3]
        normal = np.einsum("ij,ij->i", p, n)
        along = np.linalg.norm(p - normal[:, None] * n, axis=1)
        # Pairs with a law of their own have other limits than those of coefficients.
        rows = self.contact_records[:, at.RECORD_PAIR].astype(np.int64)
        table, classes = self.scene.pair_table, self.scene.classes_of(rows)
        own = np.isin(classes, list(table.laws))
        friction = np.where(own, np.inf, table.classes.values[classes, PAIR_FRICTION])
        impulses = np.column_stack([normal, along, np.zeros(len(along))])
        return certify_contacts(impulses, friction, gap=gap, residual=residual)

    @property
    def log(self) -> EventLog:
        """What happened when, of a run with `EventDriven`; impacts of others are in `events`."""
        return EventLog.from_data(self.metadata.get("log", ()))

    def summary(self) -> PlainData:
        """Figures of the run in plain numbers, for people and for JSON.

        Returns
        -------
        dict
            Numbers, lists of joint names and the certificate by name; SI units.

        Examples
        --------
        >>> import spatialops as so
        >>> record = so.Simulator(so.models.pendulum(2).scene(), dt=0.01).run(duration=0.1)
        >>> summary = record.summary()
        >>> round(summary["duration"], 9), summary["collisions"]
        (0.1, 0)
        """
        gains = self.events[:, at.EVENT_AFTER] - self.events[:, at.EVENT_BEFORE]
        counts = {name: int(self.metadata[name]) for name in COUNTS}
        return {
            "duration": float(self.end[0] - self.times[0]),
            "collisions": int(self.impact_counts.sum()) if self.is_brief else len(self.events),
            **counts,
            "contacts_max": self._most_contacts(),
            "penetration_max": float(self.penetrations.max(initial=0.0)),
            "closure_error_max": float(self.closure_errors.max(initial=0.0)),
            "residual_max": float(self.residuals.max(initial=0.0)),
            "energy_start": float(self.energy[0]),
            "energy_end": float(self.energy[-1]),
            "collision_energy_gain_max": None if self.is_brief else float(gains.max(initial=0.0)),
            "joints_stopped": self._joints_with(self.stop_impulses),
            "stop_impulse_max": float(np.abs(self.stop_impulses).max(initial=0.0)),
            "dry_friction_impulse_max": float(np.abs(self.dry_impulses).max(initial=0.0)),
            "joint_work": float(self.joint_work.sum()),
            "effort_clipped": dict(self.metadata.get("effort_clipped", {})),
            "certificate": self.certificate().to_data(),
        }

    def _most_contacts(self) -> int:
        """Largest number of contacts at one instant, impacts included where they are recorded."""
        dt = float(self.metadata.get("dt", 0.0))
        at_once = acting_together(self.contact_records, dt)[1]
        return int(max(self.contact_counts.max(initial=0), at_once.max(initial=0)))

    def _joints_with(self, values: Array) -> list[str]:
        """Names of the joints that have entries other than zero."""
        model = self.scene.model
        return [name for name in model.joint_names if values[:, model.v_slice(name)].any()]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write everything to one .npz file, whole or not at all.

        Parameters
        ----------
        path : path-like
            The file; folders on the way to it are made.

        Returns
        -------
        Path
            Where it is.

        Raises
        ------
        RecordError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> import spatialops as so
        >>> record = so.Simulator(so.models.pendulum(2).scene(), dt=0.01).run(duration=0.1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = so.load_record(record.save(f"{folder}/run.npz"))
        >>> bool((again.q == record.q).all())
        True
        """
        return write_record(path, stored(self))

    def plot(self, path: str | os.PathLike[str], kind: str = "motion") -> Path:
        """Draw the run.

        Parameters
        ----------
        path : path-like
            Picture to write; its ending says which format.
        kind : {"motion", "height", "frames", "energy", "contacts", "forces"}
            "motion" is coordinates and velocities by names of joints, and torques where
            `JointTorques` reads them; "height" that of the last body; "forces" contact forces by
            geom. Default "motion".

        Returns
        -------
        Path
            Where the picture is.

        Raises
        ------
        MissingLibraryError
            Without the extra `plots`.

        Examples
        --------
        >>> import tempfile
        >>> import spatialops as so
        >>> record = so.Simulator(so.models.pendulum(2).scene(), dt=0.01).run(duration=0.1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     record.plot(f"{folder}/energy.png", "energy").name
        'energy.png'
        """
        from spatialops.view.record import plot_record

        return plot_record(self, path, kind)

    def replay(
        self,
        path: str | os.PathLike[str],
        *,
        rate: float = 60.0,
        title: str = "",
        beside: Record | None = None,
    ) -> Path:
        """Write a self-contained HTML page that replays the motion in 3-D.

        Parameters
        ----------
        path : path-like
            Page to write.
        rate : float
            Frames a second. Default 60.
        title : str
            Title of the page. Default "Replay of a run".
        beside : Record, optional
            A second run, shown beside this one by the same clock. Default none.

        Returns
        -------
        Path
            Where the page is.

        Examples
        --------
        >>> import tempfile
        >>> import spatialops as so
        >>> record = so.Simulator(so.models.pendulum(2).scene(), dt=0.01).run(duration=0.1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     record.replay(f"{folder}/replay.html").name
        'replay.html'
        """
        from spatialops.view.record import replay_record

        return replay_record(self, path, rate=rate, title=title, beside=beside)

    def show(self, *, rate: float = 30.0, title: str = "", height: int = 480) -> ShownReplay:
        """The replay in 3-D, as the last line of a notebook's cell.

        Parameters
        ----------
        rate : float
            Frames a second. Default 30.
        title : str
            Title of the page. Default "Replay of a run".
        height : int
            Of the frame, pixels. Default 480.

        Returns
        -------
        ShownReplay
            What notebooks show, and keep when they are saved: some 700 kB.

        Raises
        ------
        ArgumentError
            If `rate` is not positive, or `height` below 100.

        Examples
        --------
        >>> import spatialops as so
        >>> record = so.Simulator(so.models.pendulum(2).scene(), dt=0.01).run(duration=0.1)
        >>> "<iframe" in record.show()._repr_html_()
        True
        """
        from spatialops.view.shown import ShownReplay

        return ShownReplay(self, rate=rate, title=title, height=height)

    def video(
        self,
        path: str | os.PathLike[str],
        *,
        rate: float = 30.0,
        size: tuple[int, int] = (1280, 720),
        collision: bool = False,
        beside: Record | None = None,
        dark: bool = False,
        title: str = "",
    ) -> Path:
        """Write a video of the motion, without a display or a graphics card.

        Parameters
        ----------
        path : path-like
            Video to write: .mp4 by the extra `video`, .gif by `plots`.
        rate : float
            Pictures a second. Default 30.
        size : (int, int)
            Width and height in pixels, even. Default (1280, 720).
        collision : bool
            Draw the shapes that collide, not those that the robot's file draws. Default False.
        beside : Record, optional
            A second run, shown beside this one by the same clock. Default none.
        dark : bool
            Dark paper and floor. Default False.
        title : str
            Said in the upper left corner. Default nothing.

        Returns
        -------
        Path
            Where the video is.

        Raises
        ------
        MissingLibraryError
            Without the extra `plots`, and of an .mp4 without `video`.

        Examples
        --------
        >>> import tempfile
        >>> import spatialops as so
        >>> record = so.Simulator(so.models.pendulum(2).scene(), dt=0.01).run(duration=0.1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     record.video(f"{folder}/run.gif", rate=10.0, size=(160, 90)).name
        'run.gif'
        """
        from spatialops.view.video import record_video

        return record_video(
            self,
            path,
            rate=rate,
            size=size,
            collision=collision,
            beside=beside,
            dark=dark,
            title=title,
        )

    def geom_positions(self, rows: Iterable[int]) -> tuple[Array, Array]:
        """Where the scene's geoms are at recorded rows.

        Parameters
        ----------
        rows : iterable of int
            Indices of F rows.

        Returns
        -------
        positions : (F, G, 3) array
            Of the G geoms' middles in the world, m.
        rotations : (F, G, 3, 3) array
            From the geoms' axes to the world's.
        """
        poses = [geom_poses(self.scene, self.q[row]) for row in rows]
        shape = (len(poses), len(self.scene.geoms))
        positions = np.reshape([pose[0] for pose in poses], (*shape, 3))
        return positions, np.reshape([pose[1] for pose in poses], (*shape, 3, 3))


_OF_JOINTS = ("stop_impulses", "dry_impulses", "joint_work")


def stored(record: Record, resume: Kept = MappingProxyType({})) -> Stored:
    """What a file of the record holds, with what the next step needs if it shall go on."""
    arrays = {name: getattr(record, name) for name in array_names()}
    return Stored(record.scene, record.metadata, arrays, resume)


def array_names() -> list[str]:
    """Names of the fields that are arrays."""
    return [item.name for item in fields(Record) if item.name not in ("scene", "metadata")]
