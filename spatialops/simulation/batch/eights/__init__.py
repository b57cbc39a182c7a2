"""Eight environments of one tree that step side by side, each number in a lane of a register."""
