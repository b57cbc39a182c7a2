"""A simulation that runs in the browser: `Simulator.view`."""
