"""Steps that are too long for a spin are told of, with a body and a step that would do."""

import warnings

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import SpatialOpsError, StepSizeWarning


def spun(speed):
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    inertia = so.Inertia.box((0.3, 0.2, 0.1), mass=1.0)
    model = builder.add_body("wheel", joint=so.Joint("free"), inertia=inertia).build()
    axis = speed * np.array([0.6, 0.0, 0.8])
    return so.Scene(model, state=so.State(model.neutral(), np.append(axis, np.zeros(3))))


@pytest.mark.parametrize(
    ("integrator", "dt"), [("semi-implicit", 1e-3), ("rk4", 8e-3), ("moreau", 2e-2)]
)
def test_a_warning_names_the_body_and_a_step(integrator, dt):
    simulator = so.Simulator(spun(100.0), dt=dt, integrator=integrator, certify="off")
    with pytest.warns(StepSizeWarning, match=r"body 'wheel' turns at \d+ rad/s.* would do"):
        simulator.run(duration=5 * dt)


@pytest.mark.parametrize(
    ("integrator", "dt"), [("semi-implicit", 1e-4), ("rk4", 1e-3), ("moreau", 2e-3)]
)
def test_shorter_steps_do(integrator, dt):
    simulator = so.Simulator(spun(100.0), dt=dt, integrator=integrator, certify="off")
    with warnings.catch_warnings():
        warnings.simplefilter("error", StepSizeWarning)
        simulator.run(duration=20 * dt)


@pytest.mark.compiled
def test_it_comes_before_the_state_is_lost():
    simulator = so.Simulator(spun(300.0), dt=1e-2, integrator="semi-implicit", certify="off")
    with pytest.warns(StepSizeWarning, match="wheel"), pytest.raises(SpatialOpsError):
        simulator.run(duration=20.0)
