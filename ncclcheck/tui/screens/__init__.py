"""The places and dialogs, each with its style sheet beside it; no screen computes anything."""
