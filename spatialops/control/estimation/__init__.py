"""What a robot's sensors say of its state."""
