"""Search of memories and passages. Pure functions over text and counts, no I/O."""
