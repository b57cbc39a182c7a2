"""Gymnasium environments: Gymnasium's own checks, seeds, ends, and many to the bit those of one."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError

gymnasium = pytest.importorskip("gymnasium")
env_checker = pytest.importorskip("gymnasium.utils.env_checker")

from spatialops.gym import SceneEnv, SceneVectorEnv, Task  # noqa: E402
from spatialops.sensors import JointPositions, JointVelocities, Noise  # noqa: E402


def pendulum_task(**options):
    asked = {
        "simulator": so.Simulator(so.Scene(so.models.pendulum(2).model), dt=2e-3),
        "reward": lambda moment: -np.abs(moment.q).sum(axis=1) - moment.action[:, 0] ** 2,
        "begin": lambda rng: so.State(rng.uniform(-1.0, 1.0, 2), np.zeros(2)),
        "action_limit": 0.5,
        "steps": 2,
        "duration": 0.06,
    }
    return Task(**(asked | options))


def servo_scene():
    model = so.models.pendulum(2).model
    joint = model.joint_of_link(0)
    servo = so.Actuator.position("servo", joint, kp=5.0, kv=0.5, ctrl_range=(-1.0, 2.0))
    return so.Scene(model, actuators=[servo])


def sensed_task():
    """What is seen is read by sensors, with noise."""
    encoder = JointPositions("q", noise=Noise(std=0.01, bias=0.02))
    tachometer = JointVelocities("v")
    scene = so.Scene(so.models.pendulum(2).model)
    return pendulum_task(
        simulator=so.Simulator(scene, dt=2e-3, sensors=[encoder, tachometer]),
        observe=lambda moment: np.hstack([moment.sensors["q"], moment.sensors["v"]]),
    )


@pytest.mark.parametrize("forces", [False, True])
@pytest.mark.filterwarnings("ignore:.*A Box observation space:UserWarning")
@pytest.mark.filterwarnings("ignore:.*For Box action spaces:UserWarning")
def test_gymnasium_finds_no_fault(forces):
    env_checker.check_env(SceneEnv(pendulum_task(forces=forces)))


@pytest.mark.filterwarnings("ignore:.*A Box observation space:UserWarning")
@pytest.mark.filterwarnings("ignore:.*For Box action spaces:UserWarning")
def test_gymnasium_finds_no_fault_in_what_sensors_read():
    env_checker.check_env(SceneEnv(sensed_task()))


def test_noise_is_new_whenever_an_environment_begins():
    task = sensed_task()
    envs = SceneVectorEnv(task, 2, threads=1)
    seen = []
    for seed in (3, None, 3):
        readings, _ = envs.reset(seed=seed)
        q = envs._world.batch.q
        seen.append(readings[:, :2] - q)
    np.testing.assert_array_equal(seen[0], seen[2])
    assert len(np.unique(np.concatenate(seen[:2]))) == 8  # by environment, beginning and joint
    envs.close()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("make", [pendulum_task, sensed_task])
def test_many_are_single_ones_to_the_bit(make, threads):
    """They begin anew by themselves; a single one is asked to, with the chance that it has left."""
    task = make()
    rng = np.random.default_rng(0)
    envs = SceneVectorEnv(task, 3, threads=threads)
    singles = [SceneEnv(task) for _ in range(3)]
    seen, _ = envs.reset(seed=7)
    for e, env in enumerate(singles):
        np.testing.assert_array_equal(seen[e], env.reset(seed=7 + e)[0])
    over = [False] * 3
    for _ in range(40):
        actions = rng.uniform(-0.7, 0.7, (3, 2))  # some beyond the limits
        seen, rewards, ended, cut, _ = envs.step(actions)
        for e, env in enumerate(singles):
            if over[e]:
                expected = (env.reset()[0], 0.0, False, False)
            else:
                expected = env.step(actions[e])[:4]
            for got, one in zip((seen[e], rewards[e], ended[e], cut[e]), expected):
                np.testing.assert_array_equal(got, one)
            over[e] = bool(ended[e] or cut[e])
    envs.close()


def test_actions_are_the_forces_of_the_named_joints():
    task = pendulum_task(joints=["pin2"], begin=None, observe=lambda moment: moment.action)
    env = SceneEnv(task)
    env.reset(seed=0)
    seen, *_ = env.step(np.array([0.9]))
    assert seen == 0.5  # the limit
    stepper = task.simulator.stepper()
    stepper.step([0.0, 0.5])
    stepper.step([0.0, 0.5])
    np.testing.assert_array_equal(env._world.batch.q[0], stepper.q)


def test_actions_are_controls_where_there_are_actuators():
    simulator = so.Simulator(servo_scene(), dt=2e-3)
    env = SceneEnv(pendulum_task(simulator=simulator, action_limit=None, begin=None, steps=1))
    np.testing.assert_array_equal([env.action_space.low, env.action_space.high], [[-1.0], [2.0]])
    env.reset()
    seen, *_ = env.step(np.array([1.5]))
    stepper = simulator.stepper()
    stepper.step(ctrl=[1.5])
    np.testing.assert_array_equal(seen[:2], stepper.q)


def test_ends_are_told_apart():
    env = SceneEnv(pendulum_task(ended=lambda moment: moment.time > 0.01))
    env.reset(seed=0)
    ends = [env.step(np.zeros(2))[2:4] for _ in range(15)]
    assert ends.index((True, False)) == 2  # 12 ms
    assert ends[-1] == (True, True)
    assert all(not cut for _, cut in ends[:-1])


def test_a_simulation_that_fails_is_cut_off_and_says_why():
    """Two spheres that overlap from the start."""
    builder = so.TreeBuilder()
    builder.add_body("ball", joint=so.Joint("free"), inertia=so.Inertia.sphere(0.1, mass=1.0))
    geoms = [so.Geom("floor", "world", so.HalfSpace()), so.Geom("ball", "ball", so.Sphere(0.1))]
    model = builder.build()

    def begin(rng):
        q = model.neutral()
        q[2] = rng.choice([0.05, 0.5])
        return so.State(q, np.zeros(6))

    task = Task(
        simulator=so.Simulator(so.Scene(model, geoms), dt=1e-3),
        reward=lambda moment: moment.q[:, 2],
        begin=begin,
        action_limit=1.0,
    )
    envs = SceneVectorEnv(task, 6, threads=1)
    seen, _ = envs.reset(seed=1)
    sunk = seen[:, 2] == 0.05
    assert 0 < sunk.sum() < 6
    *_, cut, infos = envs.step(np.zeros((6, 6)))
    np.testing.assert_array_equal(cut, sunk)
    assert all("floor" in text for text in infos["failure"][sunk])
    *_, cut, infos = envs.step(np.zeros((6, 6)))
    assert not cut.any()


def test_what_gymnasium_makes_by_name():
    task = pendulum_task()
    gymnasium.register(
        "spatialops/Pendulum-v0",
        entry_point=lambda: SceneEnv(task),
        vector_entry_point=lambda num_envs: SceneVectorEnv(task, num_envs),
    )
    one = gymnasium.make("spatialops/Pendulum-v0")
    many = gymnasium.make_vec("spatialops/Pendulum-v0", 2, vectorization_mode="vector_entry_point")
    seen, _ = many.reset(seed=3)
    np.testing.assert_array_equal(seen[0], one.reset(seed=3)[0])
    many.close()


def test_parameters_may_differ():
    heavy, light = (
        so.Simulator(so.Scene(so.models.pendulum(2, mass=mass).model), dt=2e-3)
        for mass in (4.0, 1.0)
    )
    task = pendulum_task(simulator=heavy)
    envs = SceneVectorEnv(task, 2, simulators=[heavy, light], threads=1)
    envs.reset(seed=[1, 1])
    seen, *_ = envs.step(np.full((2, 2), 0.5))
    assert np.abs(seen[0] - seen[1]).max() > 1e-4
    alone = SceneEnv(pendulum_task(simulator=light))
    alone.reset(seed=1)
    np.testing.assert_array_equal(seen[1], alone.step(np.full(2, 0.5))[0])
    envs.close()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"simulator": 3}, "simulator"),
        ({"reward": None}, "reward"),
        ({"begin": 3}, "begin"),
        ({"steps": 0}, "steps"),
        ({"duration": -1.0}, "duration"),
        ({"action_limit": None}, "no limits"),
        ({"action_limit": [1.0]}, "action_limit"),
        ({"action_limit": -1.0}, ">= 0"),
        ({"joints": ["elbow"]}, "elbow"),
    ],
)
def test_what_a_task_refuses(options, words):
    with pytest.raises(ArgumentError, match=words):
        pendulum_task(**options)


def test_rules_of_a_wrong_shape_are_refused():
    env = SceneEnv(pendulum_task(reward=lambda moment: moment.q))
    env.reset(seed=0)
    with pytest.raises(ArgumentError, match="one for each environment"):
        env.step(np.zeros(2))
    with pytest.raises(ArgumentError, match="observe"):
        SceneEnv(pendulum_task(observe=lambda moment: moment.q[:, 0]))
    with pytest.raises(ArgumentError, match="action"):
        SceneEnv(pendulum_task()).step(np.zeros(3))


def test_environments_begin_with_the_activations_of_the_state():
    model = so.models.pendulum(2).model
    lag = so.Actuator(name="lag", joints="pin1", dynamics="filter", time_constant=1.0)
    simulator = so.Simulator(so.Scene(model, actuators=[lag]), dt=2e-3)
    state = so.State(np.zeros(2), np.zeros(2), 0.0, np.array([3.0]))
    env = SceneEnv(pendulum_task(simulator=simulator, begin=lambda rng: state, steps=1))
    env.reset(seed=1)
    seen, *_ = env.step(np.zeros(1))
    after, _ = simulator.step(state, ctrl=[0.0])
    assert np.array_equal(seen, np.r_[after.q, after.v])


def test_moments_have_activations():
    """Without them a filter's task is no Markov process."""
    lag = so.Actuator(
        name="lag",
        joints="pin1",
        gain=(3, 0, 0),
        dynamics="filter",
        time_constant=1,
        ctrl_range=(-1, 1),
    )
    scene = so.Scene(so.models.pendulum(2).model, actuators=[lag])
    task = Task(
        simulator=so.Simulator(scene, dt=0.01),
        reward=lambda moment: moment.activation[:, 0],
        begin=lambda rng: so.State(np.zeros(2), np.zeros(2), 0.0, np.array([0.5])),
        observe=lambda moment: moment.activation,
    )
    env = SceneEnv(task)
    seen, _ = env.reset(seed=1)
    _, reward, *_ = env.step(np.array([1.0]))
    assert seen.tolist() == [0.5]
    assert np.isclose(reward, 1.0 - 0.5 * np.exp(-0.01))


