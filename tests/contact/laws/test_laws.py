"""Every law of contact by its own conditions, from their definitions with the dense mass matrix."""

import dataclasses

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import (
    LAWS,
    ConeCoulomb,
    Convex,
    Coulomb,
    Frictionless,
    MaxDissipation,
    NoSlip,
    Pairwise,
    Viscous,
    check_law,
    indeterminacy,
)
from spatialops.contact.laws.wedges import wedged
from spatialops.errors import ArgumentError
from tests.support.contacts import block_problem, check_laws, feet_problem, random_problem

FEET = [(x, y, -0.2) for x in (-0.5, 0.0, 0.5) for y in (-0.5, 0.5)]
EXACT = (Coulomb(), ConeCoulomb(), NoSlip(), NoSlip(hold="all"), Frictionless())
EVERY = (*EXACT, Convex(), MaxDissipation(), MaxDissipation(regularization=1e-6))


def problems(rng, count=12, loops=(0,), **options):
    """Random problems; closures ask for what the mechanism does, so that laws can be obeyed."""
    for k in range(count):
        rows = loops[k % len(loops)]
        redundant = 1 if rows > 1 and k % 3 == 0 else 0
        size = {"n": int(rng.integers(1, 8))} | options
        problem = random_problem(
            rng,
            int(rng.integers(1, 8)),
            loops=rows,
            redundant=redundant,
            prior_normal_impulse=k % 2 == 0,
            **size,
        )
        targets = problem.jacobian[:rows] @ np.zeros(problem.model.nv)
        yield dataclasses.replace(problem, loop_targets=targets)


def motion(problem, answer, tolerance=1e-8):
    """Velocities (m, 3) along the frames, and the scale.

    Checks momentum, closures and non-penetration on the way.
    """
    G, n_b = problem.jacobian, problem.n_loop_rows
    p = np.concatenate([answer.loop_impulses, answer.impulses.ravel()])
    M = so.mass_matrix(problem.model, problem.q)
    momentum = M @ (answer.velocity - problem.velocity) - G.T @ p
    assert np.abs(momentum).max() <= tolerance * max(
        np.abs(M @ problem.velocity).max(), np.abs(G.T @ p).max(), 1e-12
    )
    u, scale = G @ answer.velocity, np.abs(problem.velocities).max(initial=1e-12)
    assert np.abs(u[:n_b] - problem.loop_targets).max(initial=0.0) <= tolerance * scale
    contact = u[n_b:].reshape(-1, 3)
    assert (contact[:, 0] + problem.gap_bias).min(initial=0.0) >= -tolerance * scale
    assert np.allclose(
        answer.slip, np.hypot(contact[:, 1], contact[:, 2]), rtol=0.0, atol=tolerance * scale
    )
    return contact, scale


def weight(problem, answer):
    """What impulses are measured by, N s."""
    largest = problem.compliance.diagonal()[problem.n_loop_rows :].max(initial=1e-12)
    return max(
        np.abs(answer.impulses).max(initial=0.0),
        np.abs(problem.velocities).max(initial=1e-12) / largest,
    )


def check_normals(problem, answer, tolerance=1e-8):
    contact, scale = motion(problem, answer)
    w = weight(problem, answer)
    assert answer.impulses[:, 0].min() >= -tolerance * w
    assert (
        np.abs(answer.impulses[:, 0] * (contact[:, 0] + problem.gap_bias)).max()
        <= tolerance * w * scale
    )
    return contact, scale, w


def kinetic(problem, v):
    return 0.5 * v @ so.mass_matrix(problem.model, problem.q) @ v


@pytest.mark.parametrize("loops", [(0,), (1, 2, 3)])
def test_cone(loops, rng):
    slides = 0
    for problem in problems(rng, 20, loops):
        answer = ConeCoulomb().solve(problem)
        assert answer.solved, (answer.residual, answer.detail)
        contact, scale, w = check_normals(problem, answer)
        limit = problem.friction * (answer.impulses[:, 0] + problem.prior_normal_impulse)
        friction = answer.impulses[:, 1:]
        assert (np.hypot(*friction.T) - limit).max() <= 1e-8 * w
        for i in np.flatnonzero(answer.slip > 1e-6 * scale):
            slides += 1
            assert friction[i] @ contact[i, 1:] == pytest.approx(
                -limit[i] * answer.slip[i], rel=0.0, abs=1e-7 * scale * w
            )
    assert slides > 10


