"""A rule-based model for use without an API key. It remembers, recalls, forgets, reminds, cancels and puts
lists on the canvas. It answers other messages with how to set up a model, once in a conversation."""

import json
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import RepeatNotUnderstood, WhenNotUnderstood
from cc_bot.domain.text import Locale, shorten
from cc_bot.domain.when.grammar import find_times, normalize
from cc_bot.domain.when.mentioned import mentions_day
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
from cc_bot.texts import texts as texts_in
from cc_bot.texts.replies import MomentTexts

_SENTENCES: Final = r"""
unknown | AIモデルなしでできるのは、次のようなことです。\n- 「鍵は玄関って覚えて」\n- 「鍵はどこ？」\n- 「明日9時に薬って知らせて」\n- 「買うものをキャンバスに出して: 牛乳、卵」\n\nほかのことにも答えるには、.env に OPENAI_API_KEY（手元のサーバーなら OPENAI_BASE_URL）を設定してください。 | Without an AI model I can do this:\n- “remember that my key is in the hall”\n- “where is my key?”\n- “remind me tomorrow at 9 to call mom”\n- “put a shopping list on the canvas: milk, eggs”\n\nFor anything else, set OPENAI_API_KEY in .env (or OPENAI_BASE_URL for your own server).
thanks | どういたしまして。 | You're welcome.
statement | 覚えておくには「{text}って覚えて」と書いてください。 | To have me remember that, write “remember that {text}”.
still_unknown | AIモデルがないため、それにはお答えできません。できることの一覧は /help で見られます。 | Sorry, I can't answer that without an AI model. /help shows what I can do.
not_here | この質問では、それはできません。ふつうの質問でもう一度お伝えください。 | I can't do that here. Please ask again in an ordinary question.
failed | できませんでした。{error} | I could not do that. {error}
proposed | まだ実行していません。下の提案を確かめて、どうするか選んでください。 | I have not done it yet. Please check the proposal below and choose.
remembered | 承知しました。「{text}」を覚えました。 | Remembered: “{text}”
remember_what | 何を覚えましょうか。「鍵は玄関って覚えて」のように書いてください。 | What should I remember? Write it like this: “remember that the key is in the hall”.
found | 「{text}」と覚えています。 | I remember: “{text}”
known | 覚えているのは次のことです。 | This is what I remember:
closest | はっきりしませんが、近いものは次のとおりです。 | I am not sure; these memories come closest:
not_found | メモリには見つかりませんでした。 | I found nothing about that in your memories.
forgotten | 「{text}」を忘れました。 | I forgot: “{text}”
forget_all | 保存しているものをすべて消すには、/privacy erase を使ってください。何が消えるかを見てから決められます。1件だけなら「〜を忘れて」と書いてください。 | To erase everything, use /privacy erase: it shows what would be erased, and asks first. For one memory, write “forget …”.
delete_which | #{id} は、お知らせにもメモリにも付く番号です。「お知らせ #{id} を消して」か「#{id}を忘れて」と書いてください。 | Both a reminder and a memory can be #{id}. Write “cancel reminder #{id}” or “forget #{id}”.
forget_which | どれのことでしょうか。「#番号を忘れて」で選んでください。 | Which one do you mean? Choose it with “forget #number”:
reminders | お知らせの予定は次のとおりです。 | These are your reminders:
no_reminders | お知らせの予定はありません。 | You have no reminders.
reminders_then | 次のお知らせがあります。ほかの予定は分かりません。 | You have these reminders then. I don't know of other plans.
nothing_then | お知らせはありません。メモリにも見つかりませんでした。 | You have no reminders then, and I found nothing about it in your memories.
scheduled | お知らせを予約しました。 | The reminder is set.
one_time | お知らせは1件ずつ予約します。「明日9時に薬って知らせて」のように、日と時刻を1つだけ書いてください。 | I set one reminder at a time. Write one day and time, like this: “remind me tomorrow at 9 to call mom”.
cancelled | 「{text}」のお知らせを取り消しました。 | I cancelled the reminder: “{text}”
undo_hint | 取り消すコマンドは、それぞれの結果といっしょに表示しています（/remind delete 1 など）。 | The command that undoes something is shown with its result, such as /remind delete 1.
cancel_which | どのお知らせでしょうか。1件ずつ、「お知らせ #番号 を消して」で選んでください。 | Which reminder do you mean? I cancel one at a time: choose it with “cancel reminder #number”.
remind_when | いつお知らせしましょうか。「明日9時に薬って知らせて」のように書いてください。 | When should I remind you? Write it like this: “remind me tomorrow at 9 to call mom”.
drawn | キャンバスに出しました。 | It is on the canvas.
emptied | 承知しました。 | All right.
draw_what | 何を書きましょうか。「買うものをキャンバスに出して: 牛乳、卵」のように書いてください。 | What should be on it? Write it like this: “put a shopping list on the canvas: milk, eggs”.
list | リスト | List
list_change | AIモデルがないと、出してあるリストを言葉で書き換えることはできません。「牛乳をキャンバスに出して」で新しいリストを足すか、「キャンバスを空にして」のあとで出し直してください。 | Without an AI model I can't change a list by words. Add a new one with “put milk on the canvas”, or write “clear the canvas” and make it again.
time_is_up | 時間です | It's time
"""  # noqa: E501 - a sentence is one line
_ROWS: Final = [
    [part.strip().replace(r"\n", "\n") for part in row.split("|")] for row in _SENTENCES.strip().splitlines()
]
JA: Final = {name: japanese for name, japanese, _ in _ROWS}
EN: Final = {name: english for name, _, english in _ROWS}

