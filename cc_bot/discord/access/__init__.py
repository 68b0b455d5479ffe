"""Who may use the bot: one gate, and every way in that leads through it."""
