"""Pictures of motions, by a rasterizer of triangles: a camera, colours, what is drawn and said."""
