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
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from spatialops._compile.kept_code import SUFFIX
from spatialops._compile.sealed import unsealed
from tests.trust.warm_kills import PART, WRITING, Kills, Warm, kill_run, kill_sweep

_HERE = Path(__file__).parents[2]
_ANSWERS = ["-m", "tests.trust.kills", "--answer"]
_ANEW = 20  # kills, after which a cache begins from nothing
_ANSWERED = 100  # kills, after which its answers are compared


def kill_reproduce(folder: Path, n: int, seed: int, until: float) -> Kills:
    """Kill a short reproduction that writes to a folder; then let it end there."""
    chance = random.Random(seed)
    out = folder / "out"
    killed = over = writing = 0
    faults = []
    with Warm("reproduce", part=WRITING) as warm:
        usual = warm.whole([str(folder / "whole")])
        whole = _files(folder / "whole")
        while killed < n and time.monotonic() < until:
            (out / chance.choice(["aghili.json", "power.png"])).unlink(missing_ok=True)
            before = set(out.glob(WRITING))
            hit = warm.strike([str(out)], out, chance, usual, 0.15 * usual)
            killed, over = killed + hit, over + (not hit)
            writing += bool(set(out.glob(WRITING)) - before)
            found = _files(out)
            faults += [f"{name} is not whole" for name in found if found[name] != whole.get(name)]
        warm.whole([str(out)])
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
            if hit and killed % _ANSWERED == 0 and _run(_ANSWERS, cache) != right:
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
