"""Tests of the pages in a browser, over a socket."""
