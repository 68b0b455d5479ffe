"""The offline model: what answers where no key is set, so that the bot can be tried.

It understands nothing. A few patterns tell what is wished (to remember, to forget, to be reminded, to draw),
and what answers a question is found as memories are found (cc_bot/search), in this conversation's own earlier
statements too. To everything else it says what it is, and which setting brings a model.

It reads by patterns what anybody may have written, so each step has a limit of time, and is made beside the
event loop: one at a time, since a thread at work takes turns with the loop, and eight would leave it one in
nine. What takes longer is not understood, like any other question that it has no rule for.
"""

import asyncio
import json
import re
import unicodedata
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import Any, Final

from cc_bot.domain.errors import RepeatNotUnderstood, WhenNotUnderstood
from cc_bot.domain.locale import Locale
from cc_bot.domain.phrase import Phrase, TookTooLong, time_for_phrases
from cc_bot.domain.summary import listed
from cc_bot.domain.text import shorten
from cc_bot.domain.when_and_what import split_when
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
from cc_bot.search import Candidate, Statistics, document_terms, fold, parse_query, rank
from cc_bot.texts.commands import plainly
from cc_bot.texts.naming import named
from cc_bot.texts.prompts import SILENT, HeartbeatNote, heartbeat_material, summary_material

# ---- what it says ----------------------------------------------------------------------------------------
# A model's words and not the program's, so they live with it: each in both languages, one a line. What stands
# in braces is put there when it is said.

_SENTENCES: Final = """
unknown | 私はAPIキーなしで動く内蔵の簡易モデルで、うかがったことのほかは何も知りません。AIモデルを使うには、.env に OPENAI_API_KEY を設定してください（手元のサーバーなら OPENAI_BASE_URL）。 | I am the small built-in model that needs no API key, and know nothing but what I was told. For an AI model set OPENAI_API_KEY in .env (OPENAI_BASE_URL for a server of your own).
able | 「〜を覚えて」「〜を忘れて」、覚えたことへの質問、「明日9時に薬って知らせて」「買うもの：牛乳、卵をキャンバスに出して」「さっき何て言った？」が分かります。 | I understand “remember that …”, “forget …”, questions about what I remember, “remind me tomorrow at 9 to call mom”, “put shopping list: milk, eggs on the canvas” and “what did I just say?”.
not_here | この質問では、それはできません。ふつうの質問でもう一度お伝えください。 | That can't be done in this question. Please ask again in an ordinary one.
failed | できませんでした。{error} | I could not do that. {error}
proposed | まだ実行していません。下の提案を確かめて、どうするか選んでください。 | Nothing is changed yet. Look at the proposal below, and choose.
files | 画像や添付ファイルは読めません。内容を文字で書いてください。 | I can't read images or attached files. Please write what they say.
said | 「{text}」とおっしゃいました。 | You said: “{text}”
nothing_said | この会話では、まだ何も話していません。 | Nothing has been said in this conversation yet.
remembered | 承知しました。「{text}」を覚えました。 | All right. I remembered: “{text}”
remember_what | 何を覚えましょうか。「〜を覚えて」のように書いてください。 | What should I remember? Write it like this: “remember that …”.
found | 「{text}」と覚えています。 | I remember: “{text}”
known | 覚えているのは次のことです。 | This is what I remember:
not_found | メモリにもこの会話にも見つかりませんでした。 | I found that neither in your memories nor in this conversation.
forgotten | 「{text}」を忘れました。 | I forgot: “{text}”
forget_what | 何を忘れましょうか。「〜を忘れて」のように書いてください。 | What should I forget? Write it like this: “forget my address”.
forget_which | どれのことでしょうか。「#番号を忘れて」で選んでください。 | Which one do you mean? Choose it with “forget #number”:
forget_all | すべてを消すには </memory delete-all> を使ってください。確認してから消します。 | To delete everything use </memory delete-all>, which asks you first.
scheduled | お知らせを予約しました。 | The reminder is set.
remind_when | いつお知らせしましょうか。「明日9時に薬って知らせて」のように書いてください。 | When should I remind you? Write it like this: “remind me tomorrow at 9 to call mom”.
time_is_up | 時間です | It's time
reminders | 予約したお知らせはこちらです。</remind delete> で取り消せます。 | These are your reminders. </remind delete> cancels one.
no_reminders | 予約したお知らせはありません。 | You have no reminders.
drawn | キャンバスに出しました。 | It is on the canvas now.
cleared | キャンバスを空にしました。 | The canvas is empty now.
draw_what | 何をキャンバスに出しましょうか。「買うもの：牛乳、卵をキャンバスに出して」や「家賃 78000、食費 42000 を円グラフでキャンバスに出して」のように書いてください。 | What should I put there? Write it like this: “put shopping list: milk, eggs on the canvas”, or “put a pie chart of rent 780, food 420 on the canvas”.
chart | グラフ | Chart
coming_up | お知らせしておきます。 | Something is coming up:
day | {moment.month}月{moment.day}日 {moment.hour}:{moment:%M} | {moment:%b} {moment.day} {moment.hour}:{moment:%M}
missed | {text}（届けられなかったかもしれません） | {text} (perhaps you did not get this)
nothing | - （特になし） | - (nothing in particular)
"""  # noqa: E501 - a sentence is one line

