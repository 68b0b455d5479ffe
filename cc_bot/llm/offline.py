"""Rule-based demo model, used without an API key: it remembers, recalls, forgets and reminds.

To everything else it says which setting configures a model.
"""

import json
import re
from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from cc_bot.domain.errors import RepeatNotUnderstood, WhenNotUnderstood
from cc_bot.domain.text import shorten
from cc_bot.domain.when.resolve import split_when
from cc_bot.llm.model import (
    SILENT,
    AssistantPart,
    ChatRequest,
    Delta,
    Finish,
    ModelEvent,
    SystemPart,
    ToolRequest,
    ToolResultPart,
    UserPart,
)

_SENTENCES: Final = """
unknown | AIモデルが設定されていないので、「〜を覚えて」「〜を忘れて」、覚えたことへの質問、「明日9時に薬って知らせて」のほかにはお答えできません。.env に OPENAI_API_KEY（手元のサーバーなら OPENAI_BASE_URL）を設定してください。 | No AI model is configured, so I understand nothing but “remember that …”, “forget …”, questions about what I remember, and “remind me tomorrow at 9 to call mom”: set OPENAI_API_KEY in .env (OPENAI_BASE_URL for a server of your own).
not_here | この質問では、それはできません。ふつうの質問でもう一度お伝えください。 | That can't be done in this question. Please ask again in an ordinary one.
failed | できませんでした。{error} | I could not do that. {error}
proposed | まだ実行していません。下の提案を確かめて、どうするか選んでください。 | Nothing is changed yet. Look at the proposal below, and choose.
remembered | 承知しました。「{text}」を覚えました。 | All right. I remembered: “{text}”
remember_what | 何を覚えましょうか。「鍵は玄関って覚えて」のように書いてください。 | What should I remember? Write it like this: “remember that the key is in the hall”.
found | 「{text}」と覚えています。 | I remember: “{text}”
known | 覚えているのは次のことです。 | This is what I remember:
closest | はっきりしませんが、近いものは次のとおりです。 | I am not sure; this is the closest that I remember:
not_found | メモリには見つかりませんでした。 | I found that nowhere in your memories.
forgotten | 「{text}」を忘れました。 | I forgot: “{text}”
forget_which | どれのことでしょうか。「#番号を忘れて」で選んでください。 | Which one do you mean? Choose it with “forget #number”:
reminders | お知らせの予定は次のとおりです。 | These are your reminders:
no_reminders | お知らせの予定はありません。 | You have no reminders.
scheduled | お知らせを予約しました。 | The reminder is set.
remind_when | いつお知らせしましょうか。「明日9時に薬って知らせて」のように書いてください。 | When should I remind you? Write it like this: “remind me tomorrow at 9 to call mom”.
time_is_up | 時間です | It's time
"""  # noqa: E501 - a sentence is one line
_ROWS: Final = [[part.strip() for part in row.split("|")] for row in _SENTENCES.strip().splitlines()]
JA: Final = {name: japanese for name, japanese, _ in _ROWS}
EN: Final = {name: english for name, _, english in _ROWS}

MAX_CHARACTERS: Final = 400
"""Longer messages are not read: a pattern with an open beginning takes the square of the length."""
_MAX_QUOTED: Final = 300
_MAX_FOUND: Final = 5
_MAX_LISTED: Final = 20

_HEAD: Final = re.compile(r"\A(?:\[[^\n]+[.:]\](?:\n>[^\n]*)*(?:\n\n|\Z))*(?P<name>[^#:：\n]{1,40}#\d{6}:)?")
"""Text that a prompt puts before the author's words."""

