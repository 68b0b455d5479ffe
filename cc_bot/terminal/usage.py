"""The `/usage` command."""

from cc_bot.charts import table
from cc_bot.domain.limits import Payer
from cc_bot.domain.usage_report import chart_of
from cc_bot.spending import Spending
from cc_bot.stores import Stores
from cc_bot.terminal.moments import moments_for
from cc_bot.terminal.person import Person
from cc_bot.terminal.view import View


async def show_usage(person: Person, spending: Spending, stores: Stores, view: View) -> None:
    """Show what was used, of which models, and what is left."""
    words = person.texts.usage
    report = await spending.report_of(Payer(person.key.user_id, front_end="terminal"))
    if report.empty and not report.left:
        view.say(words.nothing)
        return
    lines = [words.title, *words.lines(report, moments_for(person, stores.usage.now()))]
    if report.models:
        lines += ["", words.models, *words.model_lines(report)]
    if report.days:
        lines += ["", words.chart, table(chart_of(report, words.chart))]
    view.say("\n".join(lines))
