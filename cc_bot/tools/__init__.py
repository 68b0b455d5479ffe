"""Tools: what the model can do beside talking. One file a group of tools; `registry` finds them by itself."""
