"""What is true at the moment of a scrape, as gauges: read anew for each, so that nothing runs in between."""

from collections.abc import Iterator
from math import isnan

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from cc_bot.metrics.health import Readings


class Gauges(Collector):
    """The readings that were taken last. A number that can't be told is not there."""

    def __init__(self) -> None:
        self.readings: Readings | None = None

    def collect(self) -> Iterator[GaugeMetricFamily]:
        now = self.readings
        if now is None:
            return
        connected = "gateway" not in now.health.problems
        told: tuple[tuple[str, str, float | None], ...] = (
            ("turns_running", "Turns that are being answered.", now.running),
            ("turns_waiting", "Turns that wait for their place.", now.waiting),
            ("sessions", "Conversations that go on.", now.sessions),
            ("database_bytes", "Size of the database, its write-ahead log included.", now.size_bytes),
            (
                "database_writable",
                "1 while the database can be written to.",
                "database" not in now.health.problems,
            ),
            ("disk_free_bytes", "Room on the database's disk.", now.free_bytes),
            ("last_backup_timestamp_seconds", "When the newest backup was made.", now.backed_up_at_s),
            ("gateway_connected", "1 while Discord's gateway is connected.", connected),
            ("gateway_latency_seconds", "How long the last heartbeat took.", now.latency_s),
        )
        for name, help_, value in told:
            if value is not None and not isnan(value):
                yield GaugeMetricFamily(f"cc_bot_{name}", help_, float(value))
