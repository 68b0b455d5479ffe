"""The lightbulb extensions. Dependencies are injected as typed parameters."""
