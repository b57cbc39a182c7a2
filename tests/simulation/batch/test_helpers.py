"""Threads beside the caller's: what they do together, what is raised, and when they end."""

import copy
import gc
import threading
import time

import pytest

from spatialops.simulation.batch.helpers import Helpers
from spatialops.simulation.batch.stock import taken


def workers():
    return [one for one in threading.enumerate() if one.name == "Batch helper"]


def ended(threads):
    for one in threads:
        one.join(5.0)
    return not any(one.is_alive() for one in threads)


def test_everything_is_done_once_by_several_threads():
    helpers, waiting = Helpers(3), list(range(200))
    who, found = set(), []

    def work():
        while (task := taken(waiting)) is not None:
            found.append(task)
            who.add(threading.get_ident())
            time.sleep(1e-3)

    helpers.share(work, 3)
    assert sorted(found) == list(range(200))
    assert len(who) > 1
    helpers.close()


def test_without_helpers_the_caller_does_it():
    who = []
    Helpers(0).share(lambda: who.append(threading.get_ident()), 0)
    assert who == [threading.get_ident()]


def test_who_comes_too_late_is_not_waited_for():
    helpers = Helpers(1)
    entered, leave = threading.Event(), threading.Event()

    def long():
        if threading.current_thread().name == "Batch helper":
            entered.set()
            leave.wait(10.0)

    first = threading.Thread(target=helpers.share, args=(long, 1))
    first.start()
    if entered.wait(1.0):  # else the caller was done first, and nobody is busy
        begin = time.monotonic()
        helpers.share(lambda: None, 1)
        assert time.monotonic() - begin < 5.0
    leave.set()
    first.join()
    helpers.close()


@pytest.mark.parametrize("of_helper", [True, False])
def test_what_a_part_raises_is_raised(of_helper):
    helpers, entered = Helpers(1), threading.Event()

    def work():
        helps = threading.current_thread().name == "Batch helper"
        if helps:
            entered.set()
        else:
            entered.wait(5.0)
        if helps == of_helper:
            raise KeyError("part")

    with pytest.raises(KeyError, match="part"):
        helpers.share(work, 1)
    done = []
    helpers.share(lambda: done.append(1), 1)  # they go on
    assert done
    helpers.close()


def test_a_copy_has_threads_of_its_own():
    helpers = Helpers(1)
    helpers.share(lambda: time.sleep(1e-3), 1)
    other = copy.deepcopy(helpers)
    helpers.close()
    done = []
    other.share(lambda: done.append(1), 1)
    assert done
    other.close()


@pytest.mark.parametrize("closes", [True, False])
def test_threads_end_with_their_owner(closes):
    before = set(workers())
    helpers = Helpers(2)
    helpers.share(lambda: time.sleep(1e-3), 2)
    mine = [one for one in workers() if one not in before]
    assert len(mine) == 2
    if closes:
        helpers.close()
        helpers.close()
    del helpers
    gc.collect()
    assert ended(mine)
