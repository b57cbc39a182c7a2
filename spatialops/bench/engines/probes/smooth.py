"""Motion without contact: a body that spins freely, and a pendulum."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ellipj, ellipk

from spatialops._arrays import Array
from spatialops.bench.engines.engine import Engine
from spatialops.bench.engines.probes.probe import (
    Probe,
    body_spin,
    energy,
    relative,
    start,
    turned,
)
from spatialops.bench.engines.world import GRAVITY, Body, Hinge, Vec3, World


def all_probes() -> list[Probe]:
    """All probes of this file."""
    return [spinning(), pendulum()]


def spinning() -> Probe:
    """A free body that spins about its middle axis, and turns over (Dzhanibekov)."""
    moments = (0.01, 0.02, 0.03)
    spin = (0.0, 5.0, 0.05)
    duration = 10.0
    body = Body(1.0, moments, (0.0, 0.0, 0.0), spin=spin)
    world = World((body,), False, gravity=(0.0, 0.0, 0.0))
    begun = energy(world, start(world))
    momentum = np.multiply(moments, spin)
    expected = free_spin(moments, spin, duration)

    def of_momentum(engine: Engine) -> float:
        motion = engine.motion()
        now = turned(motion.quaternions[0], np.multiply(moments, body_spin(motion, 0)))
        return float(np.linalg.norm(now - momentum) / np.linalg.norm(momentum))

    def of_spin(engine: Engine) -> float:
        off = body_spin(engine.motion(), 0) - expected
        return float(np.linalg.norm(off) / np.linalg.norm(spin))

    return Probe(
        "Dzhanibekov's body",
        "Euler's equations by Jacobi's functions",
        world,
        duration,
        {
            "energy": lambda engine: relative(energy(world, engine.motion()), begun),
            "angular momentum": of_momentum,
            "spin along body axes": of_spin,
        },
    )


def free_spin(moments: Vec3, spin: Vec3, time: float) -> Array:
    """Spin (3,) along body axes of a free body that begins with (0, w2 > 0, w3 > 0), rad/s.

    For I1 < I2 < I3, Euler's equations give w1 = a1 cn, w2 = a2 sn, w3 = a3 dn of tau + K.

    References
    ----------
    Landau and Lifshitz, Mechanics, section 37.
    """
    first, second, third = moments
    twice = float(np.dot(moments, np.square(spin)))
    square = float(np.dot(np.square(moments), np.square(spin)))
    low = square - twice * first
    high = twice * third - square
    rate = math.sqrt((third - second) * low / (first * second * third))
    modulus = (second - first) * high / ((third - second) * low)
    sn, cn, dn, _ = ellipj(rate * time + float(ellipk(modulus)), modulus)
    return np.array(
        [
            math.sqrt(high / (first * (third - first))) * cn,
            math.sqrt(high / (second * (third - second))) * sn,
            math.sqrt(low / (third * (third - first))) * dn,
        ]
    )


def pendulum(period: float = 2.0) -> Probe:
    """A pendulum let go level, T = 4 K(sin^2(a / 2)) sqrt(l / g): at 5 1/4 T it hangs straight."""
    amplitude = 0.5 * math.pi
    mass, moment = 1.0, 1e-3
    long = GRAVITY * (period / (4.0 * ellipk(math.sin(0.5 * amplitude) ** 2))) ** 2
    # The length of the simple pendulum that swings alike is r + I / (m r).
    arm = 0.5 * (long + math.sqrt(long**2 - 4.0 * moment / mass))
    body = Body(
        mass,
        (moment, moment, moment),
        (arm, 0.0, 0.0),
        hinge=Hinge((0.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    )
    world = World((body,), False)
    scale = mass * GRAVITY * arm

    def angle(engine: Engine) -> float:
        x, _, z = engine.motion().positions[0].tolist()
        return abs(math.atan2(x, -z)) / amplitude

    return Probe(
        "pendulum let go level",
        "T = 4 K(sin^2(a/2)) sqrt(l/g)",
        world,
        5.25 * period,
        {
            "angle, of the amplitude": angle,
            "energy, of m g r": lambda engine: abs(energy(world, engine.motion())) / scale,
        },
    )
