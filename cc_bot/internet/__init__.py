"""The web outside: pages that a user names, and what a search finds. Nothing here trusts what comes from
there, and nothing goes there that a model made up but the words of a search."""
