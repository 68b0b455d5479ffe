"""What an import would do, told before anything is done."""

from datetime import datetime

import hikari

from cc_bot.discord.pages.memory_ids import ConfirmButton
from cc_bot.discord.pages.memory_view import COLOUR, View, escaped, one_line, shortened, timestamp
from cc_bot.discord.pages.page import Button
from cc_bot.domain.memory import MAX_CONTENT_CHARACTERS
from cc_bot.domain.memory_transfer import ImportPlan
from cc_bot.texts import Texts

EXAMPLES = 5


def import_preview(plan: ImportPlan, user_id: int, until: datetime, words: Texts) -> View:
    """How many memories are new, known and refused, with some of the new ones; a button if there are any."""
    told, new = words.memory_box, len(plan.new)
    lines = [told.import_new.format(count=new)]
    if plan.known:
        lines.append(told.import_known.format(count=plan.known))
    if plan.refused:
        lines.append(
            told.import_refused.format(count=plan.refused, reasons=" ・ ".join(_reasons(plan, words)))
        )
    if not new:
        return View(told.nothing_to_import, _embed(lines, words))
    lines += ["", f"**{told.examples}**"]
    lines += [f"・{escaped(shortened(one_line(each.content), 80))}" for each in plan.new[:EXAMPLES]]
    lines += ["", f"-# {told.import_check.format(until=timestamp(until, 't'))}"]
    moment = int(until.timestamp())
    yes = ConfirmButton(user_id, "import", new, moment)
    no = ConfirmButton(user_id, "cancel", new, moment)
    return View(
        "",
        _embed(lines, words),
        (
            Button(told.import_now.format(count=new), yes.custom_id(), primary=True),
            Button(told.cancel, no.custom_id()),
        ),
    )


def _embed(lines: list[str], words: Texts) -> hikari.Embed:
    return hikari.Embed(title=words.memory_box.import_title, description="\n".join(lines), colour=COLOUR)


def _reasons(plan: ImportPlan, words: Texts) -> list[str]:
    told = words.memory_box
    reasons = (
        (plan.secret, told.refused_secret.format(count=plan.secret)),
        (plan.too_long, told.refused_long.format(count=plan.too_long, limit=MAX_CONTENT_CHARACTERS)),
        (plan.empty, told.refused_empty.format(count=plan.empty)),
    )
    return [reason for count, reason in reasons if count]
