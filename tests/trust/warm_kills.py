"""Commands, killed again and again in copies of a process that is warm.

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

from tests.trust.appearing import Appearing

_HERE = Path(__file__).parents[2]
_HANGS = 120.0  # s, after which nobody waits for a victim to write
_ENDLESS = 1e5  # s that a run would last
_ANEW = 20  # kills, after which a run or sweep is ended, compared, and another one begun
_TASKS = 600  # of a sweep
_WORKERS = 2
_SYNC = 5e-3  # s that a slow disk takes to write a file out
PART = ".*.part"  # what is being written
WRITING = ".writing-*"  # likewise, of commands that write several files


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
    part : str
        Pattern of what is there while the action writes.
    """

    def __init__(self, action: str, cache: Path | None = None, part: str = PART) -> None:
        self._part = part
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

    def whole(self, arguments: list[object]) -> float:
        """Let the action come to its end; how long that takes, s."""
        begin = time.monotonic()
        self._begin(arguments)
        code = int(self._news.readline())
        if code != 0:
            raise RuntimeError(f"it ended with {code}")
        return time.monotonic() - begin

    def strike(
        self,
        arguments: list[object],
        parts: Path,
        chance: random.Random,
        usual: float,
        lasts: float = 1e-3,
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
        lasts : float
            s; the others come at any time up to it once something is being written.
        """
        with Appearing(parts, self._part) as writing:
            pid = self._begin(arguments)
            if chance.random() < 0.5:
                time.sleep(chance.uniform(0.0, usual))
            elif writing.comes_before(self._news.fileno(), _HANGS):
                time.sleep(chance.uniform(0.0, lasts))
            with contextlib.suppress(ProcessLookupError):  # not after the watch ends: up to 16 ms
                os.killpg(pid, signal.SIGKILL)
        return int(self._news.readline()) == -signal.SIGKILL

    def _begin(self, arguments: list[object]) -> int:
        """Begin the action; its process."""
        self._orders.write(json.dumps(arguments).encode() + b"\n")
        return int(self._news.readline())


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
    """Kill sweeps with their workers; every result is there once, and that of this process."""
    from spatialops.sweeps.store import read_rows
    from tests.sweeps import functions

    chance = random.Random(seed)
    right = {angle: functions.end_of_swing(angle).tolist() for angle in _angles()}
    out = folder / "sweep"
    known: set[str] = set()
    killed = over = writing = 0
    faults = []
    with Warm("sweep") as warm:
        while killed < n and time.monotonic() < until:
            parts = set(out.glob(PART))
            hit = warm.strike([str(out)], out, chance, 0.5)
            killed, over = killed + hit, over + (not hit)
            writing += bool(set(out.glob(PART)) - parts)
            _wait_for_workers(out)
            found = set(read_rows(out))
            faults += [f"{key} is lost" for key in known - found]
            known = found
            if not hit or killed % _ANEW == 0 or killed == n:
                sweep(str(out))
                faults += _wrong_results(out, right)
                faults += [f"{path.name} is left" for path in out.glob(".*")]
                shutil.rmtree(out)
                known = set()
    return Kills(killed, over, writing, faults)


def _wait_for_workers(out: Path) -> None:
    """Until those of a sweep that was killed are gone; the folder is locked so long."""
    from spatialops._files import locked

    until = time.monotonic() + _HANGS
    while out.exists() and time.monotonic() < until:
        handle = os.open(out, os.O_RDONLY | os.O_DIRECTORY)
        try:
            if locked(handle):
                return
        finally:
            os.close(handle)
        time.sleep(0.001)


def _wrong_results(out: Path, right: dict[float, list[float]]) -> list[str]:
    """What is missing from a sweep's results, is there twice, or is another one."""
    from spatialops.sweeps.store import read_rows

    rows = [(row["parameters"]["angle"], row["value"]) for row in read_rows(out).values()]
    if sorted(angle for angle, _ in rows) != sorted(right):
        return [f"{len(rows)} results of {len(right)}"]
    return [f"other result at {angle}" for angle, value in rows if list(value) != right[angle]]


def _angles() -> list[float]:
    from tests.sweeps import functions

    return functions.angles(_TASKS)["angle"]


def run(folder: str, duration: float) -> None:
    """Begin or go on with a run."""
    from tests.support.runs import begin_or_go_on

    begin_or_go_on(Path(folder), duration)


def sweep(folder: str) -> None:
    """Begin or go on with a sweep, whose workers are copies of this process."""
    import spatialops as so
    from tests.sweeps import functions

    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(_WORKERS, mp_context=context) as pool:
        so.sweep(
            functions.swing, {"angle": _angles()}, folder=folder, executor=pool, workers=_WORKERS
        )


def precompile() -> None:
    """Fill the cache."""
    from spatialops.precompile import precompile

    precompile(progress=False)


def reproduce(out: str) -> None:
    """A short reproduction, which writes a table and a figure."""
    from spatialops.cli import main

    arguments = ["reproduce", "aghili", "--quick", "--only", "power", "--out", out]
    main(arguments, standalone_mode=False)


def _warm_reproduce() -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        reproduce(folder)


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
    "reproduce": (reproduce, _warm_reproduce),
    "precompile": (precompile, _warm_precompile),
}


def _write_to_a_slow_disk() -> None:
    """Let files be half-written for so long that kills meet them on machines with a fast disk."""
    at_once = os.fsync

    def slowly(handle: int) -> None:
        time.sleep(_SYNC)
        at_once(handle)

    os.fsync = slowly


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
            _write_to_a_slow_disk()
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
