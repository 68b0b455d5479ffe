"""What a user can do about what is stored of them, and how long anything is kept."""

from cc_bot.privacy.privacy import Privacy
from cc_bot.privacy.retaining import keep_copies_to_retention, keep_log_thin, keep_to_retention, retain

__all__ = ["Privacy", "keep_copies_to_retention", "keep_log_thin", "keep_to_retention", "retain"]
