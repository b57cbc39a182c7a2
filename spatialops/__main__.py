"""`python -m spatialops` is the command `spatialops`."""

from spatialops.cli import main

if __name__ == "__main__":  # workers of mpi4py.futures run this file under another name
    main(prog_name="spatialops")
