"""Compare the formulations of one contact problem on a scene of your own.

    python examples/compare_formulations.py

A box slides over the floor on four feet: twelve contact impulses act on six degrees of freedom, so
that impulses are indeterminate while its next velocity is not. (Let it spin, and even that depends
on how the feet share the load.)
"""

from dataclasses import replace
from time import perf_counter

import numpy as np

import spatialops as so


def sliding_box() -> so.Scene:
    """A box of 2 kg on four small feet, moving forward at 1 m/s."""
    model = (
        so.TreeBuilder()
        .add_body("box", joint=so.Joint("free"), inertia=so.Inertia.box((0.4, 0.3, 0.2), mass=2.0))
        .build()
    )
    corners = [(x, y, -0.1) for x in (-0.2, 0.2) for y in (-0.15, 0.15)]
    feet = [
        so.Geom(f"foot{i}", "box", so.Sphere(0.02), position=corner)
        for i, corner in enumerate(corners)
    ]
    floor = so.Geom("floor", "world", so.HalfSpace(), friction=0.5)
    start = so.State(
        q=np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0, 1.0]), v=np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    )
    return so.Scene(model, [*feet, floor], state=start)


def main() -> dict[str, np.ndarray]:
    """Print one line a formulation; returns the next velocity by each."""
    scene = sliding_box()
    # The contact problem of the next step: it can be saved, sent, loaded and solved anywhere.
    problem = so.Simulator(scene, dt=1e-3).problem(scene.state)
    assert problem is not None
    print(so.contact.indeterminacy(problem))
    head = f"{'formulation':<12}{'rows':>6}{'free':>6}{'residual':>11}{'time us':>9}"
    print(f"{head}  normal impulses (N s)")
    velocities = {}
    for name in so.contact.FORMULATIONS:
        formulation = so.contact.check_formulation(name, n_f=8)
        # Kernels are loaded, or compiled, when they are first called.
        so.contact.solve(formulation.assemble(problem))
        begin = perf_counter()
        # A copy: a problem remembers what was computed from it.
        lcp = formulation.assemble(replace(problem))
        solution = so.contact.solve(lcp, solver="auto")
        answer = formulation.recover(problem, solution)
        spent = 1e6 * (perf_counter() - begin)
        impulses = ", ".join(f"{p:.5f}" for p in answer.impulses[:, 0])
        sizes = f"{name:<12}{lcp.size:>6}{lcp.n_free:>6}"
        print(f"{sizes}{solution.residual:>11.0e}{spent:>9.0f}  {impulses}")
        velocities[name] = answer.velocity
    return velocities


if __name__ == "__main__":
    main()