_PLEASE_JA: Final = r"(?:おいて|ください|下さい|ほしい|もらえますか|もらえる|くれる|ね|よ)*[。！!？?\s]*"
_PLEASE_EN: Final = r"(?:(?:please|can you|could you|would you)[, ]+)?"
_END_EN: Final = r"(?:,? please)?[.!?\s]*"
_REMEMBER: Final = (
    re.compile(r"(?s)(?:覚えて|おぼえて|メモして)(?:おいて|ください|ね)*[:：、。\s]\s*(?P<what>.+)"),
    re.compile(
        r"(?s)(?P<what>.*?)(?:という|って)?(?:こと)?(?:なので|だから|ので|から|を|って|と|は|、|。|\s)*"
        rf"(?:覚えて|おぼえて|メモして|忘れないで){_PLEASE_JA}"
    ),
    re.compile(
        rf"(?is){_PLEASE_EN}(?:remember|keep in mind|note|don't forget)(?: that| this)?[:,]?\s+"
        rf"(?P<what>.+?){_END_EN}"
    ),
    re.compile(
        rf"(?is)(?P<what>.+?)[.,;!]\s*{_PLEASE_EN}(?:remember|note|don't forget) (?:that|this|it){_END_EN}"
    ),
)
_POINTS: Final = re.compile(
    r"(?i)(?:[こそあ]れ|[こそあ]の(?:こと|話|件)|今の(?:こと|話)?)?も?|(?:this|that|it)(?: one)?(?: for me)?"
)
_FORGET: Final = (
    re.compile(
        r"(?s)(?P<what>.+?)(?:という|って)?(?:の?(?:こと|話|記憶))?(?:を|は|も)?\s*"
        rf"(?:忘れて|消して|削除して)(?:いいよ)?{_PLEASE_JA}"
    ),
    re.compile(rf"(?is){_PLEASE_EN}(?:forget|delete)(?: about| that)?\s+(?P<what>.+?){_END_EN}"),
)
_REMIND: Final = (
    re.compile(
        r"(?s)(?P<what>.+?)(?:(?:んだ|のだ)?(?:って|と)|(?:こと|の)?[をで]|ように|、)?\s*"
        rf"(?:(?P<sure>知らせて|お知らせして|リマインドして|通知して|起こして|思い出させて)|教えて){_PLEASE_JA}"
    ),
    re.compile(
        rf"(?is){_PLEASE_EN}(?:(?P<sure>remind|wake) me|tell me)(?: to| about| that| up)*\s+"
        rf"(?P<what>.+?){_END_EN}"
    ),
)
_ASKS: Final = re.compile(
    r"(?is).+[?？]\s*|.+(?:(?<!こんにち)(?<!こんばん)は|っけ|ですか|ますか|教えて(?:ください)?)[。\s]*"
    r"|(?:what|which|who|whose|when|where|how|why|do|does|did|is|are|am|was|were|tell me)\b.+"
)
_ASKS_FOR_ALL: Final = re.compile(
    r"(?i)what do you (?:know|remember)(?: about me)?[?.!\s]*"
    r"|(?:私について)?何を(?:覚えて|知って)い?(?:る|ますか)[?？。\s]*"
)
_ASKS_FOR_REMINDERS: Final = re.compile(
    r"(?i)\b(?:what|which|show|list)\b[^\n]{0,40}\breminders\b"
    r"|(?:お知らせ|リマインダー)[^\n]{0,10}(?:[?？]|見せて|一覧|教えて)"
)
_NUMBER: Final = re.compile(r"#?(\d{1,18})番?")
_KANA_OR_KANJI: Final = re.compile(r"[ぁ-ゖァ-ヺ一-鿿]")


_Step = str | ToolRequest


class OfflineModel:
    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        step = _next_step(request)
        if isinstance(step, ToolRequest):
            calls = sum(len(part.tool_requests) for part in request.prompt if isinstance(part, AssistantPart))
            yield Finish("tools", (replace(step, id=f"offline-{calls + 1}"),))
            return
        yield Delta(step)
        yield Finish("stop")


def _next_step(request: ChatRequest) -> _Step:
    systems = (part.text for part in request.prompt if isinstance(part, SystemPart))
    if SILENT in next(systems, ""):  # its instructions allow silence
        return SILENT
    talk = _Talk(request)
    if len(talk.message) > MAX_CHARACTERS or talk.has_images:
        return talk.texts["unknown"]
    step = _list_reminders(talk) or _remind(talk) or _remember(talk)
    step = step or _forget(talk) or _recall(talk) or talk.texts["unknown"]
    return talk.texts["not_here"] if isinstance(step, ToolRequest) and step.name not in talk.tools else step


class _Talk:
    def __init__(self, request: ChatRequest) -> None:
        messages = [at for at, part in enumerate(request.prompt) if isinstance(part, UserPart)]
        present, *since = request.prompt[messages[-1] :] if messages else (UserPart(""),)
        self.message = _words(present.text)
        self.has_images = isinstance(present, UserPart) and bool(present.images)
        self.results = {part.name: _json(part.text) for part in since if isinstance(part, ToolResultPart)}
        """By tool."""
        self.tools = frozenset(tool.name for tool in request.tools)
        self.texts = JA if _KANA_OR_KANJI.search(self.message) else EN

    def outcome(self, tool: str, done: str) -> str | None:
        """None until the tool was called."""
        if (result := self.results.get(tool)) is None:
            return None
        if (error := result.get("error")) is not None:
            return self.texts["failed"].format(error=error)
        return self.texts["proposed"] if result.get("proposed") is True else done

    def found(self, tool: str, key: str = "memories") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.results.get(tool, {}).get(key, [])
        return found


