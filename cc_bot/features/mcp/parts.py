from collections.abc import Iterable

from cc_bot.features.mcp.tools import ServerTools
from cc_bot.parts import Building


def make_parts(given: Building) -> Iterable[object]:
    outside = given.tools.outside
    return (outside.servers,) if isinstance(outside, ServerTools) else ()
