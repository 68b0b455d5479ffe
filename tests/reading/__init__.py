"""Tests of the readers of documents, and of their sandbox."""
