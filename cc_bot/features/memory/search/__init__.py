"""Search of notes: memories, or passages of longer texts. Pure functions without I/O."""