# Patterns that begin with `.+` take quadratic time.
MAX_CHARACTERS: Final = 400
_MAX_QUOTED: Final = 300
_MAX_FOUND: Final = 5
_MAX_LISTED: Final = 20
_EDGE: Final = " 　、,:：。."

_PROMPT_HEAD: Final = re.compile(
    r"\A(?:\[[^\n]+[.:]\](?:\n>[^\n]*)*(?:\n\n|\Z))*(?P<name>[^#:：\n]{1,40}#\d{6}:)?"
)
"""The headings, quotations and author's name that a prompt has before the author's text."""

_PLEASE_JA: Final = r"(?:おいて|ください|下さい|ほしい|もらえますか|もらえる|くれる|ね|よ)*[。！!？?\s]*"
_PLEASE_EN: Final = r"(?:(?:please|can you|could you|would you)[, ]+)?"
_END_EN: Final = r"(?:,? please)?[.!?\s]*"
_REMEMBER: Final = (
    re.compile(
        r"(?s)(?:覚えて|おぼえて|メモして|覚えといて|メモしといて)(?:おいて|ください|ね)*[:：、。\s]\s*(?P<what>.+)"
    ),
    re.compile(
        r"(?s)(?P<what>.*?)(?:という|って)?(?:こと)?(?:なので|だから|ので|から|を|って|と|は|、|。|\s)*"
        rf"(?:覚えて|おぼえて|メモして|忘れないで|(?:覚え|おぼえ|メモし)といて){_PLEASE_JA}"
    ),
    re.compile(
        rf"(?is){_PLEASE_EN}(?:remember|keep in mind|note|don't forget)(?: that| this)?[:,]?\s+"
        rf"(?P<what>.+?){_END_EN}"
    ),
    re.compile(
        rf"(?is)(?P<what>.+?)[.,;!]\s*{_PLEASE_EN}(?:remember|note|don't forget) (?:that|this|it){_END_EN}"
    ),
)
_PRONOUN: Final = re.compile(
    r"(?i)(?:[こそあ]れ|[こそあ]の(?:こと|話|件)|今の(?:こと|話)?)?も?|(?:this|that|it)(?: one)?(?: for me)?"
)
_FORGET: Final = (
    re.compile(
        r"(?s)(?P<what>.+?)(?:という|って)?(?:の?(?:こと|話|記憶))?(?:を|は|も)?\s*"
        rf"(?:忘れて|(?:取り?)?消して|削除して)(?:いいよ)?{_PLEASE_JA}"
    ),
    re.compile(rf"(?is){_PLEASE_EN}(?:forget|delete)(?: about| that)?\s+(?P<what>.+?){_END_EN}"),
)
_REMIND: Final = (
    re.compile(
        r"(?s)(?P<what>.+?)(?:(?:んだ|のだ)?(?:って|(?<!こ)と)|(?:こと|の)?[をで]|ように|の|、)?\s*"
        rf"(?:(?P<explicit>知らせて|お知らせを?して|リマインドして|通知して|起こして|思い出させて)|教えて){_PLEASE_JA}"
    ),
    re.compile(
        rf"(?is){_PLEASE_EN}(?:(?P<explicit>remind|wake) me|tell me)(?: to| about| of| that| up)*\s+"
        rf"(?P<what>.+?){_END_EN}"
    ),
)
_AND_REMIND: Final = (
    re.compile(
        r"(?:[。、]|(?<=[えしい]て)|(?<=ください))\s?(?:(?:当日|その日)の?)?(?P<time>[^\n。、]{0,30}?)(?:に|も)?\s?"
        rf"(?:(?:お知らせを?|リマインド|通知)して|(?:知らせ|教え|思い出させ)て){_PLEASE_JA}\Z"
    ),
    re.compile(
        rf"(?i)(?:[.,;!]|\sand)\s{_PLEASE_EN}remind me(?: (?:of|about) (?:it|that))?"
        rf"(?P<time>[^\n.]{{0,30}}?){_END_EN}\Z"
    ),
)
"""The end of `来週の金曜は歯医者。覚えて、当日の朝に知らせて`."""
_REASON: Final = re.compile(r"(?:を|(?:の|だ|な)?(?:から|ので|こと))\Z")
_QUESTION: Final = re.compile(
    r"(?is).+[?？]\s*|.+(?:(?<!こんにち)(?<!こんばん)は|っけ|ですか|ますか|教えて(?:ください)?)[。\s]*"
    r"|(?:what|which|who|whose|when|where|how|why|do|does|did|is|are|am|was|were|tell me)\b.+"
)
_WHERE: Final = re.compile(r"(?i)\b(?:tell me|where(?:'s| is| are)?)\b")  # these words are in no memory
_STATEMENT: Final = re.compile(
    r"(?is).+[はがをも].*(?:です|ます|でした|ました|だ|だった)[よね。！!\s]*"
    r"|(?:my\b.+\b(?:is|are)|i am|i'm|i’m|i (?:like|love|live|work|have|prefer))\b.+"
)
_QUESTION_ABOUT_ALL: Final = re.compile(
    r"(?i)(?:what do you (?:know|remember)(?: about me)?|(?:show|list|what are)(?: me)? my memories)[?.!\s]*"
    r"|(?:私について)?何を(?:覚えて|知って)い?(?:る|ますか)[?？。\s]*"
    r"|(?:私について)?(?:(?:覚えて|知って)い?ること|メモリ)"
    r"(?:は|の?一覧|を?(?:全部|ぜんぶ|すべて)?(?:教えて|見せて)(?:ください)?)[?？。\s]*"
)
_QUESTION_ABOUT_REMINDERS: Final = re.compile(
    r"(?i)\b(?:what|which|show|list)\b[^\n]{0,40}\breminders\b"
    r"|(?:お知らせ|リマインダー)[^\n]{0,10}(?:[?？]|見せて|一覧|教えて)"
    r"|\A(?![^\n]{0,40}[時分]に)[^\n]{0,20}予定(?:は|を|って|、)?(?:[?？]|\Z|見せて|一覧|教えて|ある|何|空)"
    r"|(?<!腹)(?:空いて|あいて)[いるま][^\n]{0,6}[?？]|(?:暇|ひま)(?:かな|です)?か?[?？]"
    r"|\b(?:what|show|list)\b[^\n]{0,20}\b(?:my|have) (?:plans|schedule|planned)\b|\bam i (?:free|busy)\b"
)
_EVERYTHING: Final = re.compile(
    r"(?i)(?:全部|ぜんぶ|全て|すべて|何もかも|みんな)(?:の?(?:こと|記憶|メモリ))?|everything|all"
)
_CANCEL: Final = (
    re.compile(
        r"(?s)(?P<what>.*?)(?:の|した)?(?:お知らせ|リマインダー|リマインド)(?P<id>[^消取削]{0,12}?)(?:を|は)?\s*"
        rf"(?:消して|取り消して|取消して|削除して|キャンセルして|やめて){_PLEASE_JA}"
    ),
    re.compile(
        rf"(?is){_PLEASE_EN}(?:cancel|delete|remove|forget)\s+(?:the |my )?(?P<what>.*?)\breminders?\b"
        rf"(?: about| to| for| of| number)?(?P<id>.*?){_END_EN}"
    ),
)
_CANCEL_NUMBER: Final = (
    re.compile(
        r"(?P<what>)(?P<id>[#＃]?\d{1,18}番?)[をは]?\s*"
        rf"(?:(?:取り?)?消して|削除して|キャンセルして|やめて){_PLEASE_JA}"
    ),
    re.compile(rf"(?i){_PLEASE_EN}(?:cancel|delete|remove)\s+(?P<what>)(?P<id>#?\d{{1,18}}){_END_EN}"),
)
"""Means a reminder after a list of reminders; otherwise it may be a memory."""
_UNDO: Final = re.compile(
    r"(?i)(?:(?:[こそ]れ|(?:さっき|今|いま|直前)の?|やっぱり?)[をは、\s]*)?"
    rf"(?:取り?消し(?:て)?|消して|キャンセル(?:して)?|やめて|(?:元に)?戻して){_PLEASE_JA}"
    rf"|{_PLEASE_EN}(?:undo|cancel|revert)(?: that| this| it)?{_END_EN}"
)
_GREETING: Final = re.compile(
    r"(?i)(?:(?:こんにち|こんばん)[はわ]|おはよう(?:ございます)?|hello|hi|hey"
    r"|(?:何|なに)が(?:できる|できます)か?|(?:使い方|ヘルプ)(?:は|を教えて)?|what can you do)[?？。！!.\s]*"
)
_THANKS: Final = re.compile(r"(?i)(?:ありがとう(?:ございます|ございました)?|thanks|thank you)[。！!.\s]*")
_ON_CANVAS: Final = re.compile(r"キャンバスに|\son (?:the|my) canvas\b")
# Matched without the part that names the canvas.
_DRAW: Final = (
    re.compile(
        r"(?s)(?P<what>.+?)[を、]?(?:出して|書いて|作って|描いて|のせて)(?:おいて|ください|ね)*[。！!\s]*"
        r"(?:[:：]\s*(?P<items>.+))?"
    ),
    re.compile(
        rf"(?is){_PLEASE_EN}(?:put|make|show|write|draw|create)\s+(?:an? |the |my )?(?P<what>.+?)"
        rf"(?:\s*:\s*(?P<items>.+?))?{_END_EN}"
    ),
)
_EMPTY_CANVAS: Final = re.compile(
    rf"(?i)キャンバスを(?:消して|空にして|片付けて){_PLEASE_JA}"
    rf"|{_PLEASE_EN}(?:clear|empty) (?:the|my) canvas{_END_EN}"
)
_LIST_NAME: Final = re.compile(
    r"(?i).*(?:リスト|一覧|メモ|もの|こと|グラフ|図|絵|list|to-?dos?|chart|graph|picture)"
)
_ITEM_BREAK: Final = re.compile(r"[、,，・\n]|\band\b")
_CHANGE_LIST: Final = re.compile(
    rf"(?i)(?:リスト|一覧|キャンバス)(?:に|から|の)[^\n]{{1,100}}(?:し|加え|入れ|取っ)て{_PLEASE_JA}\Z"
    rf"|\A{_PLEASE_EN}(?:add|put|tick|check|cross|delete|remove)\s[^\n]{{1,100}}\s(?:list|canvas|off){_END_EN}\Z"
)
_HALF_OF_TIME: Final = re.compile(
    r"\Aと|と(?:その)?(?:前の?日|前夜|当日|翌日)の?\Z|\b(?:and|also)\Z"
    r"|[時分日週朝昼夕夜晩前]に?も\Z|\d (?:too|as well)\Z"
)
_NEWEST: Final = re.compile(
    r"(?i)(?:さっき|いま|今|最後|最新|直前|前)(?:の|予約)?|last|latest|newest|previous|that"
)
_NUMBER: Final = re.compile(r"[#＃]?(\d{1,18})番?")
_KANA_OR_KANJI: Final = re.compile(r"[ぁ-ゖァ-ヺ一-鿿]")
_ENGLISH_WORD_AND_MORE: Final = re.compile(r"[A-Za-z'][ ,]+\S")


