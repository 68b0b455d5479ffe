"""Values and errors of the core, without I/O."""
