"""The formulations in plain NumPy, and the example of own code: structure, never times."""

from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from examples import table_two
from spatialops.bench.measure import Effort, Quartiles
from spatialops.compare import tables
from spatialops.compare.inverse_products import FORMS, InverseProduct, inverse_products
from spatialops.compare.kept_memory import kept_memory
from spatialops.compare.plain import PLAIN, ablation
from spatialops.compare.problems import Case, pendulum_case
from spatialops.compare.scaling import OS_PARTS, Growth, os_kernels, os_parts
from spatialops.compare.simulations import whole_simulation
from spatialops.contact.formulations.operational_space import OperationalSpace
from tests.support.contacts import random_problem

FAST = Effort(rounds=3, block=1e-5)


@pytest.mark.parametrize("loops", [0, 2])
def test_plain_formulations_move_as_ours(loops, rng):
    problem = random_problem(rng, 2, n=5, loops=loops, armature=False)
    rows = ablation(Case("drawn", problem, 5), PLAIN, 4, FAST)
    assert [row.formulation for row in rows] == list(PLAIN)
    for row in rows:
        assert row.difference <= 1e-8, row.formulation
        assert row.total == pytest.approx(row.assemble + row.solve + row.recover)
    text = tables.ablation_table(rows)
    assert len(text.splitlines()) == 2 + 3 * len(PLAIN) + 1


@pytest.mark.compiled
def test_the_example_solves_the_commands_problem(capsys):
    """The same ends of the pendulum hit the same planes: equal sizes, and both sides agree."""
    ratios = table_two.main(links=(3, 6), rounds=3)
    assert set(ratios) == {3, 6}
    assert "velocities differ" in capsys.readouterr().out
    for links in (3, 6):
        made = table_two.Pendulum(links)
        S = made.twists()
        rates = table_two.by_tree(made, table_two.Cones(0))
        bodies = table_two.by_free_bodies(made, S @ made.rates, table_two.Cones(5 * links))
        assert np.abs(S @ rates - bodies).max() < 1e-10
        assert np.abs(made.hinges() @ S).max() < 1e-12  # pins stay together
        problem = pendulum_case(links).problem
        ours = problem.jacobian @ problem.velocity
        G = made.contacts @ S[-6 * table_two.ENDS :]
        assert np.allclose(G @ made.rates, ours, rtol=0.0, atol=1e-12)
        M = S.T @ (made.weights[:, None] * S)
        assert np.allclose(G @ np.linalg.solve(M, G.T), problem.compliance, rtol=1e-10, atol=1e-12)


def test_exponents_and_their_lines():
    growth = Growth("made up", "links", (10, 100, 1000), (3.0, 300.0, 30000.0))
    assert growth.exponent == pytest.approx(2.0)
    assert "exponent 2.00" in tables.growth_lines([growth])
    assert growth.passed
    bent = replace(growth, times=(3.0, 30.0, 3000.0))
    assert bent.slopes == pytest.approx((1.0, 2.0))
    assert "from one to the next 1.00 2.00" in tables.growth_lines([bent])
    for bar, held in (((1.9, 2.1), "holds"), ((0.95, 1.05), "MISSED"), ((0.0, 1.05), "MISSED")):
        barred = replace(growth, bar=bar)
        assert barred.passed == (held == "holds")
        assert held in tables.growth_lines([barred])


def test_the_parts_of_the_assembly_are_its_own():
    """What is timed apart is what the assembly computes."""
    problem = pendulum_case(300, 20).problem
    L, A = problem.response.L, OperationalSpace().assemble(problem).A
    parts = os_parts(problem)
    assert tuple(parts) == OS_PARTS
    W = parts["Q Lambda Q*"]()
    assert np.array_equal(W, problem.compliance)
    assert np.allclose(W, L @ L.T, rtol=0.0, atol=1e-13 * np.abs(W).max())
    parts["friction in A"]()
    assert np.array_equal(parts["friction in A"].args[-2], A)
    assert np.allclose(os_kernels(problem)(), A, rtol=0.0, atol=1e-13 * np.abs(A).max())
    for parts_of in (os_parts, os_kernels):
        with pytest.raises(so.errors.ArgumentError, match="rows of L are the cheaper"):
            parts_of(pendulum_case(9, 6).problem)


def test_memory_is_kept_while_asked_for():
    with kept_memory() as kept:
        assert kept in (True, False)  # by the C library


@pytest.mark.compiled
@pytest.mark.parametrize("what", ["falls", "lies"])
def test_whole_simulations_end_alike(what):
    run = whole_simulation(12, what)
    assert run.contacts >= (2 if what == "falls" else 5)
    assert tuple(run.lemke) == ("os", "rmc", "mc", "nmc/os", "nmc")
    assert run.unsolved == 0
    assert run.difference < 1e-9
    assert run.free_difference < 1e-3
    assert "12" in tables.simulation_table([run])


def test_products_with_the_inverse_and_their_bar():
    (made,) = inverse_products(FAST, [4])
    assert set(made.ratios) == set(FORMS)
    even = InverseProduct(26, 1.8, dict.fromkeys(FORMS, Quartiles(0.9, 1.0, 1.1)))
    slow = even.ratios | {"mass_solve": Quartiles(1.4, 1.6, 1.7)}
    assert even.passed
    assert "holds" in tables.inverse_table([even])
    assert not replace(even, ratios=slow).passed
    assert "MISSED" in tables.inverse_table([even, replace(even, ratios=slow)])
