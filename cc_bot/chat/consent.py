"""Decides whether a turn makes a change at once or proposes it to the user.

Models obey what they read. A turn that has read others' text (a file, a quotation, a channel) makes at once
only changes that the user's own message asks for (grounding.py). Without approval a turn changes or deletes
at most one older memory, and only a memory that the user was shown.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import comb
from typing import Any, Final

from cc_bot.chat.tools import InvalidToolCall, ToolContext, ToolOutcome, succeeded
from cc_bot.domain.errors import ProposalOutdated
from cc_bot.domain.message import ToolCall, parse_json, show_invisible
from cc_bot.domain.proposal import (
    Approvers,
    DeferredCall,
    Origin,
    ProposalLine,
    ProposalText,
    ProposedCalls,
    Value,
)
from cc_bot.domain.tool_calls import strip_memory_texts
from cc_bot.texts import Texts, texts
from cc_bot.texts.proposal import Choice, ProposalTexts, argument_lines

PENDING: Final[Mapping[str, Any]] = {
    "proposed": True,
    "note": "Not done yet: below your answer the user sees exactly this, and can approve or decline it. Tell "
    "them so, and do not say that it is done. The final result will replace this one.",
}
DECLINED: Final[Mapping[str, Any]] = {
    "declined": True,
    "note": "The user decided against this, and it was not done. Ask before you propose it again.",
}
EXPIRED: Final[Mapping[str, Any]] = {
    "expired": True,
    "note": "This was not approved in time, so it was not done.",
}
OUTDATED: Final[Mapping[str, Any]] = {
    "error": "This was not done, because something that it depends on has changed. If the user still wants "
    "it, propose it again."
}


def needs_approval(context: ToolContext, is_grounded: Callable[[], bool]) -> bool:
    """Raises InvalidToolCall if the turn is tainted and no user can approve."""
    if context.is_approved or not context.tainted:
        return False
    check_can_propose(context)
    return not is_grounded()


def check_can_propose(context: ToolContext) -> None:
    if not context.can_propose:
        raise InvalidToolCall("Nobody is present who could approve this, so it was not done.")


def check_unchanged(context: ToolContext, **expected: object) -> None:
    """Raises ProposalOutdated if values have changed between the proposal of a call and its approval."""
    if context.is_approved and context.approved_values != _to_json(expected):
        raise ProposalOutdated


def propose(
    context: ToolContext,
    name: str,
    arguments: Mapping[str, object],
    text: ProposalText,
    *,
    expected: Mapping[str, object] | None = None,
    result: Mapping[str, Any] = {},
    memory_id: int | None = None,
    **fields: Any,
) -> ToolOutcome:
    """Propose a call of the tool `name`. `expected`: values for `check_unchanged`. `result`: more fields of
    the pending result. `fields`: more fields of ProposedCalls."""
    result = {**result, **PENDING, **({} if memory_id is None else {"ref": memory_id})}
    call = DeferredCall(name, json.dumps(arguments, ensure_ascii=False), _to_json(expected or {}))
    where = (context.target, context.guild_id, context.in_dm)
    origin = Origin(context.locale, context.timezone.key, *where, ", ".join(context.read_names))
    proposal = ProposedCalls((call,), text, origin, memory_id=memory_id, **fields)
    return succeeded(result, proposal=proposal)


def propose_external_call(
    context: ToolContext,
    name: str,
    display_name: str,
    arguments: Mapping[str, object],
    *,
    server: str = "",
    approvers: Approvers = "asker",
    expected: Mapping[str, object] | None = None,
) -> ToolOutcome:
    """Propose a call to the web or a tool server. Once approved, the model continues with its result."""
    check_can_propose(context)
    words, title = texts(context.locale)[ProposalTexts], on_one_line(display_name)
    lines = [ProposalLine(words.field, {"name": words.tool, "value": title})]
    if approvers == "owners":
        lines.append(ProposalLine(words.owners_only))
    lines.append(ProposalLine(words.arguments, below=argument_lines(arguments)))
    text = describe(words.call, *lines, title=title)
    return propose(
        context, name, arguments, text, expected=expected, server=server, approvers=approvers, goes_on=True
    )


def _to_json(values: Mapping[str, object]) -> str:
    return json.dumps(values, ensure_ascii=False, sort_keys=True, default=str)


MAX_PHRASE_RUNS: Final = 4
_RUN: Final = re.compile(
    r"https?://[\x21-\x7e]+(?<![.,:;!?)\]'\"])|[0-9A-Za-z_]+|[ァ-ヺー]+|[ぁ-ゖ]+|[一-鿿々〆]+"
)
"""A run: an address, or adjacent letters of one script."""


def is_typed_phrase(typed: str, arguments: Mapping[str, object]) -> bool:
    """Return whether there is at most one argument, a phrase that the user typed: that can leak little."""
    match [*arguments.values()]:
        case []:
            return True
        case [str() | int() | float() as value]:
            return _is_phrase(str(value), typed)
        case _:
            return False


def count_possible_queries(typed: str, query: str) -> int:
    """Return how many queries can be made from the typed text in the way of this one: as a phrase, or as
    words of the text in order. Returns 0 if this query is neither."""
    words, runs = query.split(), _RUN.findall(typed)
    phrases, remaining_runs = 1 + MAX_PHRASE_RUNS * len(runs), iter(runs)
    if _is_phrase(query, typed):
        return phrases
    if not all(word in remaining_runs for word in words):
        return 0
    return phrases + sum(comb(len(runs), count) for count in range(1, len(words) + 1))


def _is_phrase(value: str, typed: str) -> bool:
    """Return whether the value is the whole text or up to MAX_PHRASE_RUNS adjacent runs of it."""
    if value == typed.strip():
        return bool(value)
    runs = [match.span() for match in _RUN.finditer(typed)]
    return any(
        typed[begin:end] == value
        for first, (begin, _) in enumerate(runs)
        for _, end in runs[first : first + MAX_PHRASE_RUNS]
    )


def describe(
    choice: Choice, *lines: ProposalLine, number: int = 0, text: str | None = None, title: str = ""
) -> ProposalText:
    """Describe a proposal: headline, text and further lines. `title` defaults to the first text."""
    lines = (ProposalLine(choice.what.format(id=number), below=text), *lines)
    texts_below = (on_one_line(line.below) for line in lines if isinstance(line.below, str))
    title = title or next(filter(None, texts_below), lines[0].template)
    return ProposalText(title, choice.yes, choice.no, lines)


def field_line(name: str, value: Value, words: Texts) -> ProposalLine:
    return ProposalLine(words[ProposalTexts].field, {"name": name, "value": value})


def changed_line(name: str, old: Value, new: Value, words: Texts) -> Iterator[ProposalLine]:
    if new != old:
        yield ProposalLine(words[ProposalTexts].changed_field, {"name": name, "old": old, "new": new})


def on_one_line(text: str) -> str:
    """Return the text on one line, with invisible characters spelled out."""
    return show_invisible(" ".join(text.split()))


def is_pending(call: ToolCall) -> bool:
    """Return whether a stored call, or the `superseded` part of its result, waits for approval."""
    result = parse_json(call.result)
    return isinstance(result, dict) and (_is_proposed(result) or _is_proposed(result.get("superseded")))


def with_result(stored: ToolCall, call: DeferredCall, text: str, *, ok: bool) -> ToolCall:
    """Return the stored call, with the result if it equals `call` and waits for approval."""
    name, arguments = call.asked
    arguments = strip_memory_texts(replace(stored, arguments=arguments)).arguments
    is_same = stored.name == name and parse_json(stored.arguments) == parse_json(arguments)
    if not is_same or not is_pending(stored):
        return stored
    result = parse_json(stored.result)
    if _is_proposed(result):
        return replace(stored, result=text, ok=ok)
    return replace(stored, result=json.dumps({**result, "superseded": json.loads(text)}, ensure_ascii=False))


def _is_proposed(result: Any) -> bool:
    return isinstance(result, dict) and result.get("proposed") is True
