"""The composition root. One module per command, imported when called: `run` needs a second and 75 MB."""
