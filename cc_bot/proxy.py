"""The HTTP proxy that the environment names: HTTPS_PROXY, HTTP_PROXY and NO_PROXY.

aiohttp's own `trust_env` does not cover Discord's gateway (it looks for WSS_PROXY), and refuses requests with
a token where ~/.netrc knows the host.
"""

from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

_SCHEMES: Final = {"ws": "http", "wss": "https"}


def proxy_for(url: str) -> str | None:
    """Return the proxy for requests to an address; None if there is none, or NO_PROXY names the host."""
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    proxy = getproxies().get(_SCHEMES.get(parts.scheme, parts.scheme))
    return proxy if not proxy or "://" in proxy else f"http://{proxy}"
