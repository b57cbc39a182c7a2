"""The loop's tables as laws, solvers and people read them, and what goes into them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

import spatialops._layout as layout
from spatialops._arrays import Array, IntArray
from spatialops.collision import _layout as col
from spatialops.collision.contact_set import ContactSet
from spatialops.collision.narrow_phase.remembered import forget_all
from spatialops.collision.pair_runs import count_pairs
from spatialops.contact.constraint_rows import CONTACT, DRY, STOP
from spatialops.contact.problem import ContactProblem, Phase
from spatialops.contact.problem_checks import Fields
from spatialops.errors import ArgumentError
from spatialops.forces.elements import advance_activations
from spatialops.forces.external import ExternalWrenches
from spatialops.simulation import _layout as at
from spatialops.simulation.impact_models import Answer, Impact
from spatialops.simulation.inputs import Inputs
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.constraints.torsional_rolling import put_moments
from spatialops.simulation.stepping.contact_stage import put_change
from spatialops.simulation.stepping.tables import Tables
from spatialops.simulation.stepping.warm.memory_places import clear_places
from spatialops.tree.model import Model
from spatialops.tree.state import State

_BEGIN_AT_ZERO = np.array(
    [
        at.STAGE,
        at.STEP,
        at.ROWS,
        at.CONTACT_ROWS,
        at.EVENT_ROWS,
        at.IMPACTS,
        at.PIVOTS,
        at.PIVOTED,
        at.CODE,
        at.STILL,
    ]
)

_made = object.__new__
_NONE = np.zeros(0)
# Contacts that there is room for at first, and so many more as is the root of those that may be.
# Growing takes a millisecond: of robots that lie down 3 to 5 % of a second's steps.
_FIRST = 32
_PHASES: dict[int, Phase] = {at.COMPRESSED: "compression", at.DECOMPRESSED: "decompression"}


def contact_problem(scene: Scene, t: Tables) -> ContactProblem:
    """The contact problem that the loop has prepared, for any formulation and solver."""
    m = int(t.control[at.ACTING] - t.control[at.MOMENTS])
    contacts = ContactSet.from_tables(t.ints[:m], t.floats[:m])
    phase = _PHASES.get(int(t.control[at.STAGE]), "contact")
    fields = _of_contacts(t, contacts) | _of_closures(t) | {"phase": phase}
    fields |= _of_the_piece(scene.model, t, contacts) if phase == "contact" else _of_an_impact(t, m)
    damped = phase == "contact" and t.control[at.DAMPED]
    fields["model"] = with_links(scene.model, t.damped.copy()) if damped else scene.model
    problem = ContactProblem.of_checked(fields)
    if not np.isfinite(problem.velocity.sum() + problem.points.sum() + problem.bias.sum()):
        raise ArgumentError("the contact problem of the step holds NaN or infinity")
    # Closures hold what they do without the contacts: their reaction to everything else is in the
    # velocities already.
    if problem.n_loop_rows:
        held = problem.jacobian[: problem.n_loop_rows] @ problem.velocity
        problem = replace(problem, loop_targets=held)
    return problem if phase != "decompression" else replace(problem, velocity=_compressed(t))


def _of_contacts(t: Tables, contacts: ContactSet) -> Fields:
    """Where contacts are and what acts in them; torsion, rolling and drag are rows of the loop."""
    m = len(contacts.gaps)
    none = np.zeros(m)
    return {
        "links": contacts.links,
        "points": np.ascontiguousarray(contacts.positions),
        "frames": contacts.frames,
        "friction": np.ascontiguousarray(contacts.frictions),
        "gaps": np.ascontiguousarray(contacts.gaps),
        "prior_normal_impulse": t.prior[:m].copy(),
        "kinds": _kinds(t.ints[:m, col.CONTACT_FEATURE_A]),
        "dry": t.dry[:m].copy(),
        "viscous": none,
        "polygon_sides": np.zeros(m, dtype=np.int64),
        "torsion": none.copy(),
        "rolling": none.copy(),
    }


def _of_the_piece(model: Model, t: Tables, contacts: ContactSet) -> Fields:
    """At the end of a piece of the step, which the contacts have to last."""
    m = len(contacts.gaps)
    duration = float(t.monitor[at.PIECE])
    world = t.floats[:m, col.DRIFT : col.DRIFT + 3]
    return {
        "q": t.vectors[at.Q_E, : model.nq].copy(),
        "velocity": t.vectors[at.V_X, : model.nv].copy(),
        "gap_bias": t.floats[:m, col.OPEN].copy(),
        "drift": np.einsum("mij,mj->mi", contacts.frames, world),
        "duration": duration,
        # As `contact_drift.remaining_time`.
        "remaining": duration * (1.0 if t.control[at.SCHEME] == at.SEMI_IMPLICIT else 0.5),
    }


def _of_an_impact(t: Tables, m: int) -> Fields:
    return {
        "q": t.q.copy(),
        "velocity": t.v.copy(),
        "gap_bias": np.zeros(m),
        "drift": np.zeros((m, 3)),
        "duration": 0.0,
        "remaining": 0.0,
    }


def _compressed(t: Tables) -> Array:
    """Velocities (nv,) after an impact's first phase, and after what is given back of it."""
    rows = int(t.control[at.ACTING])
    given, dv = t.stored[: 3 * rows].copy(), np.empty(t.v.size)
    given[::3] += t.prior[:rows]
    # The rows of L have the closures' answer in them.
    put_change(t, given, dv)
    return t.v + dv


