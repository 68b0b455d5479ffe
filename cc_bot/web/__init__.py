"""The pages in a browser: everyone's own canvas, memories, conversations and usage, and the owners' console.

Pages are made here and work without JavaScript; the modules in `static/` only make them live. The service
layer below is the one that Discord's commands call.
"""
