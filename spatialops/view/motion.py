"""What a replay or a video shows of a run: its frames, alone or beside those of another run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.dynamics.jacobian import body_poses
from spatialops.errors import ArgumentError
from spatialops.simulation.scene.scene import Scene
from spatialops.view.frame_forces import frame_forces
from spatialops.view.parts import Layer, drawn_parts, fixture
from spatialops.view.replay import Curves, palette
from spatialops.view.replay_curves import replay_curves
from spatialops.view.replay_shapes import half_space, reach
from spatialops.view.tendon_lines import tendon_lines

if TYPE_CHECKING:
    from spatialops.simulation.records.record import Record

_GAP = 0.2  # between two runs, of the wider one's size


class Motion(NamedTuple):
    """F frames of G shapes on B bodies, in the arrays that `write_replay` takes.

    `turns` and `body_turns` are rotations (F, G, 3, 3) and (F, B, 3, 3); `lines` are
    straight pieces (F, k, 2, 3) of tendons.
    """

    times: Array
    shapes: list[dict[str, object]]
    centres: Array
    turns: Array
    origins: Array
    body_turns: Array
    contacts: list[Array]
    fixtures: list[dict[str, object]]
    curves: list[Curves]
    lines: Array


def motion(record: Record, rate: float, *layers: Layer, beside: Record | None = None) -> Motion:
    """Frames of a run, and of another `beside` it, of some layers or all.

    Two runs have one clock, which begins with both and ends with the longer: the other then stands
    still. The second is moved along y until the boxes in which they move have a gap.
    """
    if beside is None:
        return _frames(record, frame_rows(record.times, rate), layers)
    if not hasattr(beside, "contact_records"):
        raise ArgumentError(f"beside: expected a Record, got {beside!r}")
    longer = max((record, beside), key=lambda one: one.times[-1] - one.times[0])
    clock = longer.times[frame_rows(longer.times, rate)] - longer.times[0]
    runs = [_frames(one, _nearest_rows(one, clock), layers) for one in (record, beside)]
    return _joined(clock + record.times[0], *runs)


def _frames(record: Record, rows: IntArray, layers: tuple[Layer, ...]) -> Motion:
    """The frames at recorded rows, of which some may be there more than once."""
    own, again = np.unique(rows, return_inverse=True)
    shapes, centres, turns = moving_shapes(record, own, *layers)
    origins, body_turns = _body_frames(record, own)
    forces = frame_forces(record, record.times[own])
    curves = replay_curves(record, own)
    return Motion(
        times=record.times[rows],
        shapes=shapes,
        centres=centres[again],
        turns=turns[again],
        origins=origins[again],
        body_turns=body_turns[again],
        contacts=[forces[i] for i in again],
        fixtures=fixtures(record.scene, *layers),
        curves=[each._replace(values=np.asarray(each.values)[again]) for each in curves],
        lines=tendon_lines(record.scene, record.q[own])[again],
    )


def _joined(times: Array, first: Motion, second: Motion) -> Motion:
    """Two motions as one, the second moved aside."""
    step = _step_aside(first, second)
    pushed = np.concatenate([step, np.zeros(4)])
    still = [_moved(one, step) for one in second.fixtures]
    named = [
        each._replace(name=f"{i}: {each.name}")
        for i, one in ((1, first), (2, second))
        for each in one.curves
    ]
    return Motion(
        times=times,
        shapes=[*_colored(first.shapes), *_colored(second.shapes)],
        centres=np.concatenate([first.centres, second.centres + step], axis=1),
        turns=np.concatenate([first.turns, second.turns], axis=1),
        origins=np.concatenate([first.origins, second.origins + step], axis=1),
        body_turns=np.concatenate([first.body_turns, second.body_turns], axis=1),
        contacts=[np.vstack([a, b + pushed]) for a, b in zip(first.contacts, second.contacts)],
        fixtures=[*first.fixtures, *(one for one in still if not _there(one, first.fixtures))],
        curves=named,
        lines=np.concatenate([first.lines, second.lines + step], axis=1),
    )


def _step_aside(first: Motion, second: Motion) -> Array:
    """How far the second run is moved, m."""
    low, high = np.stack([_box(first), _box(second)], axis=1)
    gap = _GAP * float((high - low).max())
    return np.array([0.0, high[0, 1] - low[1, 1] + gap, 0.0])


def _box(shown: Motion) -> Array:
    """Corners (2, 3) of a box in which everything moves, m."""
    radii = np.array([reach(shape) for shape in shown.shapes])[:, None]
    low = (shown.centres - radii).min(axis=(0, 1))
    return np.stack([low, (shown.centres + radii).max(axis=(0, 1))])


def _colored(shapes: list[dict[str, object]]) -> list[dict[str, object]]:
    """Each run has the colours that it has alone."""
    return [
        {**one, "color": one.get("color") or own} for one, own in zip(shapes, palette(len(shapes)))
    ]


def _moved(still: dict[str, object], step: Array) -> dict[str, object]:
    place = "point" if still["kind"] == "half_space" else "position"
    return {**still, place: np.asarray(still[place]) + step}


def _there(still: dict[str, object], others: list[dict[str, object]]) -> bool:
    """Whether a plane is one of the others, as a floor that both runs have."""
    if still["kind"] != "half_space":
        return False
    point, normal = half_space(still, "fixture")
    for other in others:
        if other["kind"] == "half_space":
            place, upward = half_space(other, "fixture")
            if np.allclose(normal, upward) and np.isclose(normal @ point, normal @ place):
                return True
    return False


def _nearest_rows(record: Record, clock: Array) -> IntArray:
    """Rows nearest to times since the start of a run, the last one after its end."""
    times = record.times - record.times[0]
    after = np.clip(np.searchsorted(times, clock), 1, max(len(times) - 1, 1))
    nearer = clock - times[after - 1] <= times[np.minimum(after, len(times) - 1)] - clock
    return np.where(nearer, after - 1, np.minimum(after, len(times) - 1))


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
