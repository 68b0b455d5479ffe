"""Tests of cc_bot.concurrency."""
