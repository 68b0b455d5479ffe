"""What is kept of a user's memories: their rows, their search, their history, their end."""
