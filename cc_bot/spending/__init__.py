"""Who pays for what: admitted with a reservation, settled with what it took."""

from cc_bot.spending.spending import Spending
from cc_bot.spending.tab import Tab

__all__ = ["Spending", "Tab"]
