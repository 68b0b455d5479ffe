from collections.abc import Iterable

from cc_bot.chat.parts import Building
from cc_bot.features.mcp.tools import ServerTools


def make_parts(given: Building) -> Iterable[object]:
    outside = given.tools.external
    return (outside.servers,) if isinstance(outside, ServerTools) else ()
