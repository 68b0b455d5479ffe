"""Numbers and health for whoever watches over the program: /metrics and /healthz, where that is wanted.

Nothing here names a user, a place or what was said. Only this package knows prometheus_client.
"""

from cc_bot.metrics.health import Health, Vitals
from cc_bot.metrics.meter import PrometheusMeter
from cc_bot.metrics.server import serving

__all__ = ["Health", "PrometheusMeter", "Vitals", "serving"]
