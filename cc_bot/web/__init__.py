"""The pages in a browser. They work without JavaScript; `static/` only makes them live."""
