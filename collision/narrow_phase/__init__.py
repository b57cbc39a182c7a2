"""Contact points of one pair of shapes: distance first, then a manifold."""
