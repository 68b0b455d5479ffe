"""What begins with a message instead of a command: mentions, replies, DMs, edits and deletions."""
