"""Records of runs: their rows, contacts and readings, in memory, on disk and as tables."""
