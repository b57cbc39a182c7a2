"""The operational-space compliance matrix Lambda, by three routes."""
