"""Values and errors of the core. No I/O happens here."""