Texts = Mapping[str, str]
_ROWS: Final = [[part.strip() for part in row.split("|")] for row in _SENTENCES.strip().splitlines()]
JA: Final[Texts] = named({name: japanese for name, japanese, _ in _ROWS}, plainly(Locale.JA))
EN: Final[Texts] = named({name: english for name, _, english in _ROWS}, plainly(Locale.EN))


def _texts_for(text: str) -> Texts:
    """The language of the question decides: Japanese is what has kana or kanji."""
    return JA if re.search(r"[ぁ-ゖァ-ヺ一-鿿]", unicodedata.normalize("NFKC", text)) else EN


# ---- the model -------------------------------------------------------------------------------------------

STEP_S: Final = 2.0
"""Processor time for one step; an ordinary one takes some milliseconds."""
LONGEST: Final = 6000
"""Characters of a message that is read at all: as many as a question may have."""
_PIECE: Final = re.compile(r".{1,20}?[。．、.,!?！？\s]+|.{1,20}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Call:
    """A tool's call, to be made before there is an answer."""

    tool: str
    arguments: Mapping[str, object]


_Step = str | _Call


class OfflineModel:
    """Answers by rules, and says so. The same prompt always gets the same answer."""

    def __init__(self, step_s: float = STEP_S) -> None:
        """`step_s` is the processor time that one step may take."""
        self._step_s = step_s
        self._one_at_a_time = asyncio.Lock()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        async with self._one_at_a_time:
            step = await asyncio.to_thread(_step, request, self._step_s)
        if isinstance(step, _Call):
            calls = sum(len(part.tool_requests) for part in request.prompt if isinstance(part, AssistantPart))
            arguments = json.dumps(step.arguments, ensure_ascii=False)
            yield Finish("tools", (ToolRequest(f"offline-{calls + 1}", step.tool, arguments),))
            return
        for piece in _PIECE.findall(step):
            yield Delta(piece)
            await asyncio.sleep(0)  # let a Stop through, as a network would
        yield Finish("stop")


def _step(request: ChatRequest, limit_s: float) -> _Step:
    with time_for_phrases(limit_s):
        try:
            prompt = [part.text for part in request.prompt]
            return _summary(prompt) or _heartbeat(prompt) or _turn(request)
        except TookTooLong:
            return _texts_for(_present(request)[1].text)["unknown"]


def _turn(request: ChatRequest) -> _Step:
    """The next step of a turn, told by the prompt alone. Raises TookTooLong where that can't be told in time,
    and for a message of more than LONGEST characters."""
    talk = _read(request)
    if len(talk.message) > LONGEST:
        raise TookTooLong
    steps = (wished(talk) for wished in (_draw, _remind, _remember, _forget, _quote, _answer))
    step = next(
        (each for each in steps if each is not None), f"{talk.texts['unknown']}\n{talk.texts['able']}"
    )
    if isinstance(step, _Call):
        return step if step.tool in talk.tools else talk.texts["not_here"]
    return f"{step}\n\n{talk.texts['files']}" if talk.has_files else step


# ---- conversation ----------------------------------------------------------------------------------------

_FOLDED_SYSTEM: Final = Phrase(r"\A\[[^\]\n]*\]\n\n")
"""The second system message where an operator has it folded into the question (context/prompt.py)."""
_FILE: Final = Phrase(
    r'(?ms)^The user attached the (?:file|document) "[^"\n]*"[^\n]*\n(?P<fence>`{3,})\n.*?^(?P=fence)$'
)
"""An attached text file or document, as it stands in a question (context/attachments.py): not the user's
own words."""
_RECAP: Final = Phrase(r"(?ms)^(?:Previous conversation summary|前回までの会話の要約): ?(?P<lines>.*)\Z")
"""Where a summary stands in the second system message (context/instructions.py)."""


@dataclass(frozen=True, slots=True)
class _Talk:
    """The prompt as it is read here."""

    message: str
    """What the user says now, without attached files."""
    has_files: bool
    said: Sequence[str]
    """By the user before, the newest first; what a summary tells comes last."""
    results: Mapping[str, Mapping[str, Any]]
    """By tool: what came of its last call in this turn."""
    tools: frozenset[str]
    texts: Texts

    def stated(self) -> Iterator[str]:
        """List what the user stated before, the newest first: neither questions nor wishes."""
        return filter(None, map(_stated, self.said))

    def outcome(self, tool: str, done: str) -> str | None:
        """Say what came of it once the tool was called; None as long as it was not."""
        if (result := self.results.get(tool)) is None:
            return None
        if (error := result.get("error")) is not None:
            return self.texts["failed"].format(error=error)
        return self.texts["proposed"] if result.get("proposed") is True else done

    def entries(self, tool: str, name: str) -> list[dict[str, Any]]:
        """The numbered notes or reminders that a tool told of."""
        found = self.results.get(tool, {}).get(name)
        listed = found if isinstance(found, list) else []
        return [each for each in listed if isinstance(each, dict) and isinstance(each.get("id"), int)]


def _present(request: ChatRequest) -> tuple[int, UserPart]:
    """The present message and its place; an empty one where there is none."""
    messages = [(place, part) for place, part in enumerate(request.prompt) if isinstance(part, UserPart)]
    return messages[-1] if messages else (len(request.prompt), UserPart(""))


def _read(request: ChatRequest) -> _Talk:
    place, present = _present(request)
    past, since = request.prompt[:place], request.prompt[place:]
    systems = (part.text for part in past if isinstance(part, SystemPart))
    recaps = (found["lines"] for text in systems if (found := _RECAP.search(text)))
    recap = [line.removeprefix("- ") for lines in recaps for line in lines.splitlines() if _tells(line)]
    said = [_plain(part) for part in past if isinstance(part, UserPart)]
    message = _plain(present)
    return _Talk(
        message=message,
        has_files=bool(present.images or _FILE.search(present.text)),
        said=[text for text in reversed([*recap, *said]) if text],
        results={part.name: _json(part.text) for part in since if isinstance(part, ToolResultPart)},
        tools=frozenset(tool.name for tool in request.tools),
        texts=_texts_for(message),
    )


def _plain(message: UserPart) -> str:
    return _FILE.sub("", _FOLDED_SYSTEM.sub("", message.text)).strip()


def _tells(line: str) -> bool:
    """Return whether a summary's line tells anything."""
    return bool(line.strip()) and line not in (JA["nothing"], EN["nothing"])


def _json(text: str) -> Mapping[str, Any]:
    """A result as a JSON object; whatever else it is counts as an error."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return {"error": text}
    return value if isinstance(value, dict) else {"error": text}


_QUOTED: Final = 300
"""Characters of a text that are quoted."""


def _short(text: object) -> str:
    return shorten(" ".join(str(text).split()).rstrip("。"), _QUOTED)


def _below(heading: str, lines: Iterable[str]) -> str:
    return "\n".join((heading, *(f"- {line}" for line in lines)))


def _first(patterns: Iterable[Phrase], text: str) -> re.Match[str] | None:
    """Match the first pattern that fits the whole text."""
    return next(filter(None, (pattern.fullmatch(text) for pattern in patterns)), None)


# ---- questions and statements ----------------------------------------------------------------------------

_POLITE: Final = r"(?:(?:please|can you|could you|would you|will you|hey|hi|ok|okay|also|now|and|so)[, ]+)*"
_PLEASE: Final = (
    r"(?:おいて|みて|ね|よ|な|ください|下さい|くれ(?:る|ますか|ませんか|ない)?|(?:ほしい|欲しい)(?:です)?"
    r"|(?:もらえ|いただけ|頂け)(?:る|ますか|ませんか)|お願い(?:します|できますか)?|んですけど|んだけど)*"
    r"[。！!?？…\s]*"
)
_SENTENCE_END: Final = Phrase(r"(?<=[。！？!?\n])\s*|(?<=\.)\s+(?=[A-Z])")
_ASKS: Final = Phrase(
    r"(?i)[?？]$|(?:っけ|かな|かしら|(?:です|ます|でした|ました)か|教えて(?:ください|下さい|くれる|ね|よ)?)。?$"
    r"|(?:何|誰|だれ|どこ|いつ|どれ|どんな|どの|どう|いくつ|いくら)[^。、もか]{0,12}$|^[^。、]{1,20}(?:は|って)$"
    r"|^(?:(?:and|so|but|ok|okay|hey|hi|please|well)[, ]+)*(?:(?:what|which|who|whose)\b"
    r"|(?:when|where|why|how)(?:'s| (?:is|are|was|were|do|does|did|can|should|will|am|have|old|many|much))\b"
    r"|(?:do|does|did|is|are|am|was|were|can|could|will|would|should|have|has)"
    r" (?:i|you|we|my|your|he|she|it|they|the|there|our)\b"
    r"|tell me\b|recall\b|i (?:forgot|can't remember|don't remember)\b)"
)
_STATEMENT_S: Final = 0.3
"""Processor time for one thing that was said: if it can't be read, it must not take that of the others."""


def _sentences(text: str, *, ask: bool) -> str:
    """The sentences of a text that ask something, or the others."""
    parts = (part.strip() for part in _SENTENCE_END.split(text))
    return " ".join(part for part in parts if part and (_ASKS.search(part) is not None) == ask)


def _stated(text: str) -> str:
    """Read what a text states: nothing where it wishes for something, or can't be read in time."""
    with suppress(TookTooLong), time_for_phrases(_STATEMENT_S):
        return "" if _first(_WISHES, text) else _sentences(text, ask=False)
    return ""


# ---- talk ------------------------------------------------------------------------------------------------

_SMALL_TALK: Final = Phrase(
    r"(?i)(?:hi|hello|hey|good (?:morning|afternoon|evening|night)|bye|help|ok(?:ay)?|(?:please )?continue"
    r"|(?:who|what) are you|what can you do|(?:great,? |ok(?:ay)?,? )?(?:thank you|thanks|thx)\b[^?]{0,25})"
    r"(?: there| all| bot)?[ !.,?]*"
    r"|(?:こんにち[はわ]|こんばん[はわ]|おはよう(?:ございます)?|はじめまして|おやすみ(?:なさい)?|使い方|ヘルプ"
    r"|よろしく(?:お願いします)?|続けて(?:ください|下さい)?|(?:どうも|本当に)?[、\s]*(?:ありがと|助かっ|感謝)[^?？]{0,15})"
    r"[。！!?？\s、ー~〜]*"
)
"""What neither states nor asks anything."""
_SAID: Final = Phrase(
    r"(?i)what did (?:i|we) (?:just |last )?(?:say|tell you|ask|write)(?: (?:just now|before))?[ ?.!]*"
    r"|(?:what was|repeat) my (?:last|previous) (?:question|message)[ ?.!]*"
    r"|(?:(?:さっき|今|いま|直前に|前に|私|僕|俺)[、はがって]{0,2}){0,3}(?:何|なん)[てとをの].{0,3}[言話聞].{0,10}"
    r"|(?:さっき|直前|前)の(?:話|質問|発言).{0,10}"
)


def _quote(talk: _Talk) -> _Step | None:
    """Tell what was just said; None where something else is asked."""
    return _quoted("said", next(iter(talk.said), ""), talk.texts) if _SAID.fullmatch(talk.message) else None


def _quoted(sentence: str, text: str, texts: Texts) -> str:
    """A sentence around a text, whose own 「」 and “” become 『』 and ‘’."""
    inner = _short(text).translate(str.maketrans("「」“”", "『』‘’"))
    return texts[sentence].format(text=inner) if inner else texts["nothing_said"]


# ---- memories --------------------------------------------------------------------------------------------

_VERB_EN: Final = (
    r"(?:remember|(?:keep|bear) (?:(?:this|that|it) )?in mind|(?:don['’]t|do not) forget|note|make a note)\b"
    r"(?! (?:when|where|what|who|how|if|me|to me)\b)"
)
_KEEP: Final = (
    Phrase(
        r"(?s)(?P<before>.*?)(?:ちゃんと|しっかり|必ず)?(?:(?:覚え|おぼえ)(?:て(?:おいて|て)?|と(?:いて|い))"
        rf"|忘れないで|(?:メモ|記憶|記録)(?:を?取って|して|しといて|お願い)){_PLEASE}"
        r"(?:(?:(?<=[。！!\s])|[:：、]|ことがあ(?:る|ります)[。、])\s*(?P<after>.+))?"
    ),
    Phrase(
        rf"(?is)(?P<before>.+?)[.,;:!-]\s*{_POLITE}{_VERB_EN}"
        r"(?: (?:that|this|it|both|for me|please|too))*(?:, ?(?:please|thanks?(?: you)?))?[.!?\s]*(?P<after>)"
    ),
    Phrase(
        rf"(?is)(?P<before>){_POLITE}(?:just )?{_VERB_EN}(?: (?:that|this|it|please))*[.,:!]*\s*(?P<after>.*)"
    ),
)
_LINK: Final = Phrase(
    r"(?:(?:という|って)?こと[をは]?|(?:なの|の)?[をで]|(?:なん|ん)?(?:だ|です)?(?:から|けど|が)ね?"
    r"|ので|って|と|も|は)?[、,\s]*$"
)
"""What ties a fact to the wish after it."""
_POINTS_BACK: Final = Phrase(
    r"(?i)(?:それ|これ|あれ|今の|いまの|さっきの|上の|前の|次の)?(?:話|こと|内容|やつ|もの)?[をはも、\s]*"
    r"|(?:it|this|that|these|those|them|please)[.!?\s]*"
)
_FORGET: Final = (
    Phrase(
        r"(?s)(?P<what>.*?)(?:という|って)?(?:の?(?:こと|話|メモリ?|記憶|件))?(?:を|は|も|について)?\s*"
        rf"(?:忘れて|消して|削除して)(?:いい)?{_PLEASE}"
    ),
    Phrase(
        rf"(?is){_POLITE}(?:forget|delete|erase|remove)\b\s*(?:(?:the|your) (?:memory|note)s? )?"
        r"(?:(?:about|of|that)\b\s*)?(?P<what>[^?]*?)(?: please)?[.!\s]*"
    ),
)
_NUMBER: Final = Phrase(r"#?\s*(\d{1,18})番?")
_ALL: Final = Phrase(r"(?:全部|ぜんぶ|全て|すべて|all|everything)[のを\s]*")
_ALL_KNOWN: Final = Phrase(
    r"(?i)what (?:do|else do) you (?:know|remember)(?: about me)?[ ?.!]*"
    r"|(?:please )?(?:list|show)(?: me)? (?:all )?(?:my|your|the) (?:memories|notes)[ ?.!]*"
    r"|(?:(?:私|僕|俺)(?:の|に(?:ついて|関して)).{0,6})?(?:何|なに)?を?(?:覚え|知っ)て(?:い?る|い?ます).{0,6}"
    r"|(?:覚えていること|メモリ|メモ)[をは]?(?:全部|すべて|一覧|何)?(?:を?(?:教えて|見せて)(?:ください)?)?[。?？]*"
)
_FEW: Final = 5
_MANY: Final = 20
"""Memories that one call may bring."""
_LEAST: Final = 0.3
"""From this confidence on a text is an answer."""
_TIE: Final = 0.1
"""Texts that are so much less of one than the best are told as well."""


def _remember(talk: _Talk) -> _Step | None:
    if (found := _first(_KEEP, talk.message)) is None:
        return None
    parts = (_untied(found["before"]), (found["after"] or "").strip().rstrip("?？"))
    content = " ".join(part for part in parts if not _POINTS_BACK.fullmatch(part)) or next(talk.stated(), "")
    if not content:
        return talk.texts["remember_what"]
    said = talk.texts["remembered"].format(text=_short(content))
    return talk.outcome("remember", said) or _Call("remember", {"content": content})


def _untied(before: str) -> str:
    """Cut off the particle or the `because` that ties a fact to the wish."""
    cut = before.strip(" 　、,")
    return cut if cut.endswith(("。", "！", "!", "」", ".")) else _LINK.sub("", cut)


def _forget(talk: _Talk) -> _Step | None:
    if (found := _first(_FORGET, talk.message)) is None:
        return None
    gone = talk.results.get("forget", {}).get("forgotten")
    said = talk.texts["forgotten"].format(text=_short(gone.get("content") if isinstance(gone, dict) else ""))
    if done := talk.outcome("forget", said):
        return done
    what = fold(found["what"]).strip()
    if number := _NUMBER.fullmatch(what):
        return _Call("forget", {"id": int(number[1])})
    if _ALL.fullmatch(what) or _POINTS_BACK.fullmatch(what):
        return talk.texts["forget_all" if _ALL.fullmatch(what) else "forget_what"]
    return _forget_what_is_found(what, talk)


def _forget_what_is_found(what: str, talk: _Talk) -> _Step:
    """Forget the one note that is surely meant; of several, or of those that may be meant, ask which one."""
    notes = talk.entries("recall", "memories")
    sure = [note for note in notes if note.get("confidence") == "sure"]
    if not notes:
        wish = _Call("recall", {"query": what, "limit": _FEW})
        return talk.outcome("recall", talk.texts["not_found"]) or wish
    if len(sure) == 1:
        return _Call("forget", {"id": sure[0]["id"]})
    listed = (f"#{note['id']} {_short(note['content'])}" for note in sure or notes)
    return _below(talk.texts["forget_which"], listed)


def _answer(talk: _Talk) -> _Step | None:
    """Find what was remembered and what was stated here, as far as it answers; None where nothing is
    asked."""
    everything = _ALL_KNOWN.fullmatch(talk.message) is not None
    asked = "" if _SMALL_TALK.fullmatch(talk.message) else _sentences(talk.message, ask=True)
    if not (asked or everything):
        return None
    tool = "list_memories" if everything else "recall"
    if tool in talk.tools and tool not in talk.results:
        wanted = {"limit": _MANY} if everything else {"query": asked, "limit": _FEW}
        return _Call(tool, wanted)
    notes = sorted(talk.entries(tool, "memories"), key=lambda note: int(note["id"]), reverse=True)
    texts = [*talk.stated(), *(str(note.get("content")) for note in notes)]
    found = texts if everything else _best(asked, texts)
    sure = [str(note.get("content")) for note in notes if note.get("confidence") == "sure"]
    facts = [*dict.fromkeys(map(_short, found or sure))]
    if len(facts) == 1:
        return _quoted("found", facts[0], talk.texts)
    if facts:
        return _below(talk.texts["known"], facts)
    missing = f"{talk.texts['not_found']}\n{talk.texts['unknown']}"
    return talk.outcome(tool, missing) or missing


def _best(asked: str, texts: Sequence[str]) -> list[str]:
    """The texts that answer about as well as the best one does, in their order, which is newest first."""
    terms = [document_terms(text) for text in texts]
    lengths = [sum(each.values()) for each in terms]
    frequency = Counter(term for each in terms for term in each)
    statistics = Statistics(max(len(texts), _MANY), fmean(lengths or [0]), frequency)
    notes = [Candidate(at, fold(text), terms[at], lengths[at]) for at, text in enumerate(texts)]
    hits = rank(parse_query(asked), statistics, notes)
    least = max(_LEAST, hits[0].confidence - _TIE) if hits else _LEAST
    return [texts[at] for at in sorted(hit.id for hit in hits if hit.confidence >= least)][:_FEW]


# ---- reminders -------------------------------------------------------------------------------------------
# The tool works out the time itself, so that it is handed on as it was said.

_LONGEST_WISH: Final = 400
"""Characters; whoever writes more asks for more than to be reminded."""
_REMIND: Final = (
    Phrase(
        r"(?s)(?P<body>.+?)(?:(?:んだ|のだ)?(?:って|と)|(?:こと|の)?[をで]|ように|、)?\s*"
        r"(?:(?P<sure>(?:リマインド|通知|お知らせ|アラーム)を?(?:して|お願い|かけて|セットして)"
        r"|知らせて|起こして)|教えて|言って|伝えて|呼んで|つついて|送って|忘れないようにして|頼む|よろしく|お願い"
        rf"|(?:予定|カレンダー)に(?:入れて|追加して)){_PLEASE}"
    ),
    Phrase(
        rf"(?is){_POLITE}(?:(?P<sure>(?:remind|ping|notify|alert|nudge|wake) me"
        r"|set (?:an? |the )?(?:reminder|alarm|timer))(?! (?:what|when|where|who|which|how)\b)"
        r"|tell me|let me know)(?: up)?\b(?P<body>.*?)(?:,? please)?[.!?\s]*"
    ),
)
_WHICH: Final = Phrase(
    r"(?i).*?(?:リマインダー|お知らせ)(?:の一覧)?[はを]?(?:何|ある|見せて|教えて|取り消|キャンセル|やめ|削除).*"
    r"|.*\b(?:what|which|list|show|cancel|delete)\b.*\breminders?\b(?!.*\b(?:at|in|on) \d).*"
)
_LEAD: Final = Phrase(r"(?i)^(?:(?:to|about|of|that|for|,)\s+|\s+)")
_TAIL: Final = Phrase(r"(?:(?:んだ|のだ)?(?:って|と|を|は|が|、)|(?:がある)?(?:から|ので))$")


def _remind(talk: _Talk) -> _Step | None:
    """Setting one and listing all, for cancelling too; None where neither is wished."""
    if len(talk.message) > _LONGEST_WISH:
        return None
    if _WHICH.fullmatch(talk.message):
        known = [_line(each) for each in talk.entries("list_schedules", "schedules")]
        said = _below(talk.texts["reminders"], known) if known else talk.texts["no_reminders"]
        return talk.outcome("list_schedules", said) or _Call("list_schedules", {})
    if found := _first(_REMIND, talk.message):
        if wish := _schedule(found["body"], talk.texts):
            return talk.outcome("schedule", talk.texts["scheduled"]) or wish
        return talk.texts["remind_when"] if found["sure"] else None
    return None


def _schedule(body: str, texts: Texts) -> _Call | None:
    """Make the call that sets a reminder; None where no time is named."""
    plain = _LEAD.sub("", body.strip())
    for attempt in (plain, f"in {plain}", f"at {plain}"):
        try:
            when, what = split_when(attempt)
        except WhenNotUnderstood:
            continue
        except RepeatNotUnderstood:  # the tool says what can be set
            return _Call("schedule", {"when": plain, "text": plain})
        text = _TAIL.sub("", _LEAD.sub("", what).strip()).strip(" 　、,。.")
        return _Call("schedule", {"when": when, "text": text or texts["time_is_up"]})
    return None


def _line(reminder: Mapping[str, Any]) -> str:
    when = str(reminder.get("when", ""))[:16].replace("T", " ")
    return f"#{reminder['id']} {when} {_short(reminder.get('text', ''))}"


# ---- canvas ----------------------------------------------------------------------------------------------
# A text, a list under its title, and a chart of numbers that stand in the request.

_SHOW: Final = (
    r"(?:(?:表示|追加)して|(?:出|残)して|見せて|(?:置|描|書)いて|貼って|[載の]せて|まとめて|作って)"
)
_PUT: Final = (
    Phrase(rf"(?s)(?P<what>.*?)[をもと]?\s*キャンバスに\s*{_SHOW}{_PLEASE}"),
    Phrase(
        rf"(?is){_POLITE}(?:put|show|add|write|draw|place|post|make|plot)(?: up| me)?\b\s*(?P<what>.*?)"
        r"\s*(?:up )?(?:on|to|onto|in) (?:the|my|your|our) canvas\b(?:,? please)?[.!?]*"
    ),
    Phrase(rf"(?s)(?P<what>.+グラフ(?:[にでを]|として))\s*(?:して|描いて|{_SHOW}){_PLEASE}"),
    Phrase(
        rf"(?is){_POLITE}(?:draw|make|plot|show)(?: me)? "
        r"(?P<what>an? (?:(?:bar|pie|line) )?(?:chart|graph)\b.+?)[.!?]*"
    ),
)
_CLEAR: Final = Phrase(
    r"(?i)キャンバスを?(?:空に|クリア|リセット|きれいに|全部消|消).{0,10}"
    rf"|{_POLITE}(?:clear|empty|wipe|clean|reset) (?:the|my|your) canvas.{{0,10}}"
)
_CHART: Final = Phrase(
    r"(?i)[のをはで、\s]*(?P<ja>棒|円|折れ線)?グラフ(?:[にでとを]|として)?(?:し(?:て)?|描いて)?[、\s]*$"
    r"|^(?:an? |the )?(?:(?P<en>bar|pie|line) )?(?:chart|graph)(?: (?:of|with|for|showing))?:?\s*"
)
_KINDS: Final = {"円": "pie", "pie": "pie", "折れ線": "line", "line": "line"}
_HEADING: Final = Phrase(r"(?s)(?P<title>[^:：\n]{1,40}?)\s*[:：\n]\s*(?P<rest>.+)")
_BETWEEN: Final = Phrase(r"[、;；\n。]|(?<!\d),|,(?!\d{3}(?!\d))|\s+and\s+|(?<=[\d円個人度%])と")
_NUMBERED: Final = r"(?P<number>-?\d[\d,]*(?:\.\d+)?)\s*(?P<times>[千万億])?"
_ITEM: Final = (
    Phrase(rf"(?P<label>.*?[^\d\s:=,.+はが-])[\s:=はが]*{_NUMBERED}[^\d\s]{{0,4}}"),
    Phrase(rf"(?i){_NUMBERED}\s*(?P<label>[a-z].*)"),
)
"""A name and its number; in English the number may come first."""
_TIMES: Final = {"千": 1e3, "万": 1e4, "億": 1e8}


def _draw(talk: _Talk) -> _Step | None:
    """Make the call that puts up, or takes down; None where neither is wished."""
    if _CLEAR.fullmatch(talk.message):
        clear = _Call("canvas_set_mode", {"mode": "clear"})
        return talk.outcome(clear.tool, talk.texts["cleared"]) or clear
    if (found := _first(_PUT, talk.message)) is None:
        return None
    what = found["what"].strip(" 　、,\n")
    what = next(talk.stated(), "") if _POINTS_BACK.fullmatch(what) else what
    wish = _chart(what, talk.texts) if _CHART.search(what) else _element(what)
    return (talk.outcome(wish.tool, talk.texts["drawn"]) or wish) if wish else talk.texts["draw_what"]


def _element(what: str) -> _Call | None:
    """A card with a title, or a text; None of nothing."""
    if "//" not in what and (found := _HEADING.fullmatch(what)):
        return _Call("canvas_add_card", {"title": found["title"].strip(), "content": found["rest"].strip()})
    content = what.strip("「」“”\"'")
    return _Call("canvas_show_text", {"content": content}) if content else None


def _chart(what: str, texts: Texts) -> _Call | None:
    """The chart of two numbers or more, each after its name, perhaps under a title."""
    if (found := _CHART.search(what)) is None:
        return None
    text = f"{what[: found.start()]}{what[found.end() :]}".strip()
    heading = _HEADING.fullmatch(text)
    title, items = texts["chart"], _items(text)
    if heading and (below := _items(heading["rest"])):
        title, items = heading["title"].strip(), below
    if len(items) < 2:
        return None
    drawn = {
        "title": title,
        "kind": _KINDS.get((found["ja"] or found["en"] or "").casefold(), "bar"),
        "labels": [label for label, _ in items],
        "series": [{"name": title, "values": [value for _, value in items]}],
    }
    return _Call("canvas_add_chart", drawn)


def _items(text: str) -> list[tuple[str, float]]:
    """Names and their numbers; none where anything else stands between them."""
    parts = (part.strip(" 　・*•\t") for part in _BETWEEN.split(unicodedata.normalize("NFKC", text)))
    found = [_first(_ITEM, part) for part in parts if part]
    items = [(each["label"].strip(), _value(each["number"], each["times"])) for each in found if each]
    return items if len(items) == len(found) else []


def _value(number: str, times: str | None) -> float:
    value = float(number.replace(",", "")) * _TIMES.get(times or "", 1)
    return int(value) if value.is_integer() else value


_WISHES: Final = (*(_SMALL_TALK, _SAID, *_KEEP, *_FORGET, _ALL_KNOWN, *_REMIND, _WHICH, *_PUT, _CLEAR),)
"""What states nothing."""


# ---- summaries and heartbeats ----------------------------------------------------------------------------


def _summary(prompt: Sequence[str]) -> str | None:
    """List what the user stated, word for word, after the summary so far; None for other prompts."""
    if (material := summary_material(prompt)) is None:
        return None
    earlier = [line.removeprefix("- ") for line in material.earlier.splitlines() if _tells(line)]
    said = [text for role, text in material.said if role == "user"]
    return listed((*earlier, *filter(None, map(_stated, said)))) or _texts_for("".join(said))["nothing"]


def _heartbeat(prompt: Sequence[str]) -> str | None:
    """List what has its time, word for word; news without one is not worth it. None for other prompts."""
    if (material := heartbeat_material(prompt)) is None:
        return None
    texts = JA if material.locale is Locale.JA else EN
    lines = [line for note in material.notes if (line := _coming_up(note, texts))]
    return _below(texts["coming_up"], lines) if lines else SILENT


def _coming_up(note: HeartbeatNote, texts: Texts) -> str:
    """The note with the first time that it has, unless it names that itself; empty where it has none."""
    why, when = next((each for each in note.why if each[0] != "changed"), ("", ""))
    if why in ("", "named"):
        return note.text if why else ""
    day = texts["day"].format(moment=datetime.fromisoformat(when))
    line = f"{day} {note.text}"
    return texts["missed"].format(text=line) if why == "missed" else line
