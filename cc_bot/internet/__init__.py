"""Web access: pages that a user names, and search results. Content is untrusted; only search queries are
written by the model."""
