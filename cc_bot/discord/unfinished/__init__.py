"""What is owed to those whose turn could not be shown to its end."""
