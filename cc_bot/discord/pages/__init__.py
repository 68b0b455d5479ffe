"""Renders answers and lists as Discord messages. Sends nothing."""
