"""What is simulated: a model, geoms, what pairs of them have, and where scenes come from."""
