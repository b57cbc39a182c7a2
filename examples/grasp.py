"""Two grippers hold two boxes by friction alone, under Coulomb's law and without slip.

Run it with ``python -m examples.grasp``.
"""

import numpy as np

import spatialops as so


def main(steps: int = 50) -> dict[str, float]:
    # 1. Four boxes in a row; the outer two push with 50 N, the inner two are free. 12 contacts a
    # pair of faces.
    grasp = so.models.grasp()
    scene = grasp.scene(friction=100.0)

    # 2. One step's contact problem, solved by both laws: 216 unknowns against 36.
    problem = so.Simulator(scene, dt=0.01).problem(grasp.state, grasp.tau)
    assert problem is not None
    lcp = so.contact.OperationalSpace(n_f=4).assemble(problem)
    lemke = so.contact.solve(lcp, "lemke")
    no_slip = so.contact.NoSlip().solve(problem)
    pushing = int((no_slip.impulses[:, 0] > 0.0).sum())
    print(f"Lemke: {lcp.size} unknowns, {lemke.iterations} pivots, residual {lemke.residual:.1e}")
    m = problem.n_contacts
    print(f"no slip: {m} unknowns, {no_slip.iterations} pivots, residual {no_slip.residual:.1e}")
    print(f"{pushing} of {m} contacts push: {so.contact.indeterminacy(problem, warn=False)}")

    # 3. Held for a while. With such friction the polyhedral problem has more than one motion as its
    # solution, and Lemke may take one that turns the boxes a little before they stick; without slip
    # there is only one.
    sags = {}
    for name in ("coulomb", "no-slip"):
        simulator, state = so.Simulator(scene, dt=0.01, law=name), grasp.state
        for _ in range(steps):
            state, _ = simulator.step(state, grasp.tau)
        sags[name] = grasp.sag(state.q)
        speed = np.abs(state.v).max()
        print(f"{name}: after {steps} steps a box has moved by {sags[name]:.1e} m, now {speed:.1e}")
    return sags


if __name__ == "__main__":
    main()
