"""The Discord front end: interactions become turns, turn events become messages."""
