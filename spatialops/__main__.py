"""`python -m spatialops`: the command line."""

from spatialops.cli import main

main(prog_name="spatialops")
