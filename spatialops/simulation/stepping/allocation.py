"""Tables for a scene and a number of contacts, and the room of their record."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._layout import WORK_COLUMNS
from spatialops.collision import _layout as col
from spatialops.collision.broad_phase import near_list, sweep_order
from spatialops.collision.narrow_phase.remembered import new_table
from spatialops.collision.narrow_phase.scratch import scratch_shapes
from spatialops.contact.friction import directions
from spatialops.contact.lcp.lemke import covering_vectors
from spatialops.contact.newton.islands import new_buffers
from spatialops.contact.newton.rows import NewtonRoom
from spatialops.contact.rows import PLACE_COLUMNS
from spatialops.contact.runs.columns import new_runs
from spatialops.simulation import _layout as at
from spatialops.simulation.scene.free_bodies import free_bodies
from spatialops.simulation.scene.joint_constraints import JointRows
from spatialops.simulation.scene.mechanisms import mechanisms_of
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.constraints.torsional_rolling import rows_each, turning_of
from spatialops.simulation.stepping.tables import Tables
from spatialops.simulation.stepping.warm.memory_places import places_for
from spatialops.tree.tree_columns import columns_of_trees

Parts: TypeAlias = dict[str, Any]  # fields of `Tables`
Columns: TypeAlias = tuple[IntArray, IntArray]  # of trees, see `columns_of_trees`


def allocate(
    scene: Scene,
    joints: JointRows,
    settings: Array,
    n_f: int,
    capacity: int,
    steps: tuple[int, int],
) -> Tables:
    """Tables for up to `capacity` contacts at once.

    `steps` a call, and how many of them are recorded.
    """
    table = scene.pair_table
    turning = turning_of(table.torsion, table.rolling)
    rows = rows_each(turning) * capacity
    columns = columns_of_trees(scene.model, scene.loops)
    return Tables(
        settings=settings,
        control=_integers(at.CONTROLS),
        monitor=np.zeros(at.MONITORS),
        **_mechanism(scene, joints),
        **_forces(scene),
        **_state(scene),
        **_geoms(scene, capacity),
        turning=turning,
        **_contacts(capacity, rows),
        **_memory(rows),
        **_problem(scene, columns, rows, n_f),
        **_lcp(min(capacity, at.PIVOTED_AT_MOST), n_f, rows),
        **_closures(scene, columns, rows),
        **_record(scene, len(joints.ints) > 0, rows, steps),
    )


def _integers(*shape: int) -> IntArray:
    return np.zeros(shape, dtype=np.int64)


def _mechanism(scene: Scene, joints: JointRows) -> Parts:
    """Links, and what stands on nothing."""
    model, free = scene.model, free_bodies(scene.model, scene.loops, scene.elements)
    return {
        "tree": model.tree,
        "links": model.links,
        "damped": model.links.copy() if _is_implicit(scene) else model.links,
        "lone": free.lone,
        "roots": free.roots,
        "root_of": free.root_of,
        "floating": np.zeros((len(free.roots), at.FLOATING_COLUMNS)),
        "joint_ints": joints.ints,
        "joint_floats": joints.floats,
    }


def _forces(scene: Scene) -> Parts:
    """Springs, actuators, and what acts from outside."""
    model, elements = scene.model, scene.elements
    borne = bool(model.borne)
    return {
        "element_ints": elements.ints,
        "elements": elements.floats,
        "element_joints": elements.joints,
        "arms": elements.arms,
        "rest_ctrl": scene.ctrl,
        "compensation": model.compensation.copy() if borne else np.zeros((0, 4)),
        "ctrl": scene.ctrl.copy(),
        "activation": np.zeros(elements.n_states),
        "pulls": np.zeros((len(elements.ints), at.PULL_COLUMNS)),
        "wrenches": np.zeros((model.n_bodies, 6)),
        "external": np.zeros((model.n_bodies, 6)),
        "resting": np.zeros(
            model.nq + 2 * model.nv + len(scene.ctrl) + elements.n_states + 6 * model.n_bodies
        ),
    }


def _state(scene: Scene) -> Parts:
    """Coordinates, velocities, and what dynamics work in."""
    nq, nv = scene.model.nq, scene.model.nv
    return {
        "q": np.zeros(nq),
        "v": np.zeros(nv),
        "tau": np.zeros(nv),
        "work": np.zeros((nv, WORK_COLUMNS)),
        "spare": np.zeros((nv, WORK_COLUMNS)),
        "vectors": np.zeros((at.VECTORS, max(nq, nv))),
    }


def _geoms(scene: Scene, m: int) -> Parts:
    """Shapes, their pairs, where they are, and which are near where m contacts are."""
    n, classes = len(scene.geoms), scene.pair_table.classes
    places = np.zeros((n + 1, col.PLACE_COLUMNS))
    places[-1, col.TURN : col.TURN + 9] = np.eye(3).ravel()
    rows, ints = scratch_shapes(scene.geom_ints, scene.tables.lists)
    return {
        "geom_ints": scene.geom_ints,
        "geoms": scene.geom_floats,
        "solids": scene.tables.solids.copy(),  # its last rows are written to
        "lists": scene.tables.lists,
        "pair_runs": scene.pair_runs,
        "class_values": classes.values,
        "own_pairs": classes.own,
        "sweep_order": sweep_order(scene.pair_runs, n),
        "centers": places,
        "reaches": np.zeros(n),
        "kept": np.zeros((n + 1, 3)),
        "stood": np.zeros((n, col.STOOD_COLUMNS)),
        "near": near_list(scene.pair_runs, n, m),
        "remembered": new_table(scene.geom_ints, scene.pair_runs),
        "shape_rows": np.zeros(rows),
        "shape_ints": np.zeros(ints, dtype=np.int64),
    }


def _contacts(m: int, rows: int) -> Parts:
    """Contacts as they are seen, were, and act with so many rows and moments."""
    return {
        "seen_ints": _integers(m, col.CONTACT_INTS),
        "seen": np.zeros((m, col.CONTACT_COLUMNS)),
        "before_ints": _integers(m, col.CONTACT_INTS),
        "before": np.zeros((m, col.KNOWN_COLUMNS)),
        "touching": _integers(m, col.CONTACT_INTS),
        "ints": _integers(rows, col.CONTACT_INTS),
        "floats": np.zeros((rows, col.CONTACT_COLUMNS)),
    }


def _memory(m: int) -> Parts:
    """Forces of the last contacts, by their names."""
    return {
        "memory": _integers(2 * m, at.MEMORY_COLUMNS),
        "memory_places": places_for(2 * m),
        "forces": np.zeros((2 * m, 3)),
    }


def _problem(scene: Scene, columns: Columns, m: int, n_f: int) -> Parts:
    """The problem of m contacts, and what the loop's solver works in."""
    nv = scene.model.nv
    tree_of, trees = columns
    widest = int(np.diff(trees).max())
    entries = 3 * m * min(nv, 2 * widest)
    buffers = new_buffers(NewtonRoom(m, nv, entries, len(trees) - 1, widest, n_f))
    runs = new_runs(trees, closed=len(scene.loops) > 0)
    return {
        "tree_of": tree_of,
        "trees": trees,
        **{f"run_{name}": table for name, table in runs._asdict().items()},
        "places": _integers(m, PLACE_COLUMNS),
        "entries": np.zeros(entries),
        "u": np.zeros(3 * m),
        "prior": np.zeros(m),
        "dry": np.zeros(m),
        "friction": np.zeros(m),
        "statuses": np.zeros(m, dtype=np.int64),
        "owners": _integers(m),
        "impulses": np.zeros(3 * m),
        "stored": np.zeros(3 * m),
        "facets": directions(n_f),
        **buffers._asdict(),
    }


