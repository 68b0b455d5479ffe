from collections.abc import Iterable

from cc_bot.chat.parts import PartsBuilder
from cc_bot.features.mcp.tools import ServerTools


def make_parts(given: PartsBuilder) -> Iterable[object]:
    external_tools = given.tools.external
    return (external_tools.servers,) if isinstance(external_tools, ServerTools) else ()
