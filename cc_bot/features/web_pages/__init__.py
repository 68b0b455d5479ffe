"""Web access: pages that a user names, and search results."""
