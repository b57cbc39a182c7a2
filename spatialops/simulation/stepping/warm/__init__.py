"""What a step takes over from the step before: forces of contacts, and rest."""
