"""Executors by name: processes of this machine, a Dask cluster, or the ranks of an MPI program."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from spatialops.errors import ArgumentError, MissingLibraryError

_DASK = "dask://"
_PATIENCE = 30  # s, until a scheduler has answered and has a worker


class Workforce(NamedTuple):
    """What `sweep` is given.

    Attributes
    ----------
    executor : Executor or None
        None: processes of this machine.
    workers : int or None
        How many calls it makes at a time.
    """

    executor: Executor | None
    workers: int | None


@contextmanager
def workforce(name: str) -> Iterator[Workforce]:
    """The executor of a name, for as long as the context lasts.

    Parameters
    ----------
    name : str
        "processes"; "dask://HOST:PORT", a scheduler that runs; "mpi", the other ranks of a program
        that ``mpiexec -n N python -m mpi4py.futures`` has begun.

    Raises
    ------
    ArgumentError
        For another name, a scheduler that does not answer, and MPI without workers.
    MissingLibraryError
        Where distributed or mpi4py is not installed.
    """
    if name == "processes":
        yield Workforce(None, None)
    elif name.startswith(_DASK):
        with _dask(name.removeprefix(_DASK)) as found:
            yield found
    elif name == "mpi":
        with _mpi() as found:
            yield found
    else:
        raise ArgumentError(
            f"executor: expected 'processes', 'dask://HOST:PORT' or 'mpi', got {name!r}"
        )


@contextmanager
def _dask(address: str) -> Iterator[Workforce]:
    try:
        client = _library("distributed").Client(f"tcp://{address}", timeout=_PATIENCE)
    except (OSError, ValueError, TypeError) as error:
        raise ArgumentError(
            f"executor: no Dask scheduler answers at {address!r}: {error}"
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError as error:
            raise ArgumentError(f"executor: the scheduler at {address} has no workers") from error
        yield Workforce(client.get_executor(pure=False), sum(client.nthreads().values()))


@contextmanager
def _mpi() -> Iterator[Workforce]:
    comm = _library("mpi4py.MPI").COMM_WORLD
    if comm.Get_size() < 2:
        raise ArgumentError(
            "executor: MPI has no workers; begin it by mpiexec -n 3 python -m mpi4py.futures -m "
            "spatialops sweep FILE --executor mpi"
        )
    with _library("mpi4py.futures").MPIPoolExecutor() as executor:
        yield Workforce(executor, comm.Get_size() - 1)


def _library(name: str) -> ModuleType:
    try:
        return import_module(name)
    except (ImportError, RuntimeError) as error:  # mpi4py without an MPI
        raise MissingLibraryError(
            f"{name} cannot be loaded: {error}; pip install spatialops[cluster]"
        ) from error
