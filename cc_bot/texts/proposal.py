"""Proposals, which a model leaves to its user: what would be done, how to choose, and what came of it."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Protocol
from zoneinfo import ZoneInfo

from cc_bot.domain.canvas import AddCard, AddChart, Canvas, CanvasCommand, Chart, Element, RemoveElement, SetMode, ShowText, UpdateCard
from cc_bot.domain.claimed_call import CallState
from cc_bot.domain.memory import Audience
from cc_bot.domain.message import spell_out
from cc_bot.domain.proposal import AS_IT_IS, NEVER, AddReminder, CallTool, CancelReminder, ChangeMemory, Draw, ForgetMemory, KeepMemory, Proposal, ProposedChange, memory_of, steps
from cc_bot.domain.schedule import Place, zone_named
from cc_bot.texts.area import Area, Both, Sentence, by_key
from cc_bot.texts.memory import MemoryCardTexts, MemoryTexts
from cc_bot.texts.reminder import RepeatTexts, described


@dataclass(frozen=True, slots=True)
class Choice:
    """A kind of change, and its two buttons: each names what its user gets."""

    what: str
    """Parameter: id, of the memory or the reminder; unless it is a new one."""
    yes: str
    no: str


class ProposalTexts(Area):
    title = Sentence(ja="確認待ち", en="For you to decide")
    numbered = Sentence(ja="確認待ち（{number}）", en="For you to decide ({number})")
    """Where there are several."""
    why = Sentence(ja="まだ何も変わっていません。あなたが選んだときだけ実行します（7日間有効）。", en="Nothing has changed yet. It is done only if you choose it (open for 7 days).")
    """That nothing is done yet: on Discord below the last one, in a terminal above the first."""
    why_call = Sentence(ja="まだ実行していません。承認されたときだけ実行します（10分間有効）。", en="Nothing has been done yet. It is done only once it is agreed to (open for 10 minutes).")
    """The same of uses of tools."""
    why_mixed = Sentence(ja="まだ何も変わっていません。選ばれたものだけを実行します（ツールは10分間、ほかは7日間有効）。", en="Nothing has changed yet. Only what is chosen is done (tools: open for 10 minutes, others: 7 days).")
    """The same of uses of tools beside other changes."""
    keep = Both(ja=Choice("💾 メモリに覚える", "覚える", "覚えない"), en=Choice("💾 Remember this", "Remember it", "Don't remember"))
    replace = Both(ja=Choice("✏️ メモリ #{id} と入れ替える", "入れ替える", "そのまま"), en=Choice("✏️ Replace memory #{id}", "Replace it", "Leave it"))
    change = Both(ja=Choice("✏️ メモリ #{id} を書き換える", "書き換える", "そのまま"), en=Choice("✏️ Change memory #{id}", "Change it", "Leave it"))
    forget = Both(ja=Choice("🗑️ メモリ #{id} を忘れる", "忘れる", "残す"), en=Choice("🗑️ Forget memory #{id}", "Forget it", "Keep it"))
    remind = Both(ja=Choice("⏰ お知らせを予約する", "予約する", "予約しない"), en=Choice("⏰ Set a reminder", "Set the reminder", "Don't set it"))
    cancel = Both(ja=Choice("🔕 お知らせ #{id} をやめる", "お知らせをやめる", "残す"), en=Choice("🔕 Cancel reminder #{id}", "Cancel the reminder", "Keep it"))
    draw = Both(ja=Choice("🖼️ キャンバスを変える", "キャンバスを変える", "変えない"), en=Choice("🖼️ Change the canvas", "Change the canvas", "Leave it"))
    call = Both(ja=Choice("🔧 ツールを実行する", "実行する", "実行しない"), en=Choice("🔧 Use a tool", "Do it", "Don't"))
    one_of = Sentence(ja="{number}. {label}", en="{number}. {label}")
    """A button where there are several proposals."""
    now = Sentence(ja="いまの内容", en="Text now")
    """Above the text that is there now."""
    then = Sentence(ja="変えたあとの内容", en="Text after the change")
    """Above the one that would be there."""
    field = Sentence(ja="{name}: {value}", en="{name}: {value}")
    """Parameters: name, value. Of what is filed with a memory, and of a time."""
    changed_field = Sentence(ja="{name}: {old} → {new}", en="{name}: {old} → {new}")
    time = Sentence(ja="日時", en="When")
    from_now = Sentence(ja="{time}（{moment}）", en="{time} ({moment})")
    """Parameters: time, moment. Once."""
    repeated = Sentence(ja="🔁 {repeat}（次は {time}）", en="🔁 {repeat} (next: {time})")
    """Parameters: repeat, time (the next one)."""
    draw_card = Sentence(ja="カードを出す: {title}", en="Put up a card: {title}")
    """Parameter: title, which may be empty; the content follows."""
    draw_text = Sentence(ja="文章を出す", en="Put up a text")
    draw_titled_text = Sentence(ja="文章を出す: {title}", en="Put up a text: {title}")
    draw_chart = by_key({"line": Sentence(ja="折れ線グラフを出す: {title}", en="Put up a line chart: {title}"), "bar": Sentence(ja="棒グラフを出す: {title}", en="Put up a bar chart: {title}"), "pie": Sentence(ja="円グラフを出す: {title}", en="Put up a pie chart: {title}")})
    draw_update = Sentence(ja="「{title}」を書き換える", en="Change “{title}”")
    draw_remove = Sentence(ja="「{title}」を下ろす", en="Take down “{title}”")
    title_of = Sentence(ja="題名", en="Title")
    layout = by_key({"list": Sentence(ja="縦に並べる", en="Show everything as a list"), "board": Sentence(ja="横に並べる", en="Show cards side by side"), "focus": Sentence(ja="「{title}」だけを大きく出す", en="Show “{title}” alone")})
    tool = Sentence(ja="ツール", en="Tool")
    arguments = Sentence(ja="渡す内容", en="It is given")
    owners = Sentence(ja="ボットの管理者だけが選べます。", en="Only an owner of this bot can choose.")
    """Who decides, where that is not who asked."""
    calling = Sentence(ja="🔧 実行しています: {what}", en="🔧 In progress: {what}")
    called = Sentence(ja="🔧 実行しました: {what}", en="🔧 Done: {what}")
    """Parameter: what, the server and its tool; so below."""
    call_failed = Sentence(ja="🔧 失敗しました: {what}", en="🔧 Failed: {what}")
    call_in_doubt = Sentence(ja="❓ 実行された可能性があります: {what}（途中で止まりました。繰り返す前に確かめてください）", en="❓ It may have been done: {what} (it was cut off. Please check before you repeat it)")
    call_stopped = Sentence(ja="⏹️ 止めました: {what}（実行された可能性があります。繰り返す前に確かめてください）", en="⏹️ Stopped: {what} (it may have been done. Please check before you repeat it)")
    after_call = Sentence(ja="（「{what}」の実行が済みました。その結果をもとに、続きを答えてください。）", en="(“{what}” was used as you proposed. Please go on with what came of it.)")
    """The question of the turn that goes on by itself."""
    owners_decide = Sentence(ja="これを決められるのは、ボットの管理者だけです。", en="Only an owner of this bot can decide this.")
    draw_clear = Sentence(ja="すべて下ろす", en="Take everything down")
    see = Sentence(ja="確認待ちを見る（{count}件）", en="See what to decide ({count})")
    """A button where they take too much room."""
    whole = Sentence(ja="長いので、全文は添付のファイルで確かめてください。", en="It is long: the attached file has all of it.")
    """Where a text is too long: it is in the file."""
    file_name = Sentence(ja="確認待ち.txt", en="to-decide.txt")
    left = Sentence(ja="↩️ 見送りました: {what}", en="↩️ Left as it was: {what}")
    """It was left undone. Parameter: what, of its texts the first."""
    not_made = Sentence(ja="↩️ 実行しませんでした: {what}", en="↩️ Not done: {what}")
    """The same of a use of a tool. Parameter: what, its name."""
    none_open = Sentence(ja="この回答の提案は、もうすべて決まっています。", en="Everything that this answer proposed is decided.")
    not_yours = Sentence(ja="これを決められるのは、質問した本人だけです。", en="Only the person who asked can decide this.")

    def reason(self, proposals: Sequence[Proposal]) -> str:
        """The sentence that nothing of these is done yet, and for how long they are open."""
        calls = [isinstance(each.change, CallTool) for each in proposals]
        if not any(calls):
            return self.why
        return self.why_call if all(calls) else self.why_mixed

    def outcome(self, state: CallState, what: str, *, stopped: bool = False) -> str:
        """The line that tells what came of a call that was agreed to; `what` is as a front end writes it."""
        lines: Mapping[CallState, str] = {"claimed": self.calling, "done": self.called, "failed": self.call_failed, "unknown": self.call_stopped if stopped else self.call_in_doubt}
        return lines[state].format(what=what)

    def undone(self, change: ProposedChange) -> str:
        """Return the line that tells that it was left undone; with what is meant to be put in."""
        return self.not_made if isinstance(change, CallTool) else self.left

    def choice(self, change: ProposedChange) -> Choice:
        if isinstance(change, KeepMemory):
            return self.keep if change.supersedes is None else self.replace
        choices: Mapping[type[ProposedChange], Choice] = {ChangeMemory: self.change, ForgetMemory: self.forget, AddReminder: self.remind, CancelReminder: self.cancel, Draw: self.draw, CallTool: self.call}
        return choices[type(change)]


@dataclass(frozen=True, slots=True)
class Time:
    """The time when a reminder is said."""

    due_at: datetime
    """The next time."""
    repeat: str
    """In words; empty for once."""
    zone: ZoneInfo | None = None
    """Where it counts, and below where it is said; None where that is not told."""
    place: Place | None = None


Value = str | datetime | Time | None
"""What stands in a line: a name, when something ends, when something is said, or that there is none."""


@dataclass(frozen=True, slots=True)
class Part:
    """A line, and what stands below it."""

    template: str
    values: Mapping[str, Value] = field(default_factory=dict)
    below: str | Chart | None = None

    def line(self, write: Callable[[Value], str]) -> str:
        """The line, with each value as a front end writes it."""
        return self.template.format(**{name: write(value) for name, value in self.values.items()})


class ProposalWords(Protocol):
    """The texts that a proposal is described with."""

    @property
    def proposal(self) -> ProposalTexts: ...
    @property
    def memory(self) -> MemoryTexts: ...
    @property
    def memory_card(self) -> MemoryCardTexts: ...
    @property
    def repeat(self) -> RepeatTexts: ...


def describe(proposal: Proposal, words: ProposalWords) -> Iterator[Part]:
    """Tell all that it would do, and what is there now; the first part says what kind of change it is."""
    change = proposal.change
    match change:
        case KeepMemory(content, supersedes=None):
            yield _head(change, words, content)
            yield from _filed(change, words)
        case KeepMemory(content, before=before):
            yield _head(change, words)
            yield from _rewritten(before, content, words)
            yield from _filed(change, words)
        case ChangeMemory(_, before, content):
            yield _head(change, words)
            yield from _rewritten(before, content, words)
            yield from _refiled(change, words)
        case ForgetMemory(_, before):
            yield _head(change, words, before)
        case AddReminder(text, due_at, repeat, timezone, place):
            yield _head(change, words, text)
            yield _time(due_at, repeat, words, zone_named(timezone), place)
        case CancelReminder(_, before, due_at, repeat):
            yield _head(change, words, before)
            if due_at is not None:
                yield _time(due_at, repeat, words)
        case Draw():
            yield _head(change, words)
            for command, canvas in steps(change, proposal.visibility):
                yield from _drawn(command, canvas, words)
        case CallTool(arguments=arguments, approvers=approvers):
            yield _head(change, words)
            yield _field(words.proposal.tool, _on_one_line(change.what), words)
            if approvers == "owners":
                yield Part(words.proposal.owners)
            yield Part(words.proposal.arguments, below=argument_lines(arguments))


def headline(change: ProposedChange, words: ProposalWords) -> str:
    """Say what kind of change it is, without any of its words."""
    row = change.schedule_id if isinstance(change, CancelReminder) else memory_of(change)
    return words.proposal.choice(change).what.format(id=getattr(change, "number", 0) or row)


def gist(proposal: Proposal, words: ProposalWords) -> str:
    """Say what its user knows it by, on one line: the first of its texts, or what kind of change it is."""
    if isinstance(proposal.change, CallTool):
        return _on_one_line(proposal.change.what)
    texts = (part.below for part in describe(proposal, words) if isinstance(part.below, str))
    return next(filter(None, map(_on_one_line, texts)), headline(proposal.change, words))


def _head(change: ProposedChange, words: ProposalWords, text: str | None = None) -> Part:
    return Part(headline(change, words), below=text)


def _rewritten(before: str | Chart | None, after: str | None, words: ProposalWords) -> Iterator[Part]:
    yield Part(words.proposal.now, below=before)
    if after is not None:
        yield Part(words.proposal.then, below=after)


def _field(name: str, value: Value, words: ProposalWords) -> Part:
    return Part(words.proposal.field, {"name": name, "value": value})


def _changed_field(name: str, old: Value, new: Value, words: ProposalWords) -> Iterator[Part]:
    """Tell of a field that changes; nothing of one that stays as it is."""
    if new != old:
        yield Part(words.proposal.changed_field, {"name": name, "old": old, "new": new})


def _on_one_line(text: str) -> str:
    """Write all of a text as a value of a line, with what no screen shows written as its number."""
    return spell_out(" ".join(text.split()))


# ---- memories ---------------------------------------------------------------------------------------------


def _filed(keep: KeepMemory, words: ProposalWords) -> Iterator[Part]:
    card = words.memory_card
    yield _field(card.category, _category(keep.category, words), words)
    if keep.tags:
        yield _field(card.tags, _tags(keep.tags), words)
    if keep.expires_at is not None:
        yield _field(card.end, keep.expires_at, words)
    yield _field(card.audience, _audience(keep.audience, words), words)


def _refiled(edit: ChangeMemory, words: ProposalWords) -> Iterator[Part]:
    card = words.memory_card
    if edit.category is not None:
        old, new = _category(edit.category_before, words), _category(edit.category, words)
        yield from _changed_field(card.category, old, new, words)
    if edit.tags is not None:
        yield from _changed_field(card.tags, _tags(edit.tags_before), _tags(edit.tags), words)
    if edit.expires_at != AS_IT_IS:
        end = None if edit.expires_at == NEVER else edit.expires_at
        yield from _changed_field(card.end, edit.expires_before, end, words)
    if edit.audience is not None:
        yield _field(card.audience, _audience(edit.audience, words), words)


def _category(stored: str, words: ProposalWords) -> str | None:
    return _on_one_line(words.memory.shown_category(stored)) or None


def _tags(tags: Sequence[str]) -> str | None:
    return _on_one_line(" ".join(f"#{tag}" for tag in tags)) or None


def _audience(audience: Audience, words: ProposalWords) -> str:
    return words.memory_card.private if audience == "private" else words.memory_card.anywhere


# ---- reminders --------------------------------------------------------------------------------------------


def _time(due_at: datetime, cron: str, words: ProposalWords, zone: ZoneInfo | None = None, place: Place | None = None) -> Part:
    repeat = _on_one_line(described(cron, words.repeat)) if cron else ""
    return _field(words.proposal.time, Time(due_at, repeat, zone, place), words)


# ---- drawings ---------------------------------------------------------------------------------------------


def _drawn(command: CanvasCommand, canvas: Canvas, words: ProposalWords) -> Iterator[Part]:
    """Tell of one step, beside what is up before it."""
    told = words.proposal
    match command:
        case AddCard(title, content):
            yield _titled(told.draw_card, title, content)
        case ShowText(content, title):
            yield _titled(told.draw_titled_text if title else told.draw_text, title, content)
        case AddChart(title, kind, labels, series):
            yield _titled(told.draw_chart[kind], title, Chart("chart", title, kind, labels, series))
        case UpdateCard(id_, title, content):
            old = canvas.element(id_)
            yield _titled(told.draw_update, _name(id_, canvas))
            if title is not None:
                before = _on_one_line(old.title if old else "") or None
                yield from _changed_field(told.title_of, before, _on_one_line(title), words)
            if content is not None:
                yield from _rewritten(_content(old), content, words)
        case RemoveElement(id_):
            yield _taken_down(id_, canvas, words)
        case SetMode("clear"):
            yield Part(told.draw_clear)
            yield from (_taken_down(each.id, canvas, words) for each in canvas.elements)
        case SetMode(mode, focus):
            yield _titled(told.layout[mode], _name(focus, canvas))


def _titled(template: str, title: str, below: str | Chart | None = None) -> Part:
    return Part(template, {"title": _on_one_line(title)}, below)


def _taken_down(id_: str, canvas: Canvas, words: ProposalWords) -> Part:
    return _titled(words.proposal.draw_remove, _name(id_, canvas), _content(canvas.element(id_)))


def _name(id_: str, canvas: Canvas) -> str:
    """Return what its user knows an element by; its id where it has no title, or is not up."""
    element = canvas.element(id_)
    return (element.title if element else "") or id_


def _content(element: Element | None) -> str | Chart | None:
    match element:
        case None | Chart():
            return element
        case _:
            return element.content


# ---- arguments --------------------------------------------------------------------------------------------
# Of a call, a line each, and all of them.
#
# Whoever wrote a value must not be able to make it look like another argument, so every line tells by its
# first signs what it is, and two different objects never look the same, not even by a sign that no screen
# shows.

_BAR: Final = "│ "
"""Before each line of a text that stands below its name."""
_SHORT: Final = 60
"""Characters of a text that stands beside its name."""
_PLAIN_NAME: Final = re.compile(r"[\w.-]++")
_ESCAPED: Final = re.compile("⟨(?=U\\+)|[\u2028\u2029]")
"""What would be taken for a sign that no screen shows, as others spell it out; and ends of lines that are none
to JSON."""


def argument_lines(arguments: str) -> str:
    """Write a JSON object for people to read: short values beside their names, texts as they are below them,
    and what has parts as JSON."""
    given = json.loads(arguments)
    return "\n".join(line for name, value in given.items() for line in _argument(name, value)) or "{}"


def _argument(name: str, value: Any) -> Iterator[str]:
    shown = name if _PLAIN_NAME.fullmatch(name) else _json(name)
    if not isinstance(value, str):
        yield f"{shown}: {_json(value, indent=2)}"
    elif value != value.strip() or "\r" in value or _ESCAPED.search(value):
        yield f"{shown}: {_json(value)}"
    elif "\n" in value or len(value) > _SHORT:
        yield f"{shown}:"
        yield from (f"{_BAR}{line}" for line in value.split("\n"))
    else:
        yield f"{shown}: {_json(value) if not value or _is_json(value) else value}"


def _is_json(text: str) -> bool:
    """Return whether a short text would be taken for a number, or for what is no text."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _json(value: Any, indent: int | None = None) -> str:
    written = json.dumps(value, ensure_ascii=False, indent=indent)
    return _ESCAPED.sub(lambda each: f"\\u{ord(each[0]):04x}", written)
