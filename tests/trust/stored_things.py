"""One small file of every kind that this package reads, and how each is read and then used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import spatialops as so
from spatialops.compare.stored import solve_file
from spatialops.contact import ConeProblem, ContactProblem, MixedLCP, solve
from spatialops.contact.fclib import load_fclib, save_fclib
from spatialops.sweeps.spec_file import read_spec
from tests.support.runs import DT, boxes
from tests.trust.stored_texts import MJCF, SDF, TOML, URDF

_SIMULATED = 3  # steps


def _record() -> so.Record:
    return so.Simulator(boxes(2), dt=DT, certify="full").run(duration=0.05)


def _linkage() -> so.Record:
    return so.Simulator(so.models.four_bar().scene(), dt=DT).run(duration=0.02)


def _problem() -> ContactProblem:
    scene = boxes(2)
    problem = so.Simulator(scene, dt=DT).problem(scene.state)
    assert problem is not None
    return problem


def _dense() -> MixedLCP:
    return MixedLCP([[2.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 3.0]], [-1.0, 1.0, -2.0], 1)


def _sparse() -> MixedLCP:
    import scipy.sparse

    dense = _dense()
    return MixedLCP(scipy.sparse.csc_array(dense.A), dense.b, 1)


def _cone() -> ConeProblem:
    problem = _problem()
    n = 3 * problem.n_contacts
    return ConeProblem(problem.compliance + 1e-3 * np.eye(n), problem.velocities, problem.friction)


def _mesh(path: Path) -> None:
    import trimesh

    trimesh.creation.box((1.0, 2.0, 3.0)).export(path)


def _run(path: Path) -> None:
    """The second file of a run on disk, which has what the next step needs."""
    from spatialops.simulation.runs import run_folder

    kept, run_folder._SECONDS = run_folder._SECONDS, 0.0
    try:
        folder = path.with_suffix(".run")
        so.Simulator(boxes(2), dt=DT).run_to_disk(
            folder, duration=2.0 * DT, controller=lambda time, state, contacts: so.Command()
        )
        path.write_bytes((folder / "000001.npz").read_bytes())
    finally:
        run_folder._SECONDS = kept


MAKERS: dict[str, Callable[[Path], object]] = {
    "record.npz": lambda path: _record().save(path),
    "linkage.npz": lambda path: _linkage().save(path),
    "problem.npz": lambda path: _problem().save(path),
    "dense.npz": lambda path: _dense().save(path),
    "sparse.npz": lambda path: _sparse().save(path),
    "cone.npz": lambda path: _cone().save(path),
    "run.npz": _run,
    "fclib.hdf5": lambda path: save_fclib(path, _cone()),
    "mesh.stl": _mesh,
    "mesh.obj": _mesh,
    "mesh.glb": _mesh,
    "mesh.dae": _mesh,
    "robot.urdf": lambda path: path.write_bytes(URDF),
    "robot.sdf": lambda path: path.write_bytes(SDF),
    "robot.xml": lambda path: path.write_bytes(MJCF),
    "sweep.toml": lambda path: path.write_bytes(TOML),
}


def _use_record(record: so.Record) -> None:
    record.summary()
    record.certificate()
    record.geom_positions([0])
    _simulate(record.scene)


def _simulate(scene: so.Scene) -> None:
    so.Simulator(scene, dt=DT).run(duration=_SIMULATED * DT)


def _resume(path: Path) -> None:
    """Go on with a run whose only file this is."""
    folder = path.parent / f"{path.stem}-resumed"
    folder.mkdir(exist_ok=True)
    (folder / "000000.npz").write_bytes(path.read_bytes())
    so.Simulator(boxes(2), dt=DT).resume(folder, 4.0 * DT, controller=lambda t, s, c: so.Command())
    for file in folder.iterdir():
        file.unlink()


_MESH = (so.collision.load_mesh, lambda mesh, path: so.ConvexHull(mesh.vertices))
_ROBOT = (
    so.load_scene,
    lambda scene, path: so.Simulator(scene, dt=DT).run(duration=_SIMULATED * DT),
)
# What reads a file, and what is then done with what it holds; the latter takes its time.
READERS: dict[str, tuple[Callable[[Path], object], Callable[[object, Path], object]]] = {
    "record.npz": (so.load_record, lambda record, path: _use_record(record)),
    "linkage.npz": (so.load_record, lambda record, path: _use_record(record)),
    "problem.npz": (ContactProblem.load, lambda problem, path: solve_file(path, "os", "auto", 4)),
    "dense.npz": (MixedLCP.load, lambda problem, path: solve(problem)),
    "sparse.npz": (MixedLCP.load, lambda problem, path: solve(problem)),
    "cone.npz": (ConeProblem.load, lambda problem, path: solve(problem)),
    "run.npz": (so.load_record, lambda record, path: _resume(path)),
    "fclib.hdf5": (load_fclib, lambda problem, path: solve(problem)),
    **dict.fromkeys(("mesh.stl", "mesh.obj", "mesh.glb", "mesh.dae"), _MESH),
    **dict.fromkeys(("robot.urdf", "robot.sdf", "robot.xml"), _ROBOT),
    "sweep.toml": (read_spec, lambda spec, path: None),
}
