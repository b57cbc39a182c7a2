"""Runs that blow up, in every way to step: they end in a `ContactError` that says so."""

from __future__ import annotations

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError, ContactError
from tests.support.runs import DT, boxes, stopped_links

WAYS = (
    {},
    {"integrator": "rk4"},
    {"integrator": "semi-implicit", "formulation": "mc"},
    {"law": "cone"},
    {"certify": "full"},
    {"time": so.EventDriven(tolerance=1e-4)},
)


@pytest.mark.compiled  # Python's math raises where a kernel's gives NaN
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", WAYS, ids=str)
@pytest.mark.parametrize("make", [lambda: boxes(2), stopped_links], ids=["boxes", "links"])
@pytest.mark.parametrize("push", [1e100, 1e160, 1e300])
def test_divergence_is_named(options: dict, make, push: float) -> None:
    scene = make()
    pushes = push * np.sin(1.0 + np.arange(scene.model.nv))
    simulator = so.Simulator(scene, dt=DT, **options)
    with np.errstate(all="ignore"), pytest.raises(ContactError) as caught:
        simulator.run(duration=20 * DT, controller=lambda time, state, contacts: pushes)
    record = caught.value.record
    assert record is not None
    assert np.isfinite(record.q).all()


def test_sizes_and_durations_without_end_are_refused() -> None:
    with pytest.raises(ArgumentError, match="n_links"):
        so.models.pendulum(10**30)
    scene = so.models.pendulum(2).scene()
    for time in (so.TimeStepping(), so.EventDriven()):
        with pytest.raises(ArgumentError, match="steps of"):
            so.Simulator(scene, time=time).run(duration=1e30)
