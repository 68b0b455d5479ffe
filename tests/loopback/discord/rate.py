"""Rate limits, as Discord's headers tell them: buckets per route and major parameter, and a global one.

Webhook routes have 5 requests per 2 s and interaction token (measured by others against Discord, as the
documentation gives no numbers), channel routes 5 per 5 s and channel, everything else is roomy.
"""

import time
from dataclasses import dataclass, field

from tests.loopback.discord.refusals import Refusal, rate_limited


@dataclass(frozen=True, slots=True)
class Allowance:
    requests: int
    window_s: float


@dataclass(slots=True)
class Window:
    """Opens with its first request, as Discord's do, and forgets everything when it closes."""

    allowance: Allowance
    opened_at: float = field(default=float("-inf"))
    used: int = 0

    def spend(self, now: float) -> bool:
        if now >= self.opened_at + self.allowance.window_s:
            self.opened_at, self.used = now, 0
        if self.used >= self.allowance.requests:
            return False
        self.used += 1
        return True

    def left_s(self, now: float) -> float:
        return max(0.0, self.opened_at + self.allowance.window_s - now)


class RateLimits:
    """`now` is the loop's time in seconds: frozen clocks of a test must not freeze the limits."""

    def __init__(self, webhook: Allowance, channel: Allowance, everywhere: Allowance) -> None:
        self._allowances = {"webhook": webhook, "channel": channel}
        self._windows: dict[tuple[str, str], Window] = {}
        self._everywhere = Window(everywhere)

    def check_everywhere(self, now: float) -> None:
        """The global limit. Raises Refusal (429, global)."""
        if not self._everywhere.spend(now):
            raise rate_limited(self._everywhere.left_s(now), everywhere=True)

    def spend(self, kind: str, route: str, major: str, now: float) -> dict[str, str]:
        """Counts a request and answers with its headers. Raises Refusal (429), with the same headers."""
        window = self._windows.setdefault((route, major), Window(self._allowances[kind]))
        granted = window.spend(now)
        headers = self._headers(window, route, now)
        if not granted:
            refusal: Refusal = rate_limited(window.left_s(now))
            refusal.headers |= headers
            raise refusal
        return headers

    def _headers(self, window: Window, route: str, now: float) -> dict[str, str]:
        left_s = window.left_s(now)
        return {
            "X-RateLimit-Bucket": f"{abs(hash(route)):x}",
            "X-RateLimit-Limit": str(window.allowance.requests),
            "X-RateLimit-Remaining": str(window.allowance.requests - window.used),
            "X-RateLimit-Reset": f"{time.time() + left_s:.3f}",
            "X-RateLimit-Reset-After": f"{left_s:.3f}",
        }
