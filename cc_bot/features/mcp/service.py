"""`/admin tools`."""

import asyncio
import unicodedata

import structlog

from cc_bot.chat.reply import Caller, Reply, ReplyFile
from cc_bot.features.mcp.servers import Servers
from cc_bot.features.mcp.texts import ToolServersTexts, details_file, say_accepted, say_servers

_log = structlog.get_logger(__name__)


async def show_tools(caller: Caller, server: str, *, servers: Servers) -> Reply:
    """Show the tool servers, or each tool of one. Raises ToolServerUnknown."""
    texts, reports = caller.words[ToolServersTexts], servers.reports()
    if not server:
        return Reply((say_servers(reports, texts, caller.text),))
    tools = servers.details(server)
    own = [each for each in reports if each.server == server]
    done = say_servers(own, texts, caller.text)
    if not tools:
        return Reply((done, texts.details_none))
    written = await asyncio.to_thread(details_file, server, tools, texts)
    notes = [texts.details, *(texts.code.format(code=each.code) for each in own if each.code)]
    return Reply((done, *notes), file=ReplyFile(texts.details_file, written.encode()))


async def accept_tools(caller: Caller, server: str, code: str, *, servers: Servers) -> Reply:
    """Accept a server's tools as shown. Raises ToolServerUnknown, and ToolListNotShown if they have
    changed."""
    read = unicodedata.normalize("NFKC", code).strip(" `").lower()
    accepted = await servers.accept(server, read)
    if accepted is not None:
        _log.info("admin_changed", change="tools_accepted", by=caller.user_id, server=server)
    return Reply((say_accepted(server, accepted, caller.words[ToolServersTexts], caller.text),))
