"""Text → events → job: what a log says, before anybody judges it."""
