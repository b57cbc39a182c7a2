"""Runs, sweeps and `precompile`, killed again and again in copies of a process that is warm.

What a victim needs is loaded once: a copy of that process (`fork`) begins within a millisecond, so
that kills hit its work and not its imports. Half of them come at any time, half at the moment at
which something that is being written is seen beside its place.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

_HERE = Path(__file__).parents[2]
_HANGS = 120.0  # s, after which nobody waits for a victim to write
_ENDLESS = 1e5  # s that a run would last
_ANEW = 20  # kills, after which a run is ended, compared, and another one begun
_TASKS = 50  # of a sweep, for each kill
_WORKERS = 2
PART = ".*.part"  # what is being written


class Kills(NamedTuple):
    """What became of a command that was killed.

    Attributes
    ----------
    killed, over : int
        How often it was; and how often it had ended before.
    writing : int
        Kills that left something unfinished beside its place.
    faults : list of str
        What is wrong with what was there behind a kill.
    """

    killed: int
    over: int
    writing: int
    faults: list[str]


class Warm:
    """A process with all that an action needs, of which victims are copies; a context.

    Parameters
    ----------
    action : str
        Of `ACTIONS`.
    cache : path, optional
        Where its kernels are. Default: where they always are.
    """

    def __init__(self, action: str, cache: Path | None = None) -> None:
        own = {} if cache is None else {"SPATIALOPS_CACHE_DIR": str(cache)}
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.trust.warm_kills", action],
            cwd=_HERE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(_HERE), *sys.path])} | own,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._orders, self._news = self._server.stdin, self._server.stdout
        self._news.readline()  # it is warm

    def __enter__(self) -> Warm:
        return self

    def __exit__(self, *details: object) -> None:
        self._orders.close()
        self._server.wait()

    def strike(
        self, arguments: list[object], parts: Path, chance: random.Random, usual: float
    ) -> bool:
        """Begin the action and kill it with its children; False where it was over.

        Parameters
        ----------
        arguments : list
            Of the action.
        parts : path
            The folder that it writes to.
        usual : float
            s; half of the kills come at any time up to it.
        """
        before = set(parts.glob(PART))
        self._orders.write(json.dumps(arguments).encode() + b"\n")
        pid = int(self._news.readline())
        if chance.random() < 0.5:
            time.sleep(chance.uniform(0.0, usual))
        else:
            until = time.monotonic() + _HANGS
            while not self._is_over() and time.monotonic() < until:
                if set(parts.glob(PART)) - before:
                    break
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        return int(self._news.readline()) == -signal.SIGKILL

    def _is_over(self) -> bool:
        return bool(select.select([self._news], [], [], 0.0)[0])


def kill_run(folder: Path, n: int, seed: int, until: float) -> Kills:
    """Kill runs to disk; what they have done is read, and goes on to the bits of whole ones."""
    import spatialops as so
    from tests.support.runs import DT, Sums, begin_or_go_on, boxes, differing

    chance = random.Random(seed)
    killed = over = writing = rows = 0
    faults = []
    run = folder / "run"
    with Warm("run") as warm:
        while killed < n and time.monotonic() < until:
            before = set(run.glob(PART))
            hit = warm.strike([str(run), _ENDLESS], run, chance, 0.1)
            killed, over = killed + hit, over + (not hit)
            writing += bool(set(run.glob(PART)) - before)
            found = len(so.load_record(run).times) if any(run.glob("*.npz")) else 0
            if found < rows:
                faults.append(f"{found} rows are left of {rows}")
            rows = found
            if rows and (killed % _ANEW == 0 or killed == n):
                duration = rows * DT + 0.5
                begin_or_go_on(run, duration)
                whole = so.Simulator(boxes(2), dt=DT).run(duration=duration, controller=Sums())
                faults += [f"{name} differs" for name in differing(so.load_record(run), whole)]
                faults += [f"{path.name} is left" for path in run.glob(".*")]
                shutil.rmtree(run)
                rows = 0
    return Kills(killed, over, writing, faults)


def kill_sweep(folder: Path, n: int, seed: int, until: float) -> Kills:
    """Kill a sweep with its workers; every result is there once, and that of this process."""
    from spatialops.sweeps.store import read_rows
    from tests.sweeps import functions

    chance = random.Random(seed)
    out, tasks = folder / "sweep", _TASKS * n
    killed = over = writing = 0
    faults = []
    with Warm("sweep") as warm:
        while killed < n and time.monotonic() < until:
            before, parts = set(read_rows(out)), set(out.glob(PART))
            hit = warm.strike([str(out), tasks], out, chance, 0.5)
            killed, over = killed + hit, over + (not hit)
            writing += bool(set(out.glob(PART)) - parts)
            faults += [f"{key} is lost" for key in before - set(read_rows(out))]
    sweep(str(out), tasks)
    rows = {row["parameters"]["angle"]: row["value"] for row in read_rows(out).values()}
    angles = functions.angles(tasks)["angle"]
    if sorted(rows) != sorted(angles):
        faults.append(f"{len(rows)} results of {len(angles)}")
    for angle, value in rows.items():
        if list(value) != functions.end_of_swing(angle).tolist():
            faults.append(f"other result at {angle}")
    faults += [f"{path.name} is left" for path in out.glob(".*")]
    return Kills(killed, over, writing, faults)


def run(folder: str, duration: float) -> None:
    """Begin or go on with a run."""
    from tests.support.runs import begin_or_go_on

    begin_or_go_on(Path(folder), duration)


def sweep(folder: str, tasks: int) -> None:
    """Begin or go on with a sweep, whose workers are copies of this process."""
    import spatialops as so
    from tests.sweeps import functions

    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(_WORKERS, mp_context=context) as pool:
        so.sweep(
            functions.swing, functions.angles(tasks), folder=folder, executor=pool, workers=_WORKERS
        )


def precompile() -> None:
    """Fill the cache."""
    from spatialops.precompile import precompile

    precompile(progress=False)


def _warm_run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        run(folder + "/run", 0.1)
        run(folder + "/run", 0.2)


def _warm_sweep() -> None:
    from tests.sweeps import functions

    functions.end_of_swing(0.5)


def _warm_precompile() -> None:
    import spatialops.precompile  # noqa: F401


# What is done, and what is loaded before.
ACTIONS: dict[str, tuple[Callable[..., None], Callable[[], None]]] = {
    "run": (run, _warm_run),
    "sweep": (sweep, _warm_sweep),
    "precompile": (precompile, _warm_precompile),
}


def main() -> None:
    """Be the warm process: an action for every line of arguments, in a copy."""
    action, load = ACTIONS[sys.argv[1]]
    load()
    print("warm", flush=True)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
            try:
                action(*json.loads(line))
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        with contextlib.suppress(OSError):  # it has done so itself, or is over
            os.setpgid(pid, pid)
        print(pid, flush=True)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