def _call(tool: str, **arguments: object) -> ToolRequest:
    return ToolRequest("", tool, json.dumps(arguments, ensure_ascii=False))


def _words(text: str) -> str:
    """Remove the head and the indentation that a channel's prompt adds."""
    head = _HEAD.match(text)
    own = text[head.end() :] if head else text
    return (own.replace("\n  ", "\n") if head and head["name"] else own).strip()


def _json(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return {"error": text}
    return value if isinstance(value, dict) else {"error": text}


def _short(text: object) -> str:
    return shorten(" ".join(str(text).split()).rstrip("。"), _MAX_QUOTED)


def _first(patterns: Iterable[re.Pattern[str]], text: str) -> re.Match[str] | None:
    return next(filter(None, (pattern.fullmatch(text) for pattern in patterns)), None)


def _remember(talk: _Talk) -> _Step | None:
    if (found := _first(_REMEMBER, talk.message)) is None:
        return None
    content = found["what"].strip(" 　、,:：")
    if not content or _POINTS.fullmatch(content):
        return talk.texts["remember_what"]
    done = talk.texts["remembered"].format(text=_short(content))
    return talk.outcome("remember", done) or _call("remember", content=content)


def _forget(talk: _Talk) -> _Step | None:
    """Forget the one note that is surely meant, else ask which one."""
    if (found := _first(_FORGET, talk.message)) is None:
        return None
    gone = talk.results.get("forget", {}).get("forgotten") or {}
    if done := talk.outcome("forget", talk.texts["forgotten"].format(text=_short(gone.get("content")))):
        return done
    if number := _NUMBER.fullmatch(found["what"].strip()):
        return _call("forget", id=int(number[1]))
    notes = talk.found("recall")
    sure = [note for note in notes if note.get("confidence") == "sure"]
    if len(sure) == 1:
        return _call("forget", id=sure[0]["id"])
    if notes:
        lines = (f"- #{note['id']} {_short(note['content'])}" for note in sure or notes)
        return "\n".join((talk.texts["forget_which"], *lines))
    wish = _call("recall", query=found["what"], limit=_MAX_FOUND)
    return talk.outcome("recall", talk.texts["not_found"]) or wish


def _recall(talk: _Talk) -> _Step | None:
    everything = _ASKS_FOR_ALL.fullmatch(talk.message) is not None
    if not (everything or _ASKS.fullmatch(talk.message)):
        return None
    wish = _call("recall", query=talk.message, limit=_MAX_FOUND)
    wish = _call("list_memories", limit=_MAX_LISTED) if everything else wish
    if wish.name in talk.tools and wish.name not in talk.results:
        return wish
    found = talk.found(wish.name)
    if not found:
        return f"{talk.texts['not_found']}\n{talk.texts['unknown']}"
    best = found[0].get("confidence")
    notes = [each for each in found if each.get("confidence") == best]
    facts = [_short(each.get("content")) for each in sorted(notes, key=lambda each: -int(each["id"]))]
    if len(facts) == 1 and best == "sure":
        return talk.texts["found"].format(text=facts[0])
    heading = talk.texts["known" if everything or best == "sure" else "closest"]
    return "\n".join((heading, *(f"- {fact}" for fact in facts)))


def _list_reminders(talk: _Talk) -> _Step | None:
    if not _ASKS_FOR_REMINDERS.search(talk.message):
        return None
    reminders = talk.found("list_schedules", "schedules")
    lines = (f"- #{each['id']} {each['when']} {_short(each['text'])}" for each in reminders)
    done = "\n".join((talk.texts["reminders"], *lines)) if reminders else talk.texts["no_reminders"]
    return talk.outcome("list_schedules", done) or _call("list_schedules")


def _remind(talk: _Talk) -> _Step | None:
    if (found := _first(_REMIND, talk.message)) is None:
        return None
    body = found["what"].strip()
    try:
        when, text = split_when(body)
    except WhenNotUnderstood:
        return talk.texts["remind_when"] if found["sure"] else None
    except RepeatNotUnderstood:  # the tool says what can be set
        when = text = body
    text = text.strip(" 　、,。.").removesuffix("を") or talk.texts["time_is_up"]
    wish = _call("schedule", when=when, text=text)
    return talk.outcome("schedule", talk.texts["scheduled"]) or wish
