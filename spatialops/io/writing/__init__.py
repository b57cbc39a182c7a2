"""Models written as robot files."""
