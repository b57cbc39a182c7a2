"""Commands that are killed again and again: what they leave is whole, and the next one ends alike.

    python -m tests.trust.kills --what reproduce --n 200 --seed 0 --seconds 600

Half of the kills come at any time, half when the command has begun to write. Sweeps whose workers
begin from nothing are killed in `tests/sweeps/killed.py`.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from spatialops._compile.kept_code import SUFFIX
from spatialops._compile.sealed import unsealed
from tests.trust.warm_kills import PART, Kills, Warm, kill_run, kill_sweep

_HERE = Path(__file__).parents[2]
_REPRODUCE = ["-m", "spatialops", "reproduce", "aghili", "--quick", "--only", "power", "--out"]
_ANSWERS = ["-m", "tests.trust.kills", "--answer"]
_HANGS = 120.0  # s, after which nobody waits for a command to begin
_ANEW = 20  # kills, after which a cache begins from nothing


class Victim:
    """A command to kill, in a process group of its own.

    Parameters
    ----------
    arguments : list of str
        Of Python.
    """

    def __init__(self, arguments: list[str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=_HERE,
            env=_environment(None),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def waits_for(self, begun: Callable[[], bool]) -> None:
        """Until it has begun, or is over; or it hangs, and is killed as it hangs."""
        until = time.monotonic() + _HANGS
        while self._process.poll() is None and not begun() and time.monotonic() < until:
            time.sleep(0.001)

    def is_killed(self) -> bool:
        """Kill it with its children; False where it was over."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        return self._process.wait() == -signal.SIGKILL


def kill_reproduce(folder: Path, n: int, seed: int, until: float) -> Kills:
    """Kill a short reproduction that writes to a folder; then let it end there."""
    chance = random.Random(seed)
    _run([*_REPRODUCE, str(folder / "first")])  # which may have to compile
    begin = time.monotonic()
    _run([*_REPRODUCE, str(folder / "whole")])
    usual = time.monotonic() - begin
    whole = _files(folder / "whole")
    out = folder / "out"
    killed = over = writing = 0
    faults = []
    while killed < n and time.monotonic() < until:
        (out / chance.choice(["aghili.json", "power.png"])).unlink(missing_ok=True)
        before = set(out.glob(".writing-*"))
        victim = Victim([*_REPRODUCE, str(out)])
        if chance.random() < 0.5:
            time.sleep(chance.uniform(0.0, usual))
        else:
            victim.waits_for(lambda before=before: bool(set(out.glob(".writing-*")) - before))
            time.sleep(chance.uniform(0.0, 0.15 * usual))
        if victim.is_killed():
            killed += 1
        else:
            over += 1
        writing += bool(set(out.glob(".writing-*")) - before)
        found = _files(out)
        faults += [f"{name} is not whole" for name in found if found[name] != whole.get(name)]
    _run([*_REPRODUCE, str(out)])
    if _files(out) != whole or any(out.glob(".*")):
        faults.append(f"the last one left {sorted(path.name for path in out.iterdir())}")
    return Kills(killed, over, writing, faults)


def kill_precompile(folder: Path, n: int, seed: int, until: float) -> Kills:
    """Kill what fills a cache; what is in it must be whole, and answers come to the same bits."""
    chance = random.Random(seed)
    right = _run(_ANSWERS)
    cache = folder / "cache"
    kernels = cache / "spatialops" / "kernels"
    killed = over = writing = 0
    faults = []
    with Warm("precompile", cache) as warm:
        while killed < n and time.monotonic() < until:
            if (killed + over) % _ANEW == 0:
                shutil.rmtree(kernels, ignore_errors=True)
                kernels.mkdir(mode=0o700)
            parts = set(kernels.glob(PART))
            hit = warm.strike([], kernels, chance, 1.0)
            killed, over = killed + hit, over + (not hit)
            writing += bool(set(kernels.glob(PART)) - parts)
            faults += [f"{path.name} is cut" for path in _cut(kernels)]
            faults += ["a mark says that all is done" for _ in kernels.glob("complete-*")]
            if killed % _ANEW == 1 and _run(_ANSWERS, cache) != right:
                faults.append("other answers")
    if _run(_ANSWERS, cache) != right:
        faults.append("other answers at the end")
    return Kills(killed, over, writing, faults)


KILLED = {
    "run": kill_run,
    "sweep": kill_sweep,
    "reproduce": kill_reproduce,
    "precompile": kill_precompile,
}


def _files(folder: Path) -> dict[str, bytes]:
    """What lies in a folder for everybody to see."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("[!.]*"))}


def _cut(kernels: Path) -> list[Path]:
    """Files that look finished and are not."""
    return [path for path in kernels.glob(f"[!.]*{SUFFIX}") if unsealed(path) is None]


def _environment(cache: Path | None) -> dict[str, str]:
    own = {} if cache is None else {"SPATIALOPS_CACHE_DIR": str(cache)}
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(_HERE), *sys.path])} | own


def _run(arguments: list[str], cache: Path | None = None) -> bytes:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=_HERE,
        env=_environment(cache),
        check=True,
        stdout=subprocess.PIPE,
    ).stdout


def answers() -> str:
    """What kernels of the first parts of `precompile` compute of a pendulum, to the bit."""
    import numpy as np

    import spatialops as so

    model = so.models.pendulum(3).model
    q = np.array([0.3, -0.2, 1.1])
    v = np.array([1.0, 0.5, -2.0])
    found = [so.inverse_dynamics(model, q, v, q), so.mass_matrix(model, q)]
    found.append(so.forward_dynamics(model, q, v, q))
    return "".join(item.tobytes().hex() for item in found)


def main() -> int:
    """The command; its status is 1 where a kill has cost something."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--what", choices=KILLED)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    own = parser.parse_args()
    if own.answer:
        print(answers())
        return 0
    faults = 0
    for what in [own.what] if own.what else list(KILLED):
        with tempfile.TemporaryDirectory() as folder:
            until = time.monotonic() + own.seconds
            found = KILLED[what](Path(folder), own.n, own.seed, until)
        print(
            f"{what}: {found.killed} kills, {found.writing} of them with something half-written "
            f"beside, {found.over} that came too late; {len(found.faults)} faults",
            *sorted(set(found.faults)),
            sep="\n  ",
        )
        faults += len(found.faults)
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
