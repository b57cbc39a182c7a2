"""Derivatives of closed mechanisms: differences on random closures, linkages and legs."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ModelError
from tests.support.loops import KINDS, onto, random_loop, random_loops
from tests.support.trees import (
    KINDS as TREE_KINDS,
)
from tests.support.trees import (
    random_inertia,
    random_joint,
    random_rotation,
    random_tree,
    relative_error,
)

TOLERANCE = 1e-9
STEP = 5e-4  # of a difference of fourth order


def central(function, direction=1.0):
    f = [np.asarray(function(c * STEP * direction)) for c in (-2.0, -1.0, 1.0, 2.0)]
    return (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * STEP)


def columns(function, nv):
    return np.stack([central(function, e) for e in np.eye(nv)], axis=1)


def differences(model, loops, q, v, tau, external=None):
    """Both results by q, v and tau, accelerations above multipliers."""

    def both(*at):
        return np.concatenate(so.constrained_dynamics(model, loops, *at, external)[:2])

    return (
        columns(lambda d: both(so.integrate(model, q, d), v, tau), model.nv),
        columns(lambda d: both(q, v + d, tau), model.nv),
        columns(lambda d: both(q, v, tau + d), model.nv),
    )


def stacked(by):
    return [np.concatenate(pair) for pair in zip(by.accelerations, by.multipliers)]


def check(model, loops, q, v, tau, external=None):
    by = so.constrained_dynamics_derivatives(model, loops, q, v, tau, external)
    assert not by.redundant  # else the rank jumps beside q
    for found, expected in zip(stacked(by), differences(model, loops, q, v, tau, external)):
        assert relative_error(found[: model.nv], expected[: model.nv]) < TOLERANCE
        assert relative_error(found[model.nv :], expected[model.nv :]) < TOLERANCE


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 2, 3])
def test_every_closure_on_random_trees(kind, seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 7)
    q, tau = model.random(rng), rng.normal(size=model.nv)
    loops = so.Loops(model, [random_loop(rng, model, q, kind, "loop")])
    v = onto(so.loop_jacobian(model, loops, q), rng.normal(size=model.nv))
    check(model, loops, q, v, tau)


@pytest.mark.compiled
@pytest.mark.parametrize("kind", [kind for kind in TREE_KINDS if kind != "fixed"])
@pytest.mark.parametrize("ends", [(3, "world"), ("world", 3), (3, 0), (0, 3), (3, 5), (5, 3)])
def test_every_joint_on_either_side(kind, ends):
    """Balls and free joints are several axes at one origin, which turn together."""
    rng = np.random.default_rng(11)
    builder = so.TreeBuilder(gravity=(0.3, -0.2, -9.81))
    base = "planar" if kind == "free" else "free"
    inner = "ball" if kind == "free" else kind
    parents = ("world", "b0", "b1", "b2", "world" if kind == "free" else "b0", "b4")
    for i, (parent, own) in enumerate(
        zip(parents, (base, inner, "ball", "universal", kind, "ball"))
    ):
        joint = random_joint(rng, own)
        place = {"position": rng.normal(size=3), "rotation": random_rotation(rng)}
        builder.add_body(f"b{i}", parent=parent, joint=joint, inertia=random_inertia(rng), **place)
    model = builder.build()
    q, tau = model.random(rng), rng.normal(size=model.nv)
    for name in ("prismatic", "distance"):
        at = {"point": rng.normal(size=3), "axis": rng.normal(size=3), "name": name}
        if name == "distance":
            loops = so.Loops(model, [rod(model, q, *ends)])
        else:
            loops = so.Loops(model, [so.loop_at(model, q, name, *ends, **at)])
        v = onto(so.loop_jacobian(model, loops, q), rng.normal(size=model.nv))
        check(model, loops, q, v, tau)


def rod(model, q, a, b):
    places = (0.1, -0.2, 0.3), (0.2, 0.1, -0.1)
    at = so.node_positions(model, q, [so.Node(a, places[0]), so.Node(b, places[1])])
    length = float(np.linalg.norm(at[0] - at[1]))
    ends = {"position_a": places[0], "position_b": places[1], "distance": length}
    return so.Loop(kind="distance", a=a, b=b, **ends)


@pytest.mark.compiled
@pytest.mark.parametrize("seed", [2, 3, 4, 5, 7, 8])  # none with redundant rows
def test_several_closures_and_wrenches(seed):
    """Velocities need not be those of the mechanism, nor be closures closed."""
    rng = np.random.default_rng(40 + seed)
    model = random_tree(rng, 8, ("free", "ball", "universal", "cylindrical"), each=True)
    q = model.random(rng)
    v = rng.normal(size=model.nv)
    tau = rng.normal(size=model.nv)
    loops = random_loops(rng, model, q, 3)
    q = so.integrate(model, q, 1e-2 * rng.normal(size=model.nv))
    check(model, loops, q, v, tau, rng.normal(size=(model.n_bodies, 6)))


def leg_with_rods():
    """A floating pelvis with a leg as Cassie's: two rods hold its heel and its foot."""
    builder = so.TreeBuilder()
    rods = {"pelvis": 0.0, "thigh": 0.3, "shin": 0.4, "tarsus": 0.4, "foot": 0.15}
    parent = "world"
    for name, length in rods.items():
        joint = so.Joint("revolute", axis="y") if length else "free"
        inertia = so.Inertia.capsule(0.04, length or 0.2, mass=2.0).shifted((0, 0, -length / 2))
        at = (0.0, 0.0, -rods.get(parent, 0.0))
        builder.add_body(name, parent=parent, joint=joint, inertia=inertia, position=at)
        parent = name
    model = builder.build()
    q = model.neutral()
    q[-4:] = 0.6, -1.0, 1.4, -0.5
    ends = [("tarsus", (-0.1, 0.0, 0.0), "thigh", (0.02, 0.05, 0.0))]
    ends.append(("foot", (-0.08, 0.02, 0.0), "shin", (0.0, 0.0, -0.3)))
    loops = []
    for a, place_a, b, place_b in ends:
        at = so.node_positions(model, q, [so.Node(a, place_a), so.Node(b, place_b)])
        length = float(np.linalg.norm(at[0] - at[1]))
        places = {"position_a": place_a, "position_b": place_b, "distance": length}
        loops.append(so.Loop(kind="distance", a=a, b=b, name=f"{a} rod", **places))
    loops.append(so.Loop.mimic("tarsus", of="shin", multiplier=-1.3, offset=0.1))
    return model, so.Loops(model, loops), q