def test_as_many_seeds_as_environments():
    envs = SceneVectorEnv(pendulum_task(), 2, threads=1)
    assert envs.reset(seed=np.int64(3))[0].tolist() == envs.reset(seed=[3, 4])[0].tolist()
    for seeds in ([1], [1, 2, 3], [1.5, 2], "ab", -1):
        with pytest.raises(ArgumentError, match="seed"):
            envs.reset(seed=seeds)


def test_one_that_ends_may_begin_with_the_same_step():
    task = pendulum_task(ended=lambda moment: moment.q[:, 0] > 0.9)
    envs = SceneVectorEnv(task, 3, threads=1, autoreset_mode="SameStep")
    assert envs.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.SAME_STEP
    assert SceneVectorEnv.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.NEXT_STEP
    singles = [SceneEnv(task) for _ in range(3)]
    envs.reset(seed=7)
    for e, env in enumerate(singles):
        env.reset(seed=7 + e)
    ends = 0
    for actions in np.random.default_rng(2).uniform(-0.5, 0.5, (40, 3, 2)):
        seen, rewards, ended, cut, infos = envs.step(actions)
        ends += int((ended | cut).sum())
        assert ("final_obs" in infos) == (ended | cut).any()
        for e, env in enumerate(singles):
            own, *rest, _ = env.step(actions[e])
            assert [rewards[e], ended[e], cut[e]] == rest
            if rest[1] or rest[2]:
                np.testing.assert_array_equal(infos["final_obs"][e], own)
                own, _ = env.reset()
            np.testing.assert_array_equal(seen[e], own)
    assert ends > 3
    envs.close()