_Step = str | ToolRequest  # an answer, or a call whose result the answer needs


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
    if SILENT in next(systems, ""):  # the instructions allow this answer
        return SILENT
    turn = _Turn(request)
    if len(turn.message) > MAX_CHARACTERS or turn.has_images:
        return turn.unknown
    step = next((step for take_step in _STEPS if (step := take_step(turn))), turn.unknown)
    return turn.texts["not_here"] if isinstance(step, ToolRequest) and step.name not in turn.tools else step


class _Turn:
    def __init__(self, request: ChatRequest) -> None:
        user_parts = [at for at, part in enumerate(request.prompt) if isinstance(part, UserPart)]
        question, *later_parts = request.prompt[user_parts[-1] :] if user_parts else (UserPart(""),)
        self.message = _author_text(question.text)
        self.has_images = isinstance(question, UserPart) and bool(question.images)
        self.results = {
            part.name: _parse_result(part.text) for part in later_parts if isinstance(part, ToolResultPart)
        }
        self.tools = frozenset(tool.name for tool in request.tools)
        # An emoji, a URL or a single word has the language of the last instructions' first line.
        systems = [part.text for part in request.prompt if isinstance(part, SystemPart)]
        first_line = systems[-1].partition("\n")[0] if systems else ""
        sample = self.message if _ENGLISH_WORD_AND_MORE.search(self.message) else self.message + first_line
        self.locale = Locale.JA if _KANA_OR_KANJI.search(sample) else Locale.EN
        self.texts = JA if self.locale is Locale.JA else EN
        answers = [part.text for part in request.prompt if isinstance(part, AssistantPart) and part.text]
        lists = tuple(each[name] for each in (JA, EN) for name in ("reminders", "cancel_which"))
        self.follows_reminders = bool(answers) and answers[-1].startswith(lists)
        was_said = any(each["unknown"] in answer for answer in answers for each in (JA, EN))
        self.unknown = self.texts["still_unknown" if was_said else "unknown"]

    def outcome(self, tool: str, sentence: str) -> str | None:
        """Return the sentence about a tool's result (`sentence` if it succeeded); None before its call."""
        if (result := self.results.get(tool)) is None:
            return None
        if (error := result.get("error")) is not None:
            return self.texts["failed"].format(error=error)
        return self.texts["proposed"] if result.get("proposed") is True else sentence

    def result_rows(self, tool: str, key: str = "memories") -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.results.get(tool, {}).get(key, [])
        return rows

    def list_reminders(self, heading: str, reminders: Iterable[Mapping[str, Any]]) -> str:
        texts, now = texts_in(self.locale)[MomentTexts], utc_now()
        times = ((each, texts.written(datetime.fromisoformat(each["when"]), now)) for each in reminders)
        lines = (f"- #{each['id']} {time} {_shorten(each['text'])}" for each, time in times)
        return "\n".join((self.texts[heading], *lines))


