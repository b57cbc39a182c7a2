"""Functions that sweeps call in other processes."""

import os
import time

import numpy as np

import spatialops as so


def power(base, exponent):
    return {"power": base**exponent, "base": np.full(2, base)}


def product(length, angle):
    return {"area": length * angle, "trace": [length, angle]}


def refuses(number):
    if number == 2:
        raise ValueError("not two")
    return number


def seeded(number, seed):
    return [number, seed]


def unkeepable(number):
    return object()


def where(number):
    """Slow enough that two workers share the tasks."""
    time.sleep(0.01)
    return {"value": number**0.5, "process": os.getpid()}


def dies(number, marks):
    """Ends its process, all of it, until there are so many marks."""
    path = os.path.join(marks, str(number))
    with open(path, "a") as file:
        file.write("x")
    if number == 1 and os.path.getsize(path) < 3:
        os._exit(9)
    return number


def always_dies(number):
    if number == 1:
        os._exit(9)
    return number


def swing(angle):
    """Where a pendulum is after a while; 10 ms at least, so that there is something to kill."""
    begin = time.perf_counter()
    end = end_of_swing(angle)
    time.sleep(max(0.0, 0.01 - (time.perf_counter() - begin)))
    return end


def end_of_swing(angle):
    simulator = so.Simulator(so.Scene(so.models.pendulum(2).model), dt=1e-2)
    record = simulator.run(so.State(np.array([angle, 0.0]), np.zeros(2)), 0.3, record=False)
    return record.final.q


def angles(count):
    return {"angle": np.linspace(0.0, 1.0, count).tolist()}
