"""What was used, as a message: two or three lines, and a small chart in text that reads well on a phone."""

import hikari

from cc_bot.charts import table
from cc_bot.discord.pages.memory_view import COLOUR, escaped, one_line, shortened
from cc_bot.domain.usage_report import UsageReport, chart_of
from cc_bot.texts import Texts, on_discord

NAME_CHARACTERS = 60
"""Of a model: five stay under the 1024 characters of a field, even if each character needs a backslash."""


def usage_view(report: UsageReport, words: Texts) -> hikari.Embed:
    """A user's own report, or that of a server, where it tells how many used it."""
    told = words.usage
    of_server = report.users is not None
    lines = told.lines(report, on_discord, _named) if report.left or not report.empty else [told.nothing]
    embed = hikari.Embed(
        title=told.server_title if of_server else told.title,
        description="\n".join(lines),
        colour=COLOUR,
    )
    if report.days:
        embed.add_field(told.chart, f"```\n{table(chart_of(report, told.chart))}\n```")
    if of_server and report.models:
        embed.add_field(told.models, "\n".join(told.model_lines(report, _named)))
    return embed


def _named(model: str) -> str:
    return escaped(shortened(one_line(model), NAME_CHARACTERS))
