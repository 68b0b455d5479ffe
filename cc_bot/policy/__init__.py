"""The operator's file of limits, prices and access: read, and read again when it changes."""

from cc_bot.policy.policies import Policies

__all__ = ["Policies"]
