"""Delivery of answers to Discord: messages posted, edited and deleted while an answer is written."""
