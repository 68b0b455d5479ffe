"""`Remind me to …`: when and of what, read from plain words; which reminders there are; and cancelling one.

Enough for trying reminders without a key. The tool works out the time itself, so that it is handed on as it
was said.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from cc_bot.domain.errors import RepeatNotUnderstood, WhenNotUnderstood
from cc_bot.domain.phrase import Phrase
from cc_bot.domain.when_and_what import split_when
from cc_bot.llm.offline.conversation import Conversation, Round
from cc_bot.llm.offline.fold import fold
from cc_bot.llm.offline.memory_care import result_of
from cc_bot.llm.offline.texts import OfflineTexts

LONGEST: Final = 400
"""Characters; whoever writes more asks for more than to be reminded."""
_PLEASE_JA: Final = (
    r"(?:おいて|ね|よ|ください|下さい|くれ(?:る|ますか|ませんか|ない)?|ほしい(?:です|な)?|もらえ(?:る|ますか|ませんか)"
    r"|お願い(?:します|できますか)?)*[。！!?？\s]*"
)
_LINK_JA: Final = r"(?:(?:んだ|のだ)?(?:って|と)|(?:こと|の)?(?:を|で)|ように|、)?"
_SURE_JA: Final = Phrase(
    rf"(?P<body>.+?){_LINK_JA}\s*(?:(?:リマインド|通知|お知らせ|アラーム)(?:を)?(?:して|お願い|頼む|セットして|かけて)"
    rf"|知らせて|しらせて|思い出させて|(?P<wake>(?:起こ|おこ)して)){_PLEASE_JA}",
    re.DOTALL,
)
_SET_JA: Final = Phrase(
    r"(?:リマインダー|リマインド|アラーム|タイマー)(?:を|の)?(?:セット|設定|追加|登録|予約)?(?:して)?"
    rf"{_PLEASE_JA}[:：、\s]\s*(?P<body>.+?){_PLEASE_JA}",
    re.DOTALL,
)
_LATER_JA: Final = Phrase(
    rf"(?P<body>.+?){_LINK_JA}\s*(?:教えて|言って|伝えて|声(?:を)?かけて|呼んで|(?:つ|突)(?:っつ|つ)いて|忘れ(?:ない|ん)ように(?:して|させて)?"
    r"|(?:DM|メッセージ|連絡|通知)?(?:を)?(?:送って|送信して|飛ばして|ちょうだい)|(?:DM|メッセージ|連絡)(?:を)?して"
    r"|(?:予定|カレンダー|スケジュール)に(?:入れて|追加して|登録して|書いて)|頼(?:む|んだ|みます|める)|よろしく|お願い(?:し(?:ます|たい))?)"
    rf"{_PLEASE_JA}",
    re.DOTALL,
)
_POLITE_EN: Final = r"(?:(?:please|can you|could you|would you|will you|hey|ok|okay)[, ]+)*"
_SURE_EN: Final = Phrase(
    rf"{_POLITE_EN}(?:(?:remind|ping|notify|alert|nudge|poke|buzz) me|(?P<wake>wake me(?: up)?)"
    r"|set (?:me )?(?:an? |the )?(?:reminder|alarm|timer)(?: for me)?)(?P<body>\b.*?)(?:,? please)?[.!?\s]*",
    re.DOTALL | re.IGNORECASE,
)
_LATER_EN: Final = Phrase(
    rf"{_POLITE_EN}(?:tell me|let me know)(?P<body>\b.*?)(?:,? please)?[.!?\s]*", re.DOTALL | re.IGNORECASE
)
_CALENDAR_EN: Final = Phrase(
    rf"{_POLITE_EN}(?:put|add) (?P<what>.+?) (?:on|to|in) (?:my|the) (?:schedule|calendar|diary)(?: for)?\b"
    r"(?P<body>.*?)(?:,? please)?[.!?\s]*",
    re.DOTALL | re.IGNORECASE,
)
_WHICH: Final = Phrase(
    r"(?:(?:今の|私の|予約した|ある)?(?:リマインダー|リマインド|お知らせ)(?:の(?:一覧|リスト))?(?:は|を|って)?"
    r"(?:何|なに|どれ|ある|見せて|教えて|一覧|リスト|確認).*)"
    r"|(?:.*\b(?:what|which|list|show)\b.*\breminders?\b(?!.*\b(?:at|in|on) \d).*)"
)
_CANCEL: Final = Phrase(
    r"(?P<what>.*?)(?:の)?(?:リマインダー|リマインド|お知らせ|アラーム)(?:を|は)?(?:もう)?"
    r"(?:取り消|取消|キャンセル|やめ|止め|消し|けし|削除|解除|いらな|不要).*"
    r"|(?:please )?(?:cancel|delete|remove|stop) (?:the |my |that )?(?P<about>.*?) ?reminders?"
    r"(?: (?:about|of|to|for) (?P<of>.+?))?[.!]*"
    r"|(?:please )?stop reminding me(?: (?:about|of|to))? ?(?P<no_more>.*?)[.!]*"
)
_LEAD_EN: Final = Phrase(r"^(?:to|about|of|that|for|,)\s+|^\s+", re.IGNORECASE)
_TAIL_JA: Final = Phrase(r"(?:(?:んだ|のだ)?(?:って|と|を|は|が|、)|(?:がある)?(?:から|ので))$")
_NUMBER: Final = Phrase(r"#\s*(\d+)")


@dataclass(frozen=True, slots=True)
class ReminderRequest:
    """The tool to call, and with what."""

    tool: str
    arguments: dict[str, object]


def reminding(talk: Conversation, words: OfflineTexts) -> ReminderRequest | str | None:
    """What to have done, or to say about it; None when the message is not about reminders."""
    if len(talk.message) > LONGEST:
        return None
    wished = _cancelled(talk, words) or _listed(talk, words) or _scheduled(talk, words)
    if isinstance(wished, ReminderRequest) and wished.tool not in talk.tools:
        return words.cannot_remind
    return wished


def _scheduled(talk: Conversation, words: OfflineTexts) -> ReminderRequest | str | None:
    if done := result_of("schedule", talk):
        return _done(done, words.scheduled, words)
    message = talk.message.strip()
    for pattern in (_SET_JA, _SURE_JA, _LATER_JA, _SURE_EN, _LATER_EN, _CALENDAR_EN):
        if found := pattern.fullmatch(message):
            parts = found.groupdict()
            body = f"{parts['body']} {parts.get('what', '')}"
            if wish := _reminder(body, wake=bool(parts.get("wake")), words=words):
                return wish
            if pattern in (_SURE_JA, _SURE_EN):
                return words.remind_when
    return None


def _done(done: Round, said: str, words: OfflineTexts) -> str:
    if done.error is not None:
        return words.not_scheduled.format(error=done.error)
    return words.proposed if done.proposed else said


def _reminder(body: str, *, wake: bool, words: OfflineTexts) -> ReminderRequest | None:
    """None where no time is named."""
    plain = _LEAD_EN.sub("", body.strip())
    for attempt in (plain, f"in {plain}", f"at {plain}"):
        try:
            when, what = split_when(attempt)
        except WhenNotUnderstood:
            continue
        except RepeatNotUnderstood:  # the tool says what can be set
            return ReminderRequest("schedule", {"when": plain, "text": plain})
        text = _TAIL_JA.sub("", _LEAD_EN.sub("", what).strip()).strip(" 　、,。.")
        return ReminderRequest(
            "schedule", {"when": when, "text": text or (words.wake_up if wake else words.time_is_up)}
        )
    return None


def _listed(talk: Conversation, words: OfflineTexts) -> ReminderRequest | str | None:
    if not _WHICH.fullmatch(fold(talk.message.strip())):
        return None
    if (found := result_of("list_schedules", talk)) is None:
        return ReminderRequest("list_schedules", {})
    if found.error is not None:
        return words.not_scheduled.format(error=found.error)
    lines = _lines(_known(found.result))
    return words.reminders.format(reminders="\n".join(lines)) if lines else words.no_reminders


def _cancelled(talk: Conversation, words: OfflineTexts) -> ReminderRequest | str | None:
    match = _CANCEL.fullmatch(fold(talk.message.strip()))
    if match is None:
        return None
    if done := result_of("cancel_schedule", talk):
        return _done(done, words.unscheduled, words)
    if (found := result_of("list_schedules", talk)) is None:
        return ReminderRequest("list_schedules", {})
    known = _known(found.result)
    about = next((part for part in match.groups() if part), "").strip()
    meant = _meant(about, known)
    if len(meant) == 1:
        return ReminderRequest("cancel_schedule", {"id": meant[0].get("id")})
    if not known:
        return words.no_reminders
    return words.cancel_which.format(reminders="\n".join(_lines(meant or known)))


def _meant(about: str, known: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """Those that are named by their number or their text; all where nothing is named."""
    if number := _NUMBER.search(about):
        return [each for each in known if each.get("id") == int(number[1])]
    if not about:
        return known
    return [
        each
        for each in known
        if (text := fold(str(each.get("text", "")))) and (about in text or text in about)
    ]


def _known(result: dict[str, Any]) -> list[dict[str, Any]]:
    found = result.get("schedules")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _lines(known: Sequence[dict[str, Any]]) -> list[str]:
    return [
        f"- #{each.get('id')} {str(each.get('when', ''))[:16].replace('T', ' ')} {each.get('text', '')}"
        for each in known
    ]
