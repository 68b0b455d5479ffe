"""The memories of a user: their rows, their search, their history, their end."""
