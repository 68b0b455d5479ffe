"""What the bot says at a time that a user chose: from a claimed firing to a message."""