def _lcp(few: int, n_f: int, m: int) -> Parts:
    """What Lemke's method works in, of few contacts; vectors that serve others too, of m."""
    n = few * (n_f + 2)
    return {
        "W": np.zeros(9 * few * few),
        "used": _integers(n),
        "A": np.zeros(n * n),
        "b": np.zeros(n),
        "z": np.zeros(n),
        "w": np.zeros(n),
        "D": np.zeros(n * (n + 2)),
        "lcp_ints": _integers(max(6 * (n + 1), m)),
        "lcp_vectors": np.zeros(max(3 * n, m)),
        "active": _integers(n),
        "covers": covering_vectors(n),
    }


def _closures(scene: Scene, columns: Columns, m: int) -> Parts:
    """Closures, their rows of L mechanism by mechanism, and the parts of contacts along them."""
    loops = scene.loops
    n_b = loops.n_rows
    mechanisms, mechanism_of = mechanisms_of(loops, columns[1])
    rows = mechanisms[:, at.CLOSED_ROWS]
    entries, squares = int(rows @ mechanisms[:, at.CLOSED_COLUMNS]), int(rows @ rows)
    return {
        "loop_ints": loops.ints,
        "loops": loops.floats.copy(),
        "loops_start": loops.floats.copy(),
        "ratios": loops.ratios,
        "term_ints": loops.term_ints,
        "terms": loops.empty_terms(),
        "mechanisms": mechanisms,
        "mechanism_of": mechanism_of,
        "closure_rows": np.zeros(entries),
        "basis": np.zeros(entries),
        "left": np.zeros(squares),
        "right": np.zeros(squares),
        "order": _integers(n_b),
        "closure_vectors": np.zeros((at.CLOSURE_VECTORS, n_b)),
        "contact_parts": np.zeros((3 * m, n_b)),
    }


