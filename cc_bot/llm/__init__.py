"""The seam to a language model (`model.py`), and what stands behind it: a server, a chain, an offline one."""
