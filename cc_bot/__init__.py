"""cc-bot: a self-hosted Discord assistant that remembers."""