def _record(scene: Scene, has_joints: bool, m: int, steps: tuple[int, int]) -> Parts:
    """Rows of the record."""
    model, rows = scene.model, steps[1]
    sums = (at.JOINT_SUMS, model.nv if has_joints else 0)
    contacts, events = _record_lengths(m, steps[0])
    return {
        "rows": np.zeros((rows, at.ROW_COLUMNS)),
        "row_forces": np.zeros((rows, scene.loops.n_rows)),
        "row_states": np.zeros((rows, model.nq + model.nv)),
        "joint_sums": np.zeros(sums),
        "row_joints": np.zeros((rows, *sums)),
        "contact_records": np.zeros((contacts, at.RECORD_COLUMNS)),
        "events": np.zeros((events, at.EVENT_COLUMNS)),
    }


def _is_implicit(scene: Scene) -> bool:
    """Whether any force of joints resists motion, and is taken implicitly."""
    return bool(scene.model.damping.any() or len(scene.elements.ints))


def with_record(t: Tables, steps: tuple[int, int]) -> Tables:
    """The same tables with an empty record; `steps` as of `allocate`."""
    rows = steps[1]
    contacts, events = _record_lengths(len(t.ints), steps[0])
    return t._replace(
        rows=np.zeros((rows, at.ROW_COLUMNS)),
        row_forces=np.zeros((rows, t.row_forces.shape[1])),
        row_states=np.zeros((rows, t.row_states.shape[1])),
        row_joints=np.zeros((rows, *t.joint_sums.shape)),
        contact_records=np.zeros((contacts, at.RECORD_COLUMNS)),
        events=np.zeros((events, at.EVENT_COLUMNS)),
    )


def has_record(t: Tables, steps: tuple[int, int]) -> bool:
    """Whether the record has the room that `with_record` gives it."""
    have = len(t.contact_records), len(t.events)
    return len(t.rows) == steps[1] and have == _record_lengths(len(t.ints), steps[0])


def record_room(t: Tables) -> tuple[int, int]:
    """The `steps` of `allocate` that the record has room for."""
    left = len(t.contact_records) - _record_lengths(len(t.ints), 0)[0]
    return left // 2, len(t.rows)


def record_bytes(t: Tables) -> int:
    """Memory that the record takes."""
    rows = t.rows.nbytes + t.row_forces.nbytes + t.row_states.nbytes + t.row_joints.nbytes
    return rows + t.contact_records.nbytes + t.events.nbytes


def _record_lengths(m: int, steps: int) -> tuple[int, int]:
    """Rows of contacts, with room for a step of m contacts in all its pieces, and of impacts."""
    return 2 * steps + 2 * (at.MAX_PIECES + 1) * m, steps // 8 + 256
