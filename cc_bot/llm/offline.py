"""Rule-based demo model, used when no API key is configured: it remembers, recalls, forgets and reminds.

To everything else it says which setting brings a model.
"""

import json
import re
from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from cc_bot.domain.errors import RepeatNotUnderstood, WhenNotUnderstood
from cc_bot.domain.text import shorten
from cc_bot.domain.when import split_when
from cc_bot.llm.model import (
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
from cc_bot.texts.prompts import HEARTBEAT_INSTRUCTIONS, SILENT

# Its own words, in both languages, one a line.
_SENTENCES: Final = """
unknown | AIモデルが設定されていないので、「〜を覚えて」「〜を忘れて」、覚えたことへの質問、「明日9時に薬って知らせて」のほかにはお答えできません。.env に OPENAI_API_KEY（手元のサーバーなら OPENAI_BASE_URL）を設定してください。 | No AI model is configured, so I understand nothing but “remember that …”, “forget …”, questions about what I remember, and “remind me tomorrow at 9 to call mom”: set OPENAI_API_KEY in .env (OPENAI_BASE_URL for a server of your own).
not_here | この質問では、それはできません。ふつうの質問でもう一度お伝えください。 | That can't be done in this question. Please ask again in an ordinary one.
failed | できませんでした。{error} | I could not do that. {error}
proposed | まだ実行していません。下の提案を確かめて、どうするか選んでください。 | Nothing is changed yet. Look at the proposal below, and choose.
remembered | 承知しました。「{text}」を覚えました。 | All right. I remembered: “{text}”
remember_what | 何を覚えましょうか。「鍵は玄関って覚えて」のように書いてください。 | What should I remember? Write it like this: “remember that the key is in the hall”.
found | 「{text}」と覚えています。 | I remember: “{text}”
known | 覚えているのは次のことです。 | This is what I remember:
not_found | メモリには見つかりませんでした。 | I found that nowhere in your memories.
forgotten | 「{text}」を忘れました。 | I forgot: “{text}”
forget_which | どれのことでしょうか。「#番号を忘れて」で選んでください。 | Which one do you mean? Choose it with “forget #number”:
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
"""What a prompt puts before the asker's words: the messages they point at, and in a channel their name."""

_PLEASE_JA: Final = r"(?:おいて|ください|下さい|ほしい|もらえますか|もらえる|くれる|ね|よ)*[。！!？?\s]*"
_PLEASE_EN: Final = r"(?:(?:please|can you|could you|would you)[, ]+)?"
_END_EN: Final = r"(?:,? please)?[.!?\s]*"
_REMEMBER: Final = (
    re.compile(
        r"(?:(?:これ|次のこと)を)?(?:覚えて|おぼえて|メモして)(?:おいて|ください|ね)*[:：、。\s]\s*(?P<what>.+)",
        re.DOTALL,
    ),
    re.compile(
        r"(?P<what>.*?)(?:という|って)?(?:こと)?(?:なので|だから|ので|から|を|って|と|は|、|。|\s)*"
        rf"(?:覚えて|おぼえて|メモして|忘れないで){_PLEASE_JA}",
        re.DOTALL,
    ),
    re.compile(
        rf"{_PLEASE_EN}(?:remember|keep in mind|note|don't forget)(?: that| this)?[:,]?\s+"
        rf"(?P<what>.+?){_END_EN}",
        re.IGNORECASE | re.DOTALL,
    ),
    re.compile(
        rf"(?P<what>.+?)[.,;!]\s*{_PLEASE_EN}(?:remember|note|don't forget) (?:that|this|it){_END_EN}",
        re.IGNORECASE | re.DOTALL,
    ),
)
_POINTS: Final = re.compile(
    r"(?:[こそあ]れ|[こそあ]の(?:こと|話|件)|今の(?:こと|話)?)?も?|(?:this|that|it)(?: one)?(?: for me)?",
    re.IGNORECASE,
)
_FORGET: Final = (
    re.compile(
        r"(?P<what>.+?)(?:という|って)?(?:の?(?:こと|話|記憶))?(?:を|は|も)?\s*"
        rf"(?:忘れて|消して|削除して)(?:いいよ)?{_PLEASE_JA}",
        re.DOTALL,
    ),
    re.compile(
        rf"{_PLEASE_EN}(?:forget|delete)(?: about| that)?\s+(?P<what>.+?){_END_EN}", re.IGNORECASE | re.DOTALL
    ),
)
_REMIND: Final = (
    re.compile(
        r"(?P<what>.+?)(?:(?:んだ|のだ)?(?:って|と)|(?:こと|の)?[をで]|ように|、)?\s*"
        rf"(?:(?P<sure>知らせて|お知らせして|リマインドして|通知して|起こして|思い出させて)|教えて){_PLEASE_JA}",
        re.DOTALL,
    ),
    re.compile(
        rf"{_PLEASE_EN}(?:(?P<sure>remind|wake) me|tell me)(?: to| about| that| up)*\s+"
        rf"(?P<what>.+?){_END_EN}",
        re.IGNORECASE | re.DOTALL,
    ),
)
_ASKS: Final = re.compile(
    r".+[?？]\s*|.+(?:(?<!こんにち)(?<!こんばん)は|っけ|ですか|ますか|教えて(?:ください)?)[。\s]*"
    r"|(?:what|which|who|whose|when|where|how|why|do|does|did|is|are|am|was|were|tell me)\b.+",
    re.IGNORECASE | re.DOTALL,
)
_ASKS_FOR_ALL: Final = re.compile(
    r"what do you (?:know|remember)(?: about me)?[?.!\s]*"
    r"|(?:私について)?何を(?:覚えて|知って)い?(?:る|ますか)[?？。\s]*",
    re.IGNORECASE,
)
_ASKER_JA: Final = "(?:私|わたし|僕|ぼく|俺|うち|自分)(?:たち)?"
_ASKS_ABOUT_ASKER: Final = re.compile(
    rf"{_ASKER_JA}[のはが]|(?:名前|誕生日|住所|番号|予定)は|\b(?:my|our|am I|do I|did I)\b", re.IGNORECASE
)
_WHOSE: Final = re.compile(
    rf"\A(?:{_ASKER_JA}の)?+(?P<ja>[^\s、のはが]{{1,20}})の|\bmy (?P<en>\w+)", re.IGNORECASE
)
"""The dog of 私の犬の名前は？ and of “what is my dog called?”."""
_NUMBER: Final = re.compile(r"#?(\d{1,18})番?")
_KANA_OR_KANJI: Final = re.compile(r"[ぁ-ゖァ-ヺ一-鿿]")


@dataclass(frozen=True, slots=True)
class _Call:
    tool: str
    arguments: Mapping[str, object]


_Step = str | _Call


class OfflineModel:
    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        step = _next_step(request)
        if isinstance(step, _Call):
            calls = sum(len(part.tool_requests) for part in request.prompt if isinstance(part, AssistantPart))
            arguments = json.dumps(step.arguments, ensure_ascii=False)
            yield Finish("tools", (ToolRequest(f"offline-{calls + 1}", step.tool, arguments),))
            return
        yield Delta(step)
        yield Finish("stop")


def _next_step(request: ChatRequest) -> _Step:
    systems = (part.text for part in request.prompt if isinstance(part, SystemPart))
    if any(text.endswith(tuple(HEARTBEAT_INSTRUCTIONS.values())) for text in systems):
        return SILENT
    talk = _Talk(request)
    if len(talk.message) > MAX_CHARACTERS or talk.has_images:
        return talk.texts["unknown"]
    step = _remind(talk) or _remember(talk) or _forget(talk) or _recall(talk) or talk.texts["unknown"]
    return talk.texts["not_here"] if isinstance(step, _Call) and step.tool not in talk.tools else step


class _Talk:
    """The prompt, as the rules read it."""

    def __init__(self, request: ChatRequest) -> None:
        messages = [at for at, part in enumerate(request.prompt) if isinstance(part, UserPart)]
        earlier, present = (UserPart(""), UserPart(""), *(request.prompt[at] for at in messages))[-2:]
        since = request.prompt[messages[-1] :] if messages else ()
        self.message, before = _words(present.text), _words(earlier.text)
        alone = (self.message, before) == (present.text.strip(), earlier.text.strip()) and not earlier.tainted
        no_facts = (*_REMEMBER, *_FORGET, *_REMIND, _ASKS)
        self.before = before if alone and not _first(no_facts, before[:MAX_CHARACTERS]) else ""
        """What the asker wrote before this in their session, if it may be something to remember."""
        self.has_images = isinstance(present, UserPart) and bool(present.images)
        self.results = {part.name: _json(part.text) for part in since if isinstance(part, ToolResultPart)}
        """What came of the last call of each tool in this turn."""
        self.tools = frozenset(tool.name for tool in request.tools)
        self.texts = JA if _KANA_OR_KANJI.search(self.message) else EN

    def outcome(self, tool: str, done: str) -> str | None:
        """What to say once the tool was called; None before."""
        if (result := self.results.get(tool)) is None:
            return None
        if (error := result.get("error")) is not None:
            return self.texts["failed"].format(error=error)
        return self.texts["proposed"] if result.get("proposed") is True else done

    def memories(self, tool: str) -> list[dict[str, Any]]:
        found = self.results.get(tool, {}).get("memories")
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _words(text: str) -> str:
    """What somebody wrote, without the head and the indentation that a channel's prompt adds."""
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
    if _POINTS.fullmatch(content) and not (content := talk.before):
        return talk.texts["remember_what"]
    done = talk.texts["remembered"].format(text=_short(content))
    return talk.outcome("remember", done) or _Call("remember", {"content": content})


def _forget(talk: _Talk) -> _Step | None:
    """Forget the one note that is surely meant; of several, or of those that may be meant, ask which one."""
    if (found := _first(_FORGET, talk.message)) is None:
        return None
    gone = talk.results.get("forget", {}).get("forgotten")
    text = _short(gone.get("content") if isinstance(gone, dict) else "")
    if done := talk.outcome("forget", talk.texts["forgotten"].format(text=text)):
        return done
    if number := _NUMBER.fullmatch(found["what"].strip()):
        return _Call("forget", {"id": int(number[1])})
    notes = talk.memories("recall")
    sure = [note for note in notes if note.get("confidence") == "sure"]
    if len(sure) == 1:
        return _Call("forget", {"id": sure[0]["id"]})
    if notes:
        lines = (f"- #{note['id']} {_short(note['content'])}" for note in sure or notes)
        return "\n".join((talk.texts["forget_which"], *lines))
    wish = _Call("recall", {"query": found["what"], "limit": _MAX_FOUND})
    return talk.outcome("recall", talk.texts["not_found"]) or wish


def _recall(talk: _Talk) -> _Step | None:
    everything = _ASKS_FOR_ALL.fullmatch(talk.message) is not None
    if not (everything or _ASKS.fullmatch(talk.message)):
        return None
    tool = "list_memories" if everything else "recall"
    if tool in talk.tools and tool not in talk.results:
        asked = {"limit": _MAX_LISTED} if everything else {"query": talk.message, "limit": _MAX_FOUND}
        return _Call(tool, asked)
    notes = found = talk.memories(tool)
    if not everything:
        best = found[0].get("confidence") if found else None
        whose = _WHOSE.search(talk.message) if best == "maybe" else None
        noun = (whose["ja"] or whose["en"]).lower() if whose else ""
        same = (each for each in found if each.get("confidence") == best)
        notes = [each for each in same if noun in str(each.get("content")).lower()]
    if not notes:
        about_asker = found or everything or _ASKS_ABOUT_ASKER.search(talk.message)
        return f"{talk.texts['not_found'] if about_asker else ''}\n{talk.texts['unknown']}".strip()
    facts = [_short(each.get("content")) for each in sorted(notes, key=lambda note: -int(note["id"]))]
    if len(facts) == 1:
        return talk.texts["found"].format(text=facts[0])
    return "\n".join((talk.texts["known"], *(f"- {fact}" for fact in facts)))


def _remind(talk: _Talk) -> _Step | None:
    """The tool works out the time itself, so it is passed on as it was written."""
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
    wish = _Call("schedule", {"when": when, "text": text})
    return talk.outcome("schedule", talk.texts["scheduled"]) or wish
