"""What changes with inertial parameters beside momenta."""
