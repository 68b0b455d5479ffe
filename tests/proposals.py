"""Proposals as tests make them, and decide on them without a front end."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

from cc_bot.chat.active import Stop
from cc_bot.chat.approvals import ApprovedResult
from cc_bot.chat.assistant import Assistant
from cc_bot.chat.consent import changed_line, describe, field_line, on_one_line, propose_external_call
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.tools import ToolContext
from cc_bot.domain.access import Visitor
from cc_bot.domain.chart import Chart, Series
from cc_bot.domain.message import BUILT_IN_AGENT
from cc_bot.domain.proposal import (
    Approvers,
    CallMessage,
    DeferredCall,
    Moment,
    Origin,
    Proposal,
    ProposalLine,
    ProposalText,
    ProposedCalls,
)
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.features.canvas.texts import CanvasProposalTexts
from cc_bot.texts import texts
from cc_bot.texts.proposal import ProposalTexts

ORIGIN = Origin(Locale.JA, "Asia/Tokyo")


def proposed(
    name: str, arguments: dict[str, Any], *parts: ProposalLine, title: str = "猫", **more: Any
) -> ProposedCalls:
    """One call that waits for approval."""
    written = json.dumps(arguments, ensure_ascii=False)
    call = DeferredCall(name, written, asked=(name, written))
    return ProposedCalls((call,), ProposalText(title, "する", "しない", parts), ORIGIN, **more)


def remembering(content: str) -> ProposedCalls:
    return proposed("remember", {"content": content}, title=content)


WRITING = proposed("notes__write", {"text": "牛乳"}, title="notes · write", goes_on=True, server="notes")


def called(proposal: Proposal | ProposedCalls) -> list[tuple[str, dict[str, Any]]]:
    """The tools of a proposal with their arguments."""
    content = proposal.content if isinstance(proposal, Proposal) else proposal
    return [(call.name, json.loads(call.arguments)) for call in content.calls]


async def approve(assistant: Assistant, user_id: int, proposal: Proposal) -> ApprovedResult:
    approvals, key = assistant.approvals, proposal.key
    found = await approvals.find(user_id, proposal.id)
    claimed = await approvals.claim(found, "a1", CallMessage())
    visitor = Visitor(key.user_id, (key.channel_id,))
    try:
        result = await approvals.run(claimed, BUILT_IN_AGENT, visitor, Stop())
    except Exception:
        await approvals.stores.proposals.reopen(claimed)
        raise
    await approvals.stores.proposals.delete(claimed)
    return result


async def decline(assistant: Assistant, user_id: int, proposal: Proposal) -> None:
    await assistant.approvals.decline(await assistant.approvals.find(user_id, proposal.id))


# ---- with any text ---------------------------------------------------------------------------------------

_WORDS = texts(Locale.JA)
_SENTENCES, _DRAWING = _WORDS[ProposalTexts], _WORDS[CanvasProposalTexts]
NINE = datetime(2026, 11, 23, 0, tzinfo=UTC)


def change(shown: ProposalText) -> ProposedCalls:
    return replace(remembering("猫"), shown=shown)


def using(tool: str, arguments: Mapping[str, object], *, approvers: Approvers = "asker") -> ProposedCalls:
    """A call of a server's tool, as it is proposed."""
    context = ToolContext(SessionKey(7, 0), "public", Locale.JA, ZoneInfo("Asia/Tokyo"), cast("Stores", None))
    made = propose_external_call(context, "notes__t_1", tool, arguments, server="notes", approvers=approvers)
    assert made.proposal is not None
    return made.proposal


def stored(content: ProposedCalls, number: int = 3) -> Proposal:
    return Proposal(number, SessionKey(7, 0), 1, "public", content, made_at=NINE, number=number)


CHART = Chart("chart", "売上", "bar", ("1月", "2月"), (Series("今年", (10, 0.1)), Series("昨年", (8, 1e9))))
QUOTING: list[Callable[[str], ProposedCalls]] = [
    lambda text: change(describe(_SENTENCES.remember, text=text)),
    lambda text: change(describe(_SENTENCES.change, ProposalLine(_SENTENCES.old_text, below=text), number=1)),
    lambda text: change(describe(_DRAWING.draw, ProposalLine(_DRAWING.draw_card, {"title": "x"}, text))),
]
"""A text below a line."""
IN_LINES: list[Callable[[str], ProposedCalls]] = [
    lambda text: change(describe(_SENTENCES.remember, field_line("x", on_one_line(text), _WORDS))),
    lambda text: change(
        describe(_SENTENCES.remember, *changed_line("x", on_one_line(text), on_one_line(f"{text}x"), _WORDS))
    ),
    lambda text: change(
        describe(_SENTENCES.remind, field_line("x", Moment(NINE, repeat=on_one_line(text)), _WORDS))
    ),
    lambda text: change(
        describe(_DRAWING.draw, ProposalLine(_DRAWING.draw_card, {"title": on_one_line(text)}))
    ),
    lambda text: using(text, {}),
]
"""A text within a line."""
