"""What a controller is to move: tasks, what they leave free, and Khatib's operational space."""
