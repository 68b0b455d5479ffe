"""Tests of what owners decide while the bot runs."""
