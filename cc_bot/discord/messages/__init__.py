"""The ways that begin with a message instead of a command: mentions, replies, DMs, edits and deletions."""
