"""Springs keep the energy of an oscillator, are stable at any step, and act for everybody."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ModelError
from spatialops.forces.passive import passive_forces


def oscillator(stiffness, damping=0.0, mass=1.0):
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    slide = so.Joint("prismatic", axis="x", stiffness=stiffness, reference=0.3, damping=damping)
    builder.add_body("mass", joint=slide, inertia=so.Inertia.sphere(0.1, mass=mass))
    return so.Scene(builder.build())


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"integrator": "moreau"}, 1e-4),
        ({"integrator": "semi-implicit"}, 2e-2),
        ({"integrator": "rk4"}, 1e-8),
        ({"time": so.EventDriven()}, 1e-8),
    ],
)
def test_an_oscillator_follows_the_cosine(options, error):
    simulator = so.Simulator(oscillator(40.0), dt=4e-3, **options)
    record = simulator.run(duration=0.2)
    exact = 0.3 - 0.3 * np.cos(np.sqrt(40.0) * record.times)
    assert abs(record.q[:, 0] - exact).max() < error


def test_the_default_is_of_second_order_and_keeps_the_energy():
    errors = []
    for dt in (4e-3, 2e-3):
        record = so.Simulator(oscillator(40.0), dt=dt).run(duration=0.2)
        errors.append(abs(record.q[-1, 0] - 0.3 + 0.3 * np.cos(np.sqrt(40.0) * 0.2)))
        energy = record.kinetic + record.potential
        assert energy == pytest.approx(0.5 * 40.0 * 0.3**2, rel=1e-12)
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
@pytest.mark.parametrize("stiffness", [1e4, 1e8, 1e14])
@pytest.mark.parametrize("damping", [0.0, 1.0, 1e6])
def test_none_is_too_stiff(integrator, stiffness, damping):
    scene = oscillator(stiffness, damping)
    record = so.Simulator(scene, dt=0.02, integrator=integrator).run(duration=1.0)
    energy = record.kinetic + record.potential
    assert energy.max() <= energy[0] * (1.0 + 1e-9)
    if damping < 1e6:
        assert abs(record.q[-1, 0] - 0.3) < 0.05


def test_controllers_know_of_them():
    model = oscillator(40.0, 2.0).model
    assert passive_forces(model, [0.1], [3.0]) == pytest.approx([40.0 * 0.2 - 6.0])
    energy = so.energy(model, [0.1], [0.0])
    assert energy.potential == pytest.approx(0.5 * 40.0 * 0.2**2)


def test_smooth_motion_has_them():
    motion = so.smooth_motion(oscillator(40.0).model, oscillator(40.0).state, 0.5)
    assert motion(0.5).q[0] == pytest.approx(0.3 - 0.3 * np.cos(np.sqrt(40.0) * 0.5), abs=1e-10)


def test_a_model_with_springs_is_stored_and_composed():
    model = oscillator(40.0).model
    again = so.Model.from_arrays(model.to_arrays())
    assert (again.stiffness, again.reference) == (model.stiffness, model.reference)
    both = so.compose([so.Part(source=model, name="a"), so.Part(source=model, name="b")]).model
    assert both.stiffness.tolist() == [40.0, 40.0]
    old = {key: item for key, item in model.to_arrays().items() if key not in ("stiffness",)}
    assert so.Model.from_arrays(old).stiffness.tolist() == [0.0]


@pytest.mark.parametrize(("kind", "given"), [("ball", 1.0), ("free", 1.0), ("revolute", -1.0)])
def test_joints_refuse_springs_that_they_cannot_have(kind, given):
    with pytest.raises(ModelError, match="stiffness"):
        so.Joint(kind, stiffness=given)


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0, 1.5])
@pytest.mark.parametrize("options", [{}, {"integrator": "rk4"}, {"time": so.EventDriven()}])
def test_compensation_bears_a_share_of_the_weight(share, options):
    builder = so.TreeBuilder()
    ball = so.Inertia.sphere(0.1, mass=2.0).shifted((0.1, 0.0, 0.2))
    turn = so.Inertia.sphere(0.2, mass=1.0)
    builder.add_body("root", joint="free", inertia=ball, gravity_compensation=share)
    builder.add_body("hand", parent="root", inertia=turn, gravity_compensation=share)
    scene = so.Scene(builder.build())
    state = so.Simulator(scene, dt=0.01, **options).run(duration=0.1).final
    center = so.center_of_mass(scene.model, state.q) - so.center_of_mass(scene.model, scene.state.q)
    assert center == pytest.approx([0.0, 0.0, -0.5 * 9.81 * (1.0 - share) * 0.01], abs=1e-9)
    weight = passive_forces(scene.model, scene.state.q, np.zeros(6))
    assert weight[5] == pytest.approx(3.0 * 9.81 * share)
