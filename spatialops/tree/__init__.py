"""Building a mechanism and what comes out of it: joints, builder, model, state."""