@pytest.mark.parametrize("loops", [(0,), (1, 2)])
@pytest.mark.parametrize("hold", ["touching", "all"])
def test_no_slip(hold, loops, rng):
    pushed = left = 0
    for problem in problems(rng, 30, loops):
        answer = NoSlip(hold=hold).solve(problem)
        assert answer.solved, (answer.residual, answer.detail)
        contact, scale, w = check_normals(problem, answer)
        slip, friction = np.hypot(*contact[:, 1:].T), np.hypot(*answer.impulses[:, 1:].T)
        presses = answer.impulses[:, 0] + problem.prior_normal_impulse > 0.0
        assert slip[presses].max(initial=0.0) <= 1e-8 * scale
        if hold == "all":
            assert slip.max() <= 1e-8 * scale
        else:  # what slides is neither pressed nor held
            assert friction[slip > 1e-6 * scale].max(initial=0.0) <= 1e-8 * w
        assert (answer.impulses[:, 0] > 0.0).sum() <= problem.model.nv
        pushed += (answer.impulses[:, 0] > 0.0).sum()
        left += (slip > 1e-6 * scale).sum()
    assert pushed > 10
    assert (left > 5) == (hold == "touching")


def test_contacts_without_friction_slip_in_the_law_without_slip():
    problem = feet_problem(FEET, velocity=(1.0, 0.5, -1.0), mu=0.0)
    answer = NoSlip().solve(problem)
    assert answer.solved
    assert answer.slip == pytest.approx(np.full(6, np.hypot(1.0, 0.5)))
    assert not answer.impulses[:, 1:].any()


@pytest.mark.parametrize("law", [NoSlip(), ConeCoulomb(), ConeCoulomb(solver="newton")])
def test_what_presses_only_since_it_is_held_is_free(law):
    """Painleve: a foot ahead of the centre that parts at 5 cm/s, or jams at 1 m/s."""
    problem = feet_problem([(0.5, 0.0, -0.5)], velocity=(1.0, 0.0, 0.05), mu=10.0)
    L = problem.response.L
    jammed = np.linalg.solve(L @ L.T, -problem.velocities)[None]
    assert jammed[0, 0] > 0.3
    assert np.hypot(*jammed[0, 1:]) < 10.0 * jammed[0, 0]  # it sticks, and is an answer as well
    assert wedged(problem, jammed) == pytest.approx([0.05])
    for start in (None, jammed):
        answer = law.solve(problem, start)
        assert answer.solved
        assert not answer.impulses.any()


def test_coulomb_is_the_formulation(rng):
    for problem in problems(rng, 6, (0, 2)):
        answer = Coulomb(n_f=8).solve(problem)
        assert answer.solved
        check_laws(problem, answer, 8)


def test_frictionless(rng):
    for problem in problems(rng, 20, (0, 2)):
        answer = Frictionless().solve(problem)
        assert answer.solved
        check_normals(problem, answer)
        assert not answer.impulses[:, 1:].any()
        smooth = Coulomb().solve(
            dataclasses.replace(problem, friction=np.zeros(problem.n_contacts))
        )
        assert answer.velocity == pytest.approx(
            smooth.velocity, abs=1e-8 * np.abs(problem.velocities).max()
        )


def test_convex_relaxation_says_what_it_costs(rng):
    sliding = Convex().solve(block_problem((3.0, 0.0, -1.0)))
    assert sliding.solved
    # It leaves with mu |u_t|: v = (3 - mu p, p - 1), p - 1 = mu (3 - mu p) at unit mass per unit
    # impulse.
    p = (1.0 + 0.5 * 3.0) / (1.0 + 0.25)
    assert sliding.velocity[3:] == pytest.approx([3.0 - 0.5 * p, 0.0, p - 1.0], abs=1e-8)
    assert sliding.separation == pytest.approx(0.5 * (3.0 - 0.5 * p), abs=1e-8)
    assert sliding.exact > 0.1
    sticking = Convex().solve(block_problem((0.1, 0.0, -1.0)))
    assert sticking.solved
    assert sticking.exact < 1e-8
    assert sticking.separation == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("law", EVERY, ids=repr)
def test_energy_is_never_gained(law, rng):
    checked = 0
    for problem in problems(rng, 20):
        still = dataclasses.replace(problem, gap_bias=None, prior_normal_impulse=None)
        answer = law.solve(still)
        assert answer.solved, (answer.residual, answer.detail)
        before, after = kinetic(still, still.velocity), kinetic(still, answer.velocity)
        assert after <= before * (1.0 + 1e-10)
        checked += after < before * 0.999
    assert checked > 5


def test_laws_agree_where_nothing_slips(rng):
    """A block that falls on its feet and hardly moves sideways sticks under each of them."""
    problem = feet_problem(FEET, velocity=(0.05, -0.02, -1.0), spin=(0.1, 0.0, 0.02), mu=0.9)
    reference = NoSlip(hold="all").solve(problem)
    for law in (Coulomb(), ConeCoulomb(), NoSlip(), Convex(), MaxDissipation()):
        answer = law.solve(problem)
        assert answer.solved
        assert np.abs(answer.velocity - reference.velocity).max() <= 1e-8, law


