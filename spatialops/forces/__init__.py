"""Forces that act whatever touches: passive ones of joints, and what motors are allowed."""
