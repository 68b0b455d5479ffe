"""What holds for every test."""

from hypothesis import settings

# A property is about what comes out, not about how long it takes on a machine that does other things too.
settings.register_profile("cc-bot", deadline=None)
settings.load_profile("cc-bot")
