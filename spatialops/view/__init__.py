"""Pictures of a motion: a self-contained 3-D replay page (`replay`) and overview figures (`plots`).

Both modules work on plain arrays, so that they can draw any motion, whoever computed it.
"""