def test_cone_and_polyhedron_agree_along_the_axes():
    problem = block_problem((3.0, 0.0, -1.0))
    cone, facets = ConeCoulomb().solve(problem), Coulomb().solve(problem)
    assert cone.velocity == pytest.approx(facets.velocity, abs=1e-9)
    skew = block_problem((3.0 * np.cos(np.pi / 8.0), 3.0 * np.sin(np.pi / 8.0), -1.0))
    assert ConeCoulomb().solve(skew).slip == pytest.approx([2.5], abs=1e-9)
    assert abs(Coulomb().solve(skew).slip[0] - 2.5) > 1e-3


def test_an_impulse_that_presses_already_widens_the_friction_limit():
    problem = dataclasses.replace(
        block_problem((3.0, 0.0, 1.0)), prior_normal_impulse=[2.0]
    )  # it leaves: p_n = 0, limit mu theta
    answer = ConeCoulomb().solve(problem)
    assert answer.solved
    assert answer.impulses[0] == pytest.approx([0.0, -1.0, 0.0], abs=1e-9)
    assert answer.velocity[3:] == pytest.approx([2.5, 0.0, 1.0], abs=1e-9)


@pytest.mark.parametrize("regularization", [None, 1e-8])
def test_most_dissipation(regularization, rng):
    """Others that friction and contact admit leave more kinetic energy, all the way."""
    for problem in problems(rng, 8):
        still = dataclasses.replace(problem, gap_bias=None, prior_normal_impulse=None)
        answer = MaxDissipation(regularization=regularization).solve(still)
        assert answer.solved, answer.detail
        motion(still, answer)
        w = weight(still, answer)
        assert answer.impulses[:, 0].min() >= -1e-8 * w
        sides = np.abs(answer.impulses[:, 1:]).sum(axis=1)
        assert (sides - still.friction * answer.impulses[:, 0]).max() <= 1e-8 * w
        least, before = kinetic(still, answer.velocity), kinetic(still, still.velocity)
        u = still.jacobian @ answer.velocity  # the gradient of the energy by the impulses
        for other in (Coulomb(), Frictionless()):  # what these do is admissible
            reference = other.solve(still)
            assert least <= kinetic(still, reference.velocity) + 1e-7 * before
            assert u @ (reference.impulses - answer.impulses).ravel() >= -1e-6 * before


