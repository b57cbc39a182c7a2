"""What is peculiar to the steps of bodies that float."""
