"""The guide for a newcomer, as the place Setup shows it."""
