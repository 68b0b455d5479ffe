"""How an answer gets to Discord: its messages posted, edited and deleted while it is written."""
