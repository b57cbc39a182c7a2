"""`python -m spatialops.cli`."""

from spatialops.cli import main

main(prog_name="spatialops")