def test_two_stages_share_the_load():
    feet = [(x, y, -0.2) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    problem = feet_problem(feet, velocity=(0.0, 0.0, -1.0))
    assert not indeterminacy(problem).unique
    answer = MaxDissipation().solve(problem)
    assert answer.solved
    assert answer.impulses[:, 0] == pytest.approx(np.full(4, 0.25), abs=1e-9)
    assert np.abs(answer.impulses[:, 1:]).max() <= 1e-9
    assert np.abs(answer.velocity).max() <= 1e-9


@pytest.mark.parametrize("law", EVERY, ids=repr)
@pytest.mark.parametrize("copies", [2, 5])
def test_redundant_contacts_move_alike(law, copies):
    once = feet_problem(FEET, velocity=(0.3, 0.1, -1.0), spin=(0.2, -0.1, 0.0))
    again = feet_problem(FEET * copies, velocity=(0.3, 0.1, -1.0), spin=(0.2, -0.1, 0.0))
    one, many = law.solve(once), law.solve(again)
    assert one.solved
    assert many.solved
    if not isinstance(
        law, (Coulomb, ConeCoulomb, MaxDissipation)
    ):  # those depend on how the load is shared
        assert many.velocity == pytest.approx(one.velocity, abs=1e-8)


@pytest.mark.parametrize("law", EVERY, ids=repr)
def test_without_contacts(law, rng):
    for loops in (0, 2):
        problem = random_problem(rng, 0, loops=loops)
        answer = law.solve(problem)
        assert answer.solved
        assert answer.impulses.shape == (0, 3)
        if not loops:
            assert np.array_equal(answer.velocity, problem.velocity)
        motion(problem, answer)


@pytest.mark.parametrize("law", EXACT, ids=repr)
def test_nothing_happens_where_nothing_meets(law):
    answer = law.solve(block_problem((1.0, 2.0, 0.5)))
    if law == NoSlip(hold="all"):
        assert answer.slip == pytest.approx([0.0])  # the law as printed holds what leaves
        return
    assert answer.solved
    assert not answer.impulses.any()


@pytest.mark.parametrize("law", EVERY, ids=repr)
def test_the_same_to_the_last_bit_and_warm_or_cold(law, rng):
    problem = random_problem(rng, 5)
    first, second = law.solve(problem), law.solve(problem)
    assert np.array_equal(first.impulses, second.impulses)
    warm = law.solve(problem, first.impulses)
    assert warm.solved
    assert warm.velocity == pytest.approx(first.velocity, abs=1e-7)


def test_no_law_claims_an_impossible_problem():
    """A mechanism that a closure drives into the floor."""
    problem = block_problem((0.0, 0.0, -1.0))
    terms = np.zeros((1, 9))
    terms[0, 3:6] = problem.frames[0][0]
    terms[0, :3] = problem.points[0]
    link = problem.links[0, 0]
    for slots in (slice(3, 6), slice(6, 9)):  # linear or angular columns, whichever the layout has
        terms = np.zeros((1, 9))
        terms[0, :3], terms[0, slots] = problem.points[0], (0.0, 0.0, 1.0)
        driven = dataclasses.replace(
            problem, loop_ints=[[0, link, -1]], loop_terms=terms, loop_targets=[-2.0]
        )
        if abs(driven.jacobian[0, 5]) == 1.0:
            break
    else:
        pytest.fail("no closure along the normal")
    for law in EVERY:
        answer = law.solve(driven)
        assert not answer.solved, law
        assert answer.residual > 0.1, law
        assert answer.detail


def test_names_and_bad_input(rng):
    assert {type(check_law(name)) for name in LAWS} == {
        Coulomb,
        ConeCoulomb,
        Convex,
        NoSlip,
        Frictionless,
        MaxDissipation,
        Viscous,
        Pairwise,
    }
    law = NoSlip(hold="all")
    assert check_law(law) is law
    for bad in ("sticky", NoSlip, None, 3):
        with pytest.raises(ArgumentError, match="law: expected"):
            check_law(bad)
    with pytest.raises(ArgumentError, match="hold"):
        NoSlip(hold="none")
    with pytest.raises(ArgumentError, match="n_f"):
        MaxDissipation(n_f=3)
    with pytest.raises(ArgumentError, match="regularization"):
        MaxDissipation(regularization=0.0)
    with pytest.raises(ArgumentError, match="solver"):
        ConeCoulomb(solver="lemke")
    with pytest.raises(ArgumentError, match="formulation"):
        Coulomb(formulation="xyz")
    problem = random_problem(rng, 2)
    for law in EVERY:
        with pytest.raises(ArgumentError, match="problem"):
            law.solve(None)
        with pytest.raises(ArgumentError, match="warm_start"):
            law.solve(problem, np.zeros(6))
        with pytest.raises(ArgumentError, match="warm_start"):
            law.solve(problem, np.full((2, 3), np.nan))


@pytest.mark.compiled
@pytest.mark.parametrize("apart", [1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10])
def test_duplicates_that_are_not_quite(apart):
    """Six feet, each twice, `apart` from each other.

    Tangents of both would hold a rotation by impulses u / apart.
    """
    for seed in range(3):
        rng = np.random.default_rng(seed)
        arms = np.array(FEET * 2) + apart * np.vstack([np.zeros((6, 3)), rng.normal(size=(6, 3))])
        problem = feet_problem(arms, velocity=(0.3, 0.2, -1.0), spin=(0.3, -0.5, 0.4))
        answer = NoSlip().solve(problem)
        assert answer.solved
        assert answer.residual <= 1e-9
        assert answer.slip.max() < 2e-9
        endless = dataclasses.replace(problem, friction=np.full(12, np.inf))
        for law in (ConeCoulomb(), Coulomb(), Pairwise()):
            assert law.solve(endless).solved, law


@pytest.mark.parametrize("law", [ConeCoulomb(), Convex(), MaxDissipation(), Coulomb()], ids=repr)
def test_what_dry_friction_holds_at_rest_is_solved(law):
    # Rows move by roundings; friction could stop 1e-3 N s: relative to the roundings no answer is.
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    parent = "world"
    for i in range(3):
        joint = so.Joint("revolute", axis="y", dry_friction=1.0)
        inertia = so.Inertia.sphere(0.1, mass=1.0 + i)
        builder.add_body(
            f"b{i}", parent=parent, joint=joint, inertia=inertia, position=(0.3, 0.0, 0.1)
        )
        parent = f"b{i}"
    still = so.State(np.array([0.3, -0.4, 0.5]), np.array([1e-18, -3e-19, 7e-19]))
    problem = so.Simulator(so.Scene(builder.build(), []), dt=1e-3).problem(still)
    assert 0.0 < np.abs(problem.velocities).max() < 1e-15
    answer = law.solve(problem)
    assert answer.solved
    assert np.abs(answer.impulses).max() < 1e-15
