"""How contacts of two shapes move with them: normals, points, gaps by the pose of A in B's axes."""
