"""The group that all `/privacy` commands belong to."""

import lightbulb

loader = lightbulb.Loader()
privacy = lightbulb.Group("privacy", "privacy_description", localize=True)
loader.command(privacy)
