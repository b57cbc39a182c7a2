"""What builds the project."""
