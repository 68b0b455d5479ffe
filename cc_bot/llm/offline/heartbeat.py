"""Heartbeats without a model: what has its time is told, word for word; news without one is not worth it."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from cc_bot.domain.locale import Locale
from cc_bot.llm.model import ChatRequest
from cc_bot.llm.offline.replies import Say
from cc_bot.llm.summary_request import SILENT, HeartbeatNote, heartbeat_material

_HEADINGS: Final = {Locale.JA: "お知らせしておきます。", Locale.EN: "Something is coming up:"}
_MISSED: Final = {
    Locale.JA: "（届けられなかったかもしれません）",
    Locale.EN: " (perhaps you did not get this)",
}


def looked_around(request: ChatRequest) -> Say | None:
    """What a heartbeat's request is answered with; None when it is another one."""
    material = heartbeat_material(request)
    if material is None:
        return None
    lines = [line for note in material.notes for line in _lines(note, material.locale)]
    return Say("\n".join((_HEADINGS[material.locale], *lines)) if lines else SILENT)


def _lines(note: HeartbeatNote, locale: Locale) -> Iterator[str]:
    """One line for what has a time: the first that it has, unless the note itself names it."""
    for why, when in note.why:
        if why == "named":
            yield f"- {note.text}"
        elif why != "changed":
            moment = _shown(datetime.fromisoformat(when), locale)
            yield f"- {moment} {note.text}{_MISSED[locale] if why == 'missed' else ''}"
        else:
            continue
        return


def _shown(moment: datetime, locale: Locale) -> str:
    day = f"{moment.month}月{moment.day}日" if locale is Locale.JA else f"{moment:%b} {moment.day}"
    return f"{day} {moment.hour}:{moment:%M}"