def test_a_leg_with_rods_and_a_coupler(rng):
    model, loops, q = leg_with_rods()
    v = onto(so.loop_jacobian(model, loops, q), rng.normal(size=model.nv))
    check(model, loops, q, v, rng.normal(size=model.nv))


def doubled_closures():
    """Two pins in place of one: all three rows of the second are redundant."""
    bar = so.models.four_bar()
    one = bar.loops.items[0]
    places = {"position_a": one.position_a, "position_b": one.position_b}
    pins = [so.Loop(kind="ball", a=one.a, b=one.b, name=name, **places) for name in "ab"]
    return bar.model, so.Loops(bar.model, pins), bar.state.q


def linkage(name):
    made = getattr(so.models, name)()
    return made.model, made.loops, made.state.q


@pytest.mark.parametrize(
    "mechanism",
    [lambda: linkage("four_bar"), lambda: linkage("bricard"), doubled_closures],
    ids=["four_bar", "bricard", "doubled"],
)
def test_redundant_rows_along_motions_of_the_mechanism(mechanism, rng):
    """There the rank stays: both ends of a difference are closed, with velocities that are."""
    model, loops, q = mechanism()
    tau, wish = rng.normal(size=model.nv), rng.normal(size=model.nv)
    G = so.loop_jacobian(model, loops, q)
    u = onto(G, rng.normal(size=model.nv))

    def at(s):
        closed = so.close_loops(model, loops, so.integrate(model, q, s * u)) if s else q
        return closed, onto(so.loop_jacobian(model, loops, closed), wish)

    def motion(s):
        return np.concatenate(so.constrained_dynamics(model, loops, *at(s), tau)[:2])

    by = so.constrained_dynamics_derivatives(model, loops, *at(0.0), tau)
    assert by.redundant
    turned = central(lambda s: at(s)[1])
    by_q, by_v = stacked(by)[:2]
    found = by_q @ u + by_v @ turned
    expected = central(motion)
    assert relative_error(found[: model.nv], expected[: model.nv]) < TOLERANCE
    assert relative_error(found[model.nv :], expected[model.nv :]) < TOLERANCE


def test_the_answer_to_forces_is_symmetric_and_keeps_closures(rng):
    """da / dtau = Y - Y G* (G Y G*)^+ G Y."""
    model, loops, q = leg_with_rods()
    G = so.loop_jacobian(model, loops, q)
    v, tau = onto(G, rng.normal(size=model.nv)), rng.normal(size=model.nv)
    by = so.constrained_dynamics_derivatives(model, loops, q, v, tau)
    response = by.accelerations.dtau
    assert relative_error(response, response.T) < 1e-12
    assert np.abs(G @ response).max() < 1e-12 * np.abs(response).max() * np.abs(G).max()
    # Forces of closures move nothing, and multipliers answer them.
    assert np.abs(response @ G.T).max() < 1e-12 * np.abs(response).max() * np.abs(G).max()
    assert np.allclose(by.multipliers.dtau @ G.T, -np.eye(loops.n_rows), atol=1e-11)


