"""Walking: gait, footsteps, legs, waypoints and balance."""
