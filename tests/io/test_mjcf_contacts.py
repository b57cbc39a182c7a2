"""Contact as a MJCF file means it: blocks on floors do as in MuJoCo."""

import mujoco
import numpy as np
import pytest

import spatialops as so

BLOCK = """<mujoco><option gravity="2 0 -9.81" timestep="0.001"/><worldbody>
<geom type="plane" size="5 5 1" friction="{floor}" priority="{priority}" condim="{dim}"/>
<body pos="0 0 .1"><freejoint/>
  <geom type="box" size=".1 .1 .1" friction="{block}" condim="{own}" mass="1"/></body>
</worldbody>{more}</mujoco>"""
PLAIN = {"priority": 0, "dim": 3, "own": 3, "more": ""}


def both(tmp_path, duration=0.5, v=None, **options):
    path = tmp_path / "block.xml"
    path.write_text(BLOCK.format(**{**PLAIN, **options}))
    scene = so.load_scene(path)
    state = scene.state if v is None else so.State(scene.state.q, np.array(v))
    ours = so.Simulator(scene).run(state, duration=duration, record=False).final
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    if v is not None:
        d.qvel[:] = np.roll(v, 3)
    mujoco.mj_step(m, d, round(duration / 1e-3))
    return ours, d


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("options", "slides"),
    [
        ({"floor": 1.0, "block": 0.05}, False),  # the larger one, not the mean 0.22
        ({"floor": 0.05, "block": 1.0}, False),
        ({"floor": 0.05, "block": 1.0, "priority": 1}, True),  # that of the floor
        ({"floor": 0.05, "block": 0.05}, True),
        ({"floor": 1.0, "block": 0.05, "dim": 1}, False),  # the larger dimension
        ({"floor": 1.0, "block": 0.05, "dim": 1, "own": 1}, True),
        ({"floor": 1.0, "block": 1.0, "dim": 1, "priority": 1}, True),
    ],
)
def test_friction_of_a_pair(tmp_path, options, slides):
    ours, theirs = both(tmp_path, **options)
    assert ours.q[0] == pytest.approx(theirs.qpos[0], abs=2e-3)
    assert (ours.q[0] > 0.05) == slides


@pytest.mark.compiled
def test_a_pair_of_the_file_has_its_own(tmp_path):
    pair = '<contact><pair geom1="a" geom2="b" friction=".05 .05 .1 .1 .1"/></contact>'
    path = tmp_path / "block.xml"
    text = BLOCK.format(**{**PLAIN, "floor": 1.0, "block": 1.0, "more": pair})
    text = text.replace('<geom type="plane"', '<geom name="a" type="plane"')
    path.write_text(text.replace('<geom type="box"', '<geom name="b" type="box"'))
    scene = so.load_scene(path)
    final = so.Simulator(scene).run(duration=0.5, record=False).final
    assert final.q[0] == pytest.approx(0.125 * (2.0 - 0.05 * 9.81), rel=1e-3)


def test_torsion_and_rolling_come_with_their_dimension(tmp_path):
    path = tmp_path / "block.xml"
    for dim, own, expected in ((3, 3, (0, 0)), (4, 3, (0.02, 0)), (6, 3, (0.02, 0.003))):
        options = {"floor": "1 .01 .003", "block": "1 .02 .001", "dim": dim, "own": own}
        path.write_text(BLOCK.format(**{**PLAIN, **options}))
        found = so.load_scene(path).coefficients_of([0])
        assert (found.torsion[0], found.rolling[0]) == pytest.approx(expected)


@pytest.mark.compiled
def test_torsional_friction_stops_a_spinning_ball_as_in_mujoco(tmp_path):
    text = BLOCK.replace('type="box" size=".1 .1 .1"', 'type="sphere" size=".1"')
    text = text.replace('gravity="2 0 -9.81"', 'gravity="0 0 -9.81"')
    path = tmp_path / "ball.xml"
    options = {"floor": "1 .01 .0001", "block": "1 .01 .0001", "dim": 4, "own": 4}
    path.write_text(text.format(**{**PLAIN, **options}))
    scene = so.load_scene(path)
    spin = np.array([0.0, 0.0, 10.0, 0.0, 0.0, 0.0])
    final = so.Simulator(scene).run(so.State(scene.state.q, spin), duration=0.2).final
    m = mujoco.MjModel.from_xml_path(str(path))
    m.opt.cone, m.opt.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 10.0
    d = mujoco.MjData(m)
    d.qvel[5] = 10.0
    mujoco.mj_step(m, d, 200)
    exact = 10.0 - 0.2 * 0.01 * 9.81 / (0.4 * 0.1**2)  # moment mu_t m g over the ball's inertia
    assert final.v[2] == pytest.approx(exact, rel=1e-3)
    assert d.qvel[5] == pytest.approx(exact, rel=2e-2)


@pytest.mark.parametrize("flag", ["contact", "constraint"])
def test_contacts_that_are_switched_off(tmp_path, flag):
    more = f'<option><flag {flag}="disable"/></option>'
    path = tmp_path / "block.xml"
    path.write_text(BLOCK.format(**{**PLAIN, "floor": 1, "block": 1, "more": more}))
    assert len(so.load_scene(path).pairs) == 0


def test_of_two_floors_in_one_place_one_bears_each(tmp_path):
    path = tmp_path / "block.xml"
    path.write_text(BLOCK.format(**{**PLAIN, "floor": 1, "block": 1}))
    parts = [so.Part(source=path, name="a"), so.Part(source=path, name="b", position=(3, 0, 0))]
    ball = so.TreeBuilder(gravity=(2.0, 0.0, -9.81))
    ball.add_body("ball", joint="free", inertia=so.Inertia.sphere(0.1, mass=1.0))
    geom = so.Geom("ball", "ball", so.Sphere(0.1))
    parts.append(so.Part(source=so.Scene(ball.build(), [geom]), name="c"))
    scene = so.compose(parts, floor=True)
    floors = [g.name for g in scene.geoms if isinstance(g.shape, so.HalfSpace)]
    assert len(floors) == 3
    names = [scene.pair_names(p) for p in range(scene.n_pairs)]
    borne = {a: b for a, b in names if b in floors}
    assert len(borne) == len([1 for _, b in names if b in floors]) == 3
    assert borne["c/ball"] == floors[0]
    below = so.compose([parts[0], so.Part(source=path, name="b", position=(3, 0, -1))])
    assert len([1 for p in range(len(below.pairs)) if below.pair_names(p)[1] in floors]) > 2
