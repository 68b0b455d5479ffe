"""Pages are what is shown: an answer or a list as messages of Discord. Nothing is sent here."""
