"""Everything that starts with a message: mentions, replies, DMs, edits and deletions."""
