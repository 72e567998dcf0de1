"""Widgets of our own: each shows values and knows nothing of use cases."""
