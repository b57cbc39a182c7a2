"""`sweep`: a function over many parameters, on any executor, resumed where it was killed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from functools import partial

from spatialops._arrays import whole
from spatialops._files import checked_path
from spatialops._processors import processors
from spatialops.errors import ArgumentError
from spatialops.simulation.runs.progress import progress_bar
from spatialops.sweeps.results import SweepResult, SweepResults
from spatialops.sweeps.store import SweepFolder, read_rows
from spatialops.sweeps.tasks import Function, Parameters, Row, key_of, listed
from spatialops.sweeps.workers import Dispatcher, Job, Task, processes


def sweep(
    function: Function,
    parameters: Mapping[str, Sequence[object]] | Sequence[Parameters],
    *,
    folder: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    seed: int | None = None,
    progress: bool = False,
) -> SweepResults:
    """Call a function with many sets of parameters, on all cores, and collect what it returns.

    Results are kept in a folder as they come, under a hash of the function's name, the parameters,
    the versions of this package, Python, NumPy, Numba and SciPy, and the seed. A sweep that was
    killed goes on when it is called again: what is in the folder is not computed again.

    Parameters
    ----------
    function : callable
        Called with parameters by name, in other processes: a function of a module, which returns
        numbers, text, arrays, lists or dicts of these. What it raises becomes a result. Its name
        stands for it: where its text has changed, take another folder.
    parameters : sequence of dict, or mapping of names to sequences
        One call each; of a mapping all combinations.
    folder : path-like, optional
        Where results are kept. Default: in memory only.
    executor : concurrent.futures.Executor, optional
        Where calls are made, such as `dask.distributed.Client.get_executor()`; it sees the folder.
        Default: a process a core, replaced where one dies. As always with processes, a script
        calls this below ``if __name__ == "__main__":``.
    workers : int, optional
        How many calls the executor makes at a time: thrice as many groups of tasks are handed to
        it. Default: the processors of this machine.
    seed : int, optional
        If given, the function gets a further argument ``seed``, a number that follows from this
        one and the task.
    progress : bool
        Show a progress bar on standard error. Default False.

    Returns
    -------
    SweepResults
        In the order of the parameters.

    Raises
    ------
    ArgumentError
        For parameters that are not numbers, text, lists or dicts, and a function without a name.
    RecordError
        For a folder with other things in it, or that another sweep is writing to.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import spatialops as so
    >>> def period(length):
    ...     return {"period": 2.0 * (length / 9.81) ** 0.5}
    >>> with ThreadPoolExecutor(2) as threads:
    ...     results = so.sweep(period, {"length": [0.0, 9.81]}, executor=threads)
    >>> results.rows[1]
    {'length': 9.81, 'period': 2.0, 'error': None}
    """
    if not hasattr(function, "__qualname__"):
        raise ArgumentError(f"function: expected a function with a name, got {function!r}")
    asked = listed(parameters)
    keys = [key_of(function, one, seed) for one in asked]
    path = None if folder is None else checked_path(folder)
    with ExitStack() as stack:
        if path is not None:
            stack.enter_context(SweepFolder(path))
        known = {} if path is None else read_rows(path)
        tasks = {key: Task(key, one) for key, one in zip(keys, asked, strict=True)}
        left = [task for key, task in tasks.items() if key not in known]
        job = Job(function, seed, path)
        count = processors() if workers is None else whole(workers, "workers", low=1)
        make = partial(processes, count) if executor is None else partial(_itself, executor)
        with progress_bar(len(tasks), progress, "sweeping", "task") as bar:
            bar.update(len(tasks) - len(left))
            for rows in Dispatcher(job, left, make, count, replaced=executor is None).rows():
                known |= {str(row["key"]): row for row in rows}
                bar.update(len(rows))
    return SweepResults(list(_results(keys, known)))


def _itself(executor: Executor) -> Executor:
    return executor


def _results(keys: list[str], known: dict[str, Row]) -> Iterator[SweepResult]:
    for key in keys:
        row = known[key]
        error = row["error"]
        parameters: Parameters = dict(row["parameters"])  # type: ignore[call-overload]
        yield SweepResult(parameters, row["value"], None if error is None else str(error))
