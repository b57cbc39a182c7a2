"""Linear problems of piles, tree by tree."""
