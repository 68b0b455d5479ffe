"""Search of memories and passages: pure functions without I/O."""
