"""Looking after memories: which one a new fact replaces, and which one a user wants forgotten."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from cc_bot.domain.phrase import Phrase
from cc_bot.llm.offline.conversation import Conversation, Round
from cc_bot.llm.offline.facts import facts_in
from cc_bot.llm.offline.fold import fold

_CHANGE: Final = Phrase(
    r"今は|いまは|現在は|これからは|今日から|引っ?越|転職|変わ(?:っ|り)|変更|訂正|間違|じゃなく|ではなく|になった|になりました"
    r"|\b(?:now|moved|no longer|actually|instead|changed|not any ?more|correction)\b"
)
_COMMAND: Final = Phrase(
    r"(?:という|って(?:いう)?)?(?:の)?(?:こと|話|メモリ?|記憶|件)?(?:を|は|も|について)?\s*"
    r"(?:忘れて|消して|削除して)(?:ください|下さい|ほしい|いい(?:よ)?|くれ)?[。！!\s]*$"
    r"|^(?:please |can you |could you )*(?:forget|delete|erase|remove)\b\s*"
    r"(?:(?:the|your) (?:memory|note)s? )?(?:(?:about|of|that)\b)?\s*"
)
_NUMBER: Final = Phrase(r"#\s*(\d{1,18})(?!\d)|^\s*(\d{1,18})(?:番)?\s*$")
_ALL: Final = Phrase(
    r"^(?:(?:全部|ぜんぶ|全て|すべて|何もかも|all|everything)(?:of (?:it|them))?[のを\s]*)+$"
)
_NOTHING: Final = Phrase(r"^(?:それ|これ|あれ|さっきの|今の|it|that|this|please)?[\s.。]*$")


@dataclass(frozen=True, slots=True)
class Doomed:
    """What is to be forgotten."""

    number: int | None = None
    thing: str = ""
    everything: bool = False


def doomed_in(message: str) -> Doomed:
    """What a request to forget names: a number, a thing, everything, or nothing."""
    thing = _COMMAND.sub("", fold(message)).strip(" 　。.!！?？")
    if number := _NUMBER.search(thing):
        return Doomed(number=int(number[1] or number[2]))
    if _ALL.match(thing):
        return Doomed(everything=True)
    return Doomed(thing="" if _NOTHING.match(thing) else thing)


def chosen(notes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Which of the notes that were found may be meant: those that surely are, else the likely ones."""
    for confidence in ("sure", "likely"):
        if found := [note for note in notes if note.get("confidence") == confidence]:
            return found
    return list(notes)


def replaced_by(content: str, talk: Conversation) -> int | None:
    """The note beside the one just kept that said otherwise of the same, if the user spoke of a change."""
    last = talk.rounds[-1]
    nearest = last.result.get("nearest")
    if not isinstance(nearest, list) or "supersedes" in last.request.arguments:
        return None
    if not _CHANGE.search(fold(talk.message)):
        return None
    return next(
        (note["id"] for note in nearest if _is_note(note) and _same_thing(content, note["content"])), None
    )


def result_of(name: str, talk: Conversation) -> Round | None:
    """The last call of a tool in this turn."""
    return next((each for each in reversed(talk.rounds) if each.request.name == name), None)


def _same_thing(one: str, other: str) -> bool:
    """Whether two notes speak of the same: the same subject, or the same idea of the same being."""
    for new in facts_in(one, order=0, remembered=True):
        for old in facts_in(other, order=0, remembered=True):
            if new.topic and old.topic and fold(new.topic.subject) == fold(old.topic.subject):
                return True
            if new.concepts & old.concepts and new.beings == old.beings:
                return True
    return False


def _is_note(note: object) -> bool:
    return isinstance(note, dict) and isinstance(note.get("id"), int) and isinstance(note.get("content"), str)
