"""The pages of a browser: one's own canvas, memories and settings, and the console of owners."""