def test_why_a_simulation_failed_is_in_its_last_info():
    builder = so.TreeBuilder()
    builder.add_body("ball", joint=so.Joint("free"), inertia=so.Inertia.sphere(0.1, mass=1.0))
    geoms = [so.Geom("floor", "world", so.HalfSpace()), so.Geom("ball", "ball", so.Sphere(0.1))]
    sunk = so.State(np.array([0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0]), np.zeros(6))
    task = Task(
        simulator=so.Simulator(so.Scene(builder.build(), geoms), dt=1e-3),
        reward=lambda moment: moment.q[:, 2],
        begin=lambda rng: sunk,
        action_limit=1.0,
    )
    envs = SceneVectorEnv(task, 2, threads=1, autoreset_mode="SameStep")
    envs.reset(seed=1)
    *_, cut, infos = envs.step(np.zeros((2, 6)))
    assert cut.all()
    assert all("floor" in text for text in infos["final_info"]["failure"])
    assert "failure" not in infos
    envs.close()


def test_some_are_reset_by_hand():
    task = pendulum_task(duration=0.02)
    envs = SceneVectorEnv(task, 3, threads=1, autoreset_mode="Disabled")
    begun, _ = envs.reset(seed=7)
    for _ in range(5):
        *_, cut, _ = envs.step(np.zeros((3, 2)))
    assert cut.all()
    mask = np.array([True, False, True])
    seen, _ = envs.reset(seed=7, options={"reset_mask": mask})
    np.testing.assert_array_equal(seen[mask], begun[mask])
    assert (seen[1] != begun[1]).any()
    with pytest.raises(ArgumentError, match=r"environments \[1\] have ended"):
        envs.step(np.zeros((3, 2)))
    envs.reset(options={"reset_mask": ~mask})
    envs.step(np.zeros((3, 2)))
    for wrong in ([1, 0, 1], np.ones(2, dtype=bool)):
        with pytest.raises(ArgumentError, match="reset_mask"):
            envs.reset(options={"reset_mask": wrong})
    with pytest.raises(ArgumentError, match="autoreset_mode: expected one of 'NextStep'"):
        SceneVectorEnv(task, 3, autoreset_mode="never")
    envs.close()


@pytest.mark.parametrize("mode", list(gymnasium.vector.AutoresetMode))
def test_gymnasiums_statistics_know_the_mode(mode):
    envs = SceneVectorEnv(pendulum_task(), 2, threads=1, autoreset_mode=mode)
    wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    wrapped.reset(seed=1)
    for _ in range(15):
        *_, cut, infos = wrapped.step(np.zeros((2, 2)))
    assert cut.all()
    assert (infos["episode"]["l"] == 15).all()
    wrapped.close()
