"""The loop on tables that stay between calls: described once, cleared, shared."""
