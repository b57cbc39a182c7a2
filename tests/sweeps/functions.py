"""Functions that sweeps call in other processes, and a program that sweeps pendulums."""

import os
import sys
import time

import numpy as np

import spatialops as so

COUNT = 400


def power(base, exponent):
    return {"power": base**exponent, "base": np.full(2, base)}


def refuses(number):
    if number == 2:
        raise ValueError("not two")
    return number


def seeded(number, seed):
    return [number, seed]


def unkeepable(number):
    return object()


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
    simulator = so.Simulator(so.Scene(so.models.pendulum(2).model), dt=1e-2)
    record = simulator.run(so.State(np.array([angle, 0.0]), np.zeros(2)), 0.3, record=False)
    time.sleep(max(0.0, 0.01 - (time.perf_counter() - begin)))
    return record.final.q


def angles():
    return {"angle": np.linspace(0.0, 1.0, COUNT).tolist()}


if __name__ == "__main__":
    from tests.sweeps import functions  # under the name that tests know it by

    so.sweep(functions.swing, functions.angles(), folder=sys.argv[1])
