"""Controllers on plants that are not their model: MuJoCo, with what robots suffer from."""
