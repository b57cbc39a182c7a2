"""Derivatives of damping, springs and compensation of gravity against differences."""

import numpy as np
import pytest

import spatialops as so
from spatialops.derivatives.passive_forces import passive_force_derivatives
from spatialops.errors import ArgumentError
from spatialops.forces.passive import passive_forces
from tests.support.trees import relative_error

STEP = 1e-3


def arm(share):
    """A floating trunk that bears some of its weight, with an arm of damped springs."""
    builder = so.TreeBuilder()
    rod = so.Inertia.capsule(0.05, 0.4, mass=1.0).shifted((0.1, 0.02, -0.2))
    builder.add_body("trunk", joint="free", inertia=rod, gravity_compensation=share)
    for name, parent, axis in (("a", "trunk", "y"), ("b", "a", "z"), ("c", "b", "x")):
        joint = so.Joint("revolute", axis=axis, stiffness=7.0, damping=0.4, reference=0.2)
        given = {"parent": parent, "position": (0.1, 0.1, -0.3), "gravity_compensation": share}
        builder.add_body(name, joint=joint, inertia=rod, **given)
    return builder.build()


def columns(function, n):
    """Differences of fourth order of a function of a change (n,)."""
    found = []
    for unit in STEP * np.eye(n):
        f = [np.asarray(function(c * unit)) for c in (-2.0, -1.0, 1.0, 2.0)]
        found.append((f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * STEP))
    return np.stack(found, axis=1)


@pytest.mark.parametrize("share", [0.0, 0.7, 1.5])
def test_passive_forces_and_accelerations_under_them(share):
    model, rng = arm(share), np.random.default_rng(2)
    q, v = model.random(rng), rng.normal(size=model.nv)
    tau = rng.normal(size=model.nv)
    by = passive_force_derivatives(model, q, v)

    def moved(dq):
        return so.integrate(model, q, dq)

    assert relative_error(by.dq, columns(lambda d: passive_forces(model, moved(d), v), 9)) < 1e-9
    assert relative_error(by.dv, columns(lambda d: passive_forces(model, q, v + d), 9)) < 1e-9

    def accelerates(q, v):
        return so.forward_dynamics(model, q, v, tau + passive_forces(model, q, v))

    back = so.forward_dynamics_derivatives(model, q, v, tau + passive_forces(model, q, v))
    by_q = columns(lambda d: accelerates(moved(d), v), model.nv)
    assert relative_error(back.dq + back.dtau @ by.dq, by_q) < 1e-9
    by_v = columns(lambda d: accelerates(q, v + d), model.nv)
    assert relative_error(back.dv + back.dtau @ by.dv, by_v) < 1e-9


def test_what_is_wrong_is_refused():
    model = arm(0.0)
    with pytest.raises(ArgumentError, match="q"):
        passive_force_derivatives(model, np.zeros(3), np.zeros(model.nv))
    with pytest.raises(ArgumentError, match="v"):
        passive_force_derivatives(model, model.neutral(), np.full(model.nv, np.nan))
