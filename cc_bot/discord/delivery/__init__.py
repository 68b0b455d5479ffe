"""The way of an answer to Discord: its messages posted, edited and deleted while it is written."""
