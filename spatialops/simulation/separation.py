"""Bodies that overlap, moved apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spatialops._compile.references import refer
from spatialops._compile.stage import entered
from spatialops.collision import _layout as col
from spatialops.dynamics.loops.assembly import close_loops
from spatialops.errors import ArgumentError, ContactError, ModelError
from spatialops.simulation import _layout as at
from spatialops.simulation.runs.overlaps import detected, overlaps
from spatialops.simulation.runs.setup import Setup
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.simulator import Simulator
from spatialops.simulation.stepping.adapter import state_of
from spatialops.simulation.stepping.loop_start import LoopStart
from spatialops.simulation.stepping.position_projection import project_positions
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import State, checked_state

_ROUNDS = 50  # deep overlaps are left in two or three; more only where normals turn on the way
_ALLOWED = 0.1  # of the depth at which steps project: what is left is below it


def separate(scene: Scene, state: State | None = None) -> State:
    """Move bodies apart that overlap, and joints into their limits.

    Contacts that penetrate are pushed apart along their normals by the least motion in the metric
    of the mass matrix, again and again until none does. Closures stay closed.

    Parameters
    ----------
    scene : Scene
        Bodies, geoms and closures.
    state : State, optional
        Where they are. Default: the scene's.

    Returns
    -------
    State
        Apart to 1 um (less in scenes of things below a millimetre). Velocities stay, but for what
        closures do not allow at the new place; so does time.

    Raises
    ------
    ArgumentError
        For a state that does not fit the scene, or whose loops are open.
    ContactError
        If bodies cannot be moved apart: there is no room, or the joints do not let them.

    Examples
    --------
    >>> import spatialops as so
    >>> builder = so.TreeBuilder()
    >>> inertia = so.Inertia.sphere(0.1, mass=1.0)
    >>> body = builder.add_body("body", joint=so.Joint("free"), inertia=inertia)
    >>> geoms = [so.Geom("ball", "body", so.Sphere(0.1)), so.Geom("floor", "world", so.HalfSpace())]
    >>> scene = so.Scene(builder.build(), geoms)    # the ball's middle is on the floor
    >>> float(so.separate(scene).q[2].round(5))
    0.1
    """
    if not isinstance(scene, Scene):
        raise ArgumentError(f"scene: expected a Scene, got {type(scene).__name__}")
    setup = Simulator(scene, certify="off", dry_friction=False).setup
    now = checked_state(scene.state if state is None else state, scene.model)
    allowed = _ALLOWED * float(setup.settings[at.DEPTH])
    loops = LoopStart(scene, setup.options.dt)
    probe = None
    for _ in range(_ROUNDS):
        probe = detected(setup, probe, now)
        t = probe.tables
        if not _lowest_gap(t) < -allowed:
            return now
        loops.begin(t)
        _push_apart(t)
        moved = state_of(t)
        if not (np.isfinite(moved.q).all() and np.isfinite(moved.v).all()):
            break
        if (closed := _closed(scene, moved)) is None:
            break
        now = closed
    raise ContactError(_stuck(setup, now, allowed))


def _lowest_gap(t: Tables) -> float:
    return float(t.seen[: t.control[at.SEEN], col.GAP].min(initial=0.0))


@entered
def _push_apart(t: Tables) -> None:
    t.monitor[at.OPENING] = col.INFINITE  # of closures, which are closed after every push
    project_positions(refer(t))


def _closed(scene: Scene, state: State) -> State | None:
    """A state with its closures closed, which a push that goes far leaves open; None: in vain."""
    if not len(scene.loops):
        return state
    try:
        q, v = close_loops(scene.model, scene.loops, state.q, state.v, t=state.time)
    except ModelError:
        return None
    return replace(state, q=q, v=v)


def _stuck(setup: Setup, state: State, allowed: float) -> str:
    left = overlaps(setup, state, allowed)
    pairs = ", ".join(f"{one.a!r} is {one.depth:.2e} m in {one.b!r}" for one in left[:4])
    return (
        f"separate: {pairs or 'joints are beyond their limits'} after {_ROUNDS} rounds: there is "
        "no room, or the joints do not let them apart"
    )