def _kinds(features: IntArray) -> IntArray:
    """Of contacts, stops and dry friction, by the feature of A."""
    return np.where(features == col.STOP, STOP, np.where(features == col.DRY, DRY, CONTACT))


def _of_closures(t: Tables) -> Fields:
    loop_ints, loop_terms = _independent_terms(t)
    return {
        "loop_ints": loop_ints,
        "loop_terms": loop_terms,
        "loop_targets": np.zeros(int(t.control[at.RANK])),
    }


def _independent_terms(t: Tables) -> tuple[IntArray, Array]:
    """Terms of the closures' rows that are independent where the loop stands, numbered anew."""
    if not len(t.order):
        return t.term_ints, t.terms
    kept = _independent_rows(t)
    number = np.full(len(t.order), -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    ints = t.term_ints.copy()
    ints[:, layout.TERM_ROW] = number[ints[:, layout.TERM_ROW]]
    chosen = ints[:, layout.TERM_ROW] >= 0
    return ints[chosen], t.terms[chosen]


def _independent_rows(t: Tables) -> IntArray:
    """Rows of closures that others do not imply, mechanism by mechanism."""
    ranks = t.closure_vectors[at.RANKS].astype(np.int64)
    firsts = t.mechanisms[:, at.CLOSED_ROW]
    return np.concatenate(
        [row + t.order[row : row + rank] for row, rank in zip(firsts, ranks, strict=False)]
    )


def load_state(t: Tables, state: State, tau: Array, steps: int) -> None:
    """Begin anew at a state, with so many steps to do.

    The past, and what is remembered of contacts and pairs, is kept where it has led to this state.
    """
    here = t.monitor[at.TIME] == state.time and (t.q == state.q).all() and (t.v == state.v).all()
    if not here:
        without_past(t)
        forget_all(t.remembered)
        t.control[at.MEMORY_ROWS] = 0
        clear_places(t.memory_places)
    kept = t.monitor[at.LENGTHS_BEFORE :].copy()
    t.memory[: t.control[at.MEMORY_ROWS], at.MEMORY_STEP] -= t.control[at.STEP]
    t.q[:] = state.q
    t.v[:] = state.v
    put_activation(t, state)
    t.tau[:] = tau
    put_wrenches(t, None)
    t.ctrl[:] = t.rest_ctrl
    t.monitor[:] = 0.0
    t.monitor[at.LENGTHS_BEFORE :] = kept
    t.monitor[at.LONGEST] = t.settings[at.DT]
    t.monitor[at.TIME] = state.time
    t.control[_BEGIN_AT_ZERO] = 0
    t.control[at.STEPS_LEFT] = steps


def load_new(t: Tables, state: State) -> None:
    """The same in tables that are new, or as if they were: without forces, and no steps to do."""
    t.q[:] = state.q
    t.v[:] = state.v
    put_activation(t, state)
    t.monitor[at.LONGEST] = t.settings[at.DT]
    t.monitor[at.TIME] = state.time


def without_past(t: Tables) -> None:
    """As `forget_past` in the loop: the next step looks for its middle velocity from nothing."""
    t.control[at.PAST] = 0
    t.control[at.PUSHES] = 0
    t.monitor[at.LENGTHS_BEFORE :] = 0.0
    t.vectors[at.PUSHED_BEFORE :] = 0.0
    t.floating[:, at.PUT_RIGHT] = 0.0


def put_activation(t: Tables, state: State) -> None:
    """Activations of a checked state: none given stands for zeros."""
    t.activation[:] = state.activation if state.activation.size else 0.0


def put_wrenches(t: Tables, wrenches: Array | None) -> None:
    """Wrenches (n_bodies, 6) of the coming step, about the bodies' origins, world axes."""
    if wrenches is None and not t.control[at.WRENCHED]:
        return
    t.wrenches[:] = 0.0 if wrenches is None else wrenches
    t.control[at.WRENCHED] = wrenches is not None or len(t.compensation) > 0


def put_inputs(t: Tables, inputs: Inputs, dt: float) -> None:
    """All that acts in the coming step; wrenches as they are in its middle."""
    t.tau[:] = inputs.tau
    t.ctrl[:] = inputs.ctrl
    put_external(t, inputs.external, dt)


def put_external(t: Tables, external: ExternalWrenches | None, dt: float) -> None:
    """Wrenches of the coming step, as they are in its middle."""
    if external is None or external.constant is not None:
        put_wrenches(t, None if external is None else external.constant)
    else:
        now = state_of(t)
        advance_activations(t.element_ints, t.elements, t.ctrl, now.activation, 0.5 * dt)
        put_wrenches(t, external.midway(now, dt))


def state_of(t: Tables) -> State:
    """The state in the tables.

    Made past the constructor of what cannot be changed, which takes 0.5 us more.
    """
    state = _made(State)
    fields = state.__dict__
    fields["q"] = t.q.copy()
    fields["v"] = t.v.copy()
    fields["time"] = t.monitor.item(at.TIME)
    fields["activation"] = t.activation.copy() if t.activation.size else _NONE
    return state


def with_links(model: Model, links: Array) -> Model:
    """The model with another table of links, in all that is made of it."""
    return replace(model, links=links)


def joint_sums(t: Tables, row: int) -> Array:
    """A row of what the joints' stops and dry friction did in the step, (nv,)."""
    return t.row_joints[0, row].copy() if len(t.joint_ints) else np.zeros(t.v.size)


def acting(t: Tables) -> ContactSet:
    """The acting contacts of geoms: those of joints, and moments, come behind them."""
    m = int(t.control[at.ACTING])
    if m and (len(t.joint_ints) or t.control[at.MOMENTS]):
        pairs = t.ints[:m, col.CONTACT_PAIR]
        m = int(np.count_nonzero((pairs >= 0) & (pairs < count_pairs(t.pair_runs))))
    return ContactSet.from_tables(t.ints[:m], t.floats[:m])


def put_answer(t: Tables, problem: ContactProblem, answer: Answer | Impact) -> None:
    """Impulses and moments of the prepared problem into the tables."""
    t.impulses[: answer.impulses.size] = answer.impulses.ravel()
    t.statuses[: t.control[at.ACTING]] = -1  # those of an answer from elsewhere are not known
    if t.control[at.MOMENTS]:
        none = np.zeros((problem.n_contacts, 3))
        put_moments(t, none if answer.moments is None else answer.moments)
    t.monitor[at.RESIDUAL] = max(t.monitor[at.RESIDUAL], answer.residual)
    t.control[at.PIVOTS] += answer.iterations


def first_capacity(scene: Scene) -> int:
    """Contacts to make room for at first; the tables grow where there are more."""
    return max(1, min(scene.most_contacts, _FIRST + math.isqrt(scene.most_contacts)))
