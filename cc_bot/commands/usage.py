"""`/usage`: tokens and cost of the user, or of a server for its managers."""

from typing import Final

from cc_bot.charts import table
from cc_bot.commands.reply import Caller, Reply
from cc_bot.domain.usage import chart_of
from cc_bot.spending import Spending

MAX_NAME_CHARACTERS: Final = 60


async def show_usage(caller: Caller, server: bool, *, spending: Spending) -> Reply:
    texts = caller.words.usage
    if not server:
        report = await spending.report_of(caller.payer)
    elif caller.guild_id is None:
        return Reply((texts.servers_only,))
    elif not caller.manages_guild:
        return Reply((texts.managers_only,))
    else:
        report = await spending.report_of_guild(caller.guild_id)

    def name(model: str) -> str:
        return caller.text(model, MAX_NAME_CHARACTERS)

    lines = texts.lines(report, caller.moment, name) if report.left or not report.empty else [texts.nothing]
    if server and report.models:
        lines += ["", texts.models, *texts.model_lines(report, name)]
    shown = table(chart_of(report, texts.chart)) if report.days else ""
    return Reply(tuple(lines), title=texts.server_title if server else texts.title, table=shown)
