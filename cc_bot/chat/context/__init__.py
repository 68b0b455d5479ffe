"""The prompt: all that the model is shown. Nothing here does I/O: values come in, a prompt goes out."""