def test_without_closures_they_are_those_of_forward_dynamics(rng):
    model = random_tree(rng, 5)
    q = model.random(rng)
    v = rng.normal(size=model.nv)
    tau = rng.normal(size=model.nv)
    by = so.constrained_dynamics_derivatives(model, so.Loops(model), q, v, tau)
    expected = so.forward_dynamics_derivatives(model, q, v, tau)
    for found, matrix in zip(by.accelerations, expected):
        assert relative_error(found, matrix) < 1e-11
    assert by.multipliers.dq.shape == (0, model.nv)


def test_driven_distances_are_known_and_driven_frames_refused(rng):
    model, loops, q = leg_with_rods()
    one = loops.items[0]
    places = {"position_a": one.position_a, "position_b": one.position_b}
    driven = so.Loop(
        kind="distance",
        a=one.a,
        b=one.b,
        distance=one.distance,
        rate=lambda t: [np.sin(t)],
        **places,
    )
    v, tau = rng.normal(size=(2, model.nv))
    check(model, so.Loops(model, [driven]), q, v, tau)
    frame = so.Loop(kind="ball", a=one.a, b=one.b, rate=(0.1, 0.0, 0.0), name="winch", **places)
    with pytest.raises(ModelError, match=r"'winch'.*driven"):
        so.constrained_dynamics_derivatives(model, [frame], q, v, tau)


def branches_in_pinocchio(pin, rng):
    """Two branches of hinges on one, here and in Pinocchio; `ids` are Pinocchio's joints."""
    builder, theirs = so.TreeBuilder(), pin.Model()
    hinges = {"x": pin.JointModelRX, "y": pin.JointModelRY, "z": pin.JointModelRZ}
    ids = {"world": 0}
    parents = {"a": "world", "b": "a", "c": "b", "d": "a", "e": "d", "f": "e"}
    for i, (name, parent) in enumerate(parents.items()):
        axis, place = "xyz"[i % 3], rng.uniform(-0.4, 0.4, 3)
        box = so.Inertia.box((0.2, 0.3, 0.1), mass=1.0 + 0.2 * i)
        joint = so.Joint("revolute", axis=axis)
        builder.add_body(name, parent=parent, joint=joint, inertia=box, position=place)
        at = pin.SE3(np.eye(3), place)
        ids[name] = theirs.addJoint(ids[parent], hinges[axis](), at, name)
        own = pin.Inertia(box.mass, np.zeros(3), box.tensor)
        theirs.appendBodyToJoint(ids[name], own, pin.SE3.Identity())
    return builder.build(), theirs, ids


def test_against_differences_of_pinocchios_dynamics(rng):
    """Along motions of a closed mechanism, where frames of rows do not matter."""
    pin = pytest.importorskip("pinocchio")
    model, theirs, ids = branches_in_pinocchio(pin, rng)
    q, point = rng.uniform(-1.0, 1.0, 6), np.array([0.1, 0.2, 0.3])
    loops = so.Loops(model, [so.loop_at(model, q, "ball", "c", "f", point=point, name="pin")])
    poses = so.body_poses(model, q)
    ends = []
    for name in "cf":
        body = model.body_names.index(name)
        local = poses.rotations[body].T @ (point - poses.positions[body])
        ends += [ids[name], pin.SE3(np.eye(3), local)]
    closures, memory = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    closures.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, theirs, *ends))
    memory.append(closures[0].createData())
    data, settings = theirs.createData(), pin.ProximalSettings(1e-14, 1e-12, 200)
    pin.initConstraintDynamics(theirs, data, closures, memory)
    wish, tau = rng.normal(size=6), rng.normal(size=6)
    u = onto(so.loop_jacobian(model, loops, q), rng.normal(size=6))

    def at(s):
        closed = so.close_loops(model, loops, so.integrate(model, q, s * u)) if s else q
        return closed, onto(so.loop_jacobian(model, loops, closed), wish)

    def theirs_at(s, push=0.0):
        a = pin.constraintDynamics(theirs, data, *at(s), tau + push, closures, memory, settings)
        return a.copy()

    by = so.constrained_dynamics_derivatives(model, loops, *at(0.0), tau).accelerations
    turned = central(lambda s: at(s)[1])
    assert relative_error(by.dq @ u + by.dv @ turned, central(theirs_at)) < TOLERANCE
    pushed = columns(lambda d: theirs_at(0.0, d), 6)
    assert relative_error(by.dtau, pushed) < TOLERANCE
