"""Tests of cc_bot.in_order."""