def _call(tool: str, **arguments: object) -> ToolRequest:
    return ToolRequest("", tool, json.dumps(arguments, ensure_ascii=False))


def _author_text(text: str) -> str:
    """Remove the heading, name and indentation that a prompt adds."""
    head = _PROMPT_HEAD.match(text)
    body = text[head.end() :] if head else text
    return (body.replace("\n  ", "\n") if head and head["name"] else body).strip()


def _parse_result(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return {"error": text}
    return value if isinstance(value, dict) else {"error": text}


def _shorten(text: object) -> str:
    return shorten(" ".join(str(text).split()).rstrip("。"), _MAX_QUOTED)


def _first_match(patterns: Iterable[re.Pattern[str]], text: str) -> re.Match[str] | None:
    return next(filter(None, (pattern.fullmatch(text) for pattern in patterns)), None)


def _step_to_remember(turn: _Turn) -> _Step | None:
    match = _first_match(_REMEMBER, turn.message)
    return _remember(turn, match["what"].strip(_EDGE)) if match else None


def _remember(turn: _Turn, content: str) -> _Step:
    if _PRONOUN.fullmatch(content):
        return turn.texts["remember_what"]
    sentence = turn.texts["remembered"].format(text=_shorten(content))
    return turn.outcome("remember", sentence) or _call("remember", content=content)


def _step_to_choose(turn: _Turn) -> _Step | None:
    match = _first_match(_CANCEL_NUMBER, turn.message)
    return turn.texts["delete_which"].format(id=match["id"].strip("#＃番")) if match else None


def _step_to_forget(turn: _Turn) -> _Step | None:
    """Forget a memory only if exactly one may be meant."""
    if (match := _first_match(_FORGET, turn.message)) is None:
        return None
    what = match["what"].strip()
    if _EVERYTHING.fullmatch(what):
        return turn.texts["forget_all"]
    forgotten = turn.results.get("forget", {}).get("forgotten") or {}
    if sentence := turn.outcome(
        "forget", turn.texts["forgotten"].format(text=_shorten(forgotten.get("content")))
    ):
        return sentence
    notes, number = turn.result_rows("recall"), _NUMBER.fullmatch(what)
    sure_notes = [note for note in notes if note.get("confidence") == "sure"]
    if number or len(sure_notes) == 1:
        return _call("forget", id=int(number[1]) if number else sure_notes[0]["id"])
    if notes:
        lines = (f"- #{note['id']} {_shorten(note['content'])}" for note in sure_notes or notes)
        return "\n".join((turn.texts["forget_which"], *lines))
    call = _call("recall", query=what, limit=_MAX_FOUND)
    return turn.outcome("recall", turn.texts["not_found"]) or call


def _step_to_recall(turn: _Turn) -> _Step | None:
    asks_for_all = _QUESTION_ABOUT_ALL.fullmatch(turn.message) is not None
    if not (asks_for_all or _QUESTION.fullmatch(turn.message)):
        return None
    call = _call("recall", query=_WHERE.sub("", turn.message), limit=_MAX_FOUND)
    call = _call("list_memories", limit=_MAX_LISTED) if asks_for_all else call
    if call.name in turn.tools and call.name not in turn.results:
        return call
    memories = turn.result_rows(call.name)
    if not memories:
        if "list_schedules" in turn.results:
            return turn.texts["nothing_then"]
        return f"{turn.texts['not_found']}\n{turn.unknown}"
    best = memories[0].get("confidence")
    notes = [each for each in memories if each.get("confidence") == best]
    facts = [_shorten(each.get("content")) for each in sorted(notes, key=lambda each: -int(each["id"]))]
    if len(facts) == 1 and best == "sure":
        return turn.texts["found"].format(text=facts[0])
    heading = turn.texts["known" if asks_for_all or best == "sure" else "closest"]
    return "\n".join((heading, *(f"- {fact}" for fact in facts)))


def _step_to_greet(turn: _Turn) -> _Step | None:
    sentences = ((_GREETING, "unknown"), (_THANKS, "thanks"), (_UNDO, "undo_hint"))
    return next((turn.texts[name] for pattern, name in sentences if pattern.fullmatch(turn.message)), None)


def _step_to_suggest(turn: _Turn) -> _Step | None:
    """Suggest to remember a statement, such as `私の名前は太郎です`."""
    text = turn.message.rstrip("。.！! ")
    return turn.texts["statement"].format(text=text) if _STATEMENT.fullmatch(text) else None


def _step_to_draw(turn: _Turn) -> _Step | None:
    """Put a check list on the canvas, such as `買うものをキャンバスに出して: 牛乳、卵`."""
    if _EMPTY_CANVAS.fullmatch(turn.message):
        call = _call("canvas_set_mode", mode="clear")
        return turn.outcome("canvas_set_mode", turn.texts["emptied"]) or call
    match = _first_match(_DRAW, _ON_CANVAS.sub("", turn.message, count=1))
    if match is None or not _ON_CANVAS.search(turn.message):
        return turn.texts["list_change"] if _CHANGE_LIST.search(turn.message) else None
    title, items = (match["what"], match["items"]) if match["items"] else ("", match["what"])
    if _PRONOUN.fullmatch(title):
        title = turn.texts["list"]
    if not match["items"] and _LIST_NAME.fullmatch(items):
        return turn.texts["draw_what"]
    content = "\n".join(
        f"- [ ] {item.strip()}" for item in _ITEM_BREAK.split(items.strip("。 ")) if item.strip()
    )
    call = _call("canvas_add_card", title=title, content=content)
    return turn.outcome("canvas_add_card", turn.texts["drawn"]) or call


def _step_to_list(turn: _Turn) -> _Step | None:
    message = normalize(turn.message)
    names_day = any(words.day_kinds for *_, words in find_times(message))
    if not _QUESTION_ABOUT_REMINDERS.search(message):
        return None
    reminders = turn.result_rows("list_schedules", "schedules")
    if names_day and "list_schedules" in turn.results:
        then = [each for each in reminders if _may_be_then(each, message)]
        found = turn.list_reminders("reminders_then", then) if then else _step_to_recall(turn)
        return found or turn.texts["nothing_then"]
    sentence = turn.list_reminders("reminders", reminders) if reminders else turn.texts["no_reminders"]
    return turn.outcome("list_schedules", sentence) or _call("list_schedules")


def _may_be_then(reminder: Mapping[str, Any], message: str) -> bool:
    due = datetime.fromisoformat(reminder["when"])
    now = utc_now().astimezone(due.tzinfo).replace(tzinfo=UTC)  # the local time, as if in UTC
    return "repeat" in reminder or mentions_day(due.date(), message, now, ZoneInfo("UTC"))


def _step_to_cancel(turn: _Turn) -> _Step | None:
    """Cancel a reminder only if exactly one may be meant."""
    patterns = (*_CANCEL, *_CANCEL_NUMBER) if turn.follows_reminders else _CANCEL
    if (match := _first_match(patterns, turn.message)) is None:
        return None
    cancelled = turn.results.get("cancel_schedule", {}).get("cancelled") or {}
    sentence = turn.texts["cancelled"].format(text=_shorten(cancelled.get("text")))
    if outcome := turn.outcome("cancel_schedule", sentence):
        return outcome
    wanted = f"{match['what']} {match['id']}".strip(" 、を").casefold().removeprefix("the ")
    if number := _NUMBER.fullmatch(wanted):
        return _call("cancel_schedule", id=int(number[1]))
    reminders = turn.result_rows("list_schedules", "schedules")
    if not reminders:
        return turn.outcome("list_schedules", turn.texts["no_reminders"]) or _call("list_schedules")
    meant = [each for each in reminders if wanted in each["text"].casefold()]
    if _NEWEST.fullmatch(wanted):
        meant = [max(reminders, key=lambda each: int(each["id"]))]
    if len(meant) == 1:
        return _call("cancel_schedule", id=meant[0]["id"])
    return turn.list_reminders("cancel_which", meant or reminders)


def _step_to_remind(turn: _Turn) -> _Step | None:
    if (match := _first_match(_REMIND, turn.message)) is None:
        return None
    body = match["what"].strip()
    try:
        when, text = split_when(body)
    except WhenNotUnderstood:
        return turn.texts["remind_when"] if match["explicit"] else None
    except RepeatNotUnderstood:  # the tool's error says which repeats there are
        when = text = body
    if _HALF_OF_TIME.search(text):
        return turn.texts["one_time"]
    return _remind(turn, when, text)


def _remind(turn: _Turn, when: str, text: str) -> _Step:
    text = _REASON.sub("", text.strip(_EDGE)) or turn.texts["time_is_up"]
    return turn.outcome("schedule", turn.texts["scheduled"]) or _call("schedule", when=when, text=text)


def _step_to_remember_and_remind(turn: _Turn) -> _Step | None:
    """Set a reminder for a fact, and remember the fact if asked to."""
    match = next(filter(None, (pattern.search(turn.message) for pattern in _AND_REMIND)), None)
    if match is None:
        return None
    fact = turn.message[: match.start()]
    if note := _first_match(_REMEMBER, fact):
        fact = note["what"].strip(_EDGE)
    day, text = _try_split(fact) or ("", fact)
    when = f"{day} {match['time'].strip()}".strip()
    is_time = _try_split(when) == (when, "")
    if not (is_time or note) or _PRONOUN.fullmatch(fact):
        return None
    reminded = _remind(turn, when, text) if is_time else turn.texts["remind_when"]
    if not note or isinstance(reminded, ToolRequest):
        return reminded
    reminder = turn.results.get("schedule", {}).get("scheduled")
    if reminder and day and not any(words.clocks for *_, words in find_times(normalize(day))):
        local = datetime.fromisoformat(reminder["when"])
        fact = fact.replace(day, texts_in(turn.locale)[MomentTexts].name_day(local, utc_now()))
    remembered = _remember(turn, fact)
    return remembered if isinstance(remembered, ToolRequest) else f"{remembered}\n{reminded}"


def _try_split(text: str) -> tuple[str, str] | None:
    try:
        return split_when(text)
    except (WhenNotUnderstood, RepeatNotUnderstood):
        return None


# Each returns None if the message asks for something else.
_STEPS: Final[Sequence[Callable[[_Turn], _Step | None]]] = (
    _step_to_greet,
    _step_to_draw,
    _step_to_cancel,
    _step_to_list,
    _step_to_remember_and_remind,
    _step_to_remind,
    _step_to_remember,
    _step_to_choose,
    _step_to_forget,
    _step_to_recall,
    _step_to_suggest,
)
