"""A thread that waits for others hears of them at once, and not for ever."""

import threading
import time

import numpy as np
import pytest

from spatialops._compile.jit import COMPILED
from spatialops.simulation.batch.meeting import await_done

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing else could run meanwhile")


def test_who_is_done_is_not_waited_for():
    await_done(np.array([2]), 2)


def test_nobody_is_waited_for_long():
    await_done(np.zeros(1, dtype=np.int64), 1)  # compiles it
    begin = time.perf_counter()
    await_done(np.zeros(1, dtype=np.int64), 1)
    assert time.perf_counter() - begin < 0.1


def test_what_another_thread_writes_is_seen():
    for _ in range(20):
        done, heard = np.zeros(1, dtype=np.int64), threading.Event()

        def wait(done=done, heard=heard):
            while not done[0]:
                await_done(done, 1)
            heard.set()

        thread = threading.Thread(target=wait)
        thread.start()
        done[0] += 1
        assert heard.wait(5.0)
        thread.join()
