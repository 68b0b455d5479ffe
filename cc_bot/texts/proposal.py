"""Proposals: the change, its buttons, and the outcome."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cc_bot.domain.proposal import CallState, Proposal
from cc_bot.texts.area import Area, Both, Sentence


@dataclass(frozen=True, slots=True)
class Choice:
    """A kind of change, and the labels of its two buttons."""

    what: str  # has the parameter `id`, unless the item is new
    yes: str
    no: str


class ProposalTexts(Area):
    title = Sentence(ja="確認待ち", en="For you to decide")
    title_with_source = Sentence(ja="確認待ち（「{source}」から）", en="For you to decide (from “{source}”)")
    nothing_changed = Sentence(ja="まだ何も変わっていません。あなたが選んだときだけ実行します（7日間有効）。", en="Nothing has changed yet. It is done only if you choose it (open for 7 days).")
    nothing_done = Sentence(ja="まだ実行していません。承認されたときだけ実行します（10分間有効）。", en="Nothing has been done yet. It is done only if it is approved (open for 10 minutes).")
    nothing_changed_or_done = Sentence(ja="まだ何も変わっていません。選ばれたものだけを実行します（ツールは10分間、ほかは7日間有効）。", en="Nothing has changed yet. Only what is chosen is done (tools: open for 10 minutes, others: 7 days).")
    remember = Both(ja=Choice("💾 メモリに覚える", "覚える", "覚えない"), en=Choice("💾 Remember this", "Remember it", "Don't remember"))
    replace = Both(ja=Choice("✏️ メモリ #{id} と入れ替える", "入れ替える", "そのまま"), en=Choice("✏️ Replace memory #{id}", "Replace it", "Leave it"))
    change = Both(ja=Choice("✏️ メモリ #{id} を書き換える", "書き換える", "そのまま"), en=Choice("✏️ Change memory #{id}", "Change it", "Leave it"))
    forget = Both(ja=Choice("🗑️ メモリ #{id} を忘れる", "忘れる", "残す"), en=Choice("🗑️ Forget memory #{id}", "Forget it", "Keep it"))
    remind = Both(ja=Choice("⏰ お知らせを予約する", "予約する", "予約しない"), en=Choice("⏰ Set a reminder", "Set the reminder", "Don't set it"))
    cancel = Both(ja=Choice("🔕 お知らせ #{id} をやめる", "お知らせをやめる", "残す"), en=Choice("🔕 Cancel reminder #{id}", "Cancel the reminder", "Keep it"))
    call = Both(ja=Choice("🔧 ツールを実行する", "実行する", "実行しない"), en=Choice("🔧 Use a tool", "Do it", "Don't"))
    old_text = Sentence(ja="いまの内容", en="Text now")
    new_text = Sentence(ja="変えたあとの内容", en="Text after the change")
    field = Sentence(ja="{name}: {value}", en="{name}: {value}")
    changed_field = Sentence(ja="{name}: {old} → {new}", en="{name}: {old} → {new}")
    time_field = Sentence(ja="日時", en="When")
    time_distance = Sentence(ja="{time}（{moment}）", en="{time} ({moment})")
    repeat_with_next_time = Sentence(ja="🔁 {repeat}（次は {time}）", en="🔁 {repeat} (next: {time})")
    title_field = Sentence(ja="題名", en="Title")
    tool = Sentence(ja="ツール", en="Tool")
    arguments = Sentence(ja="渡す内容", en="Input")
    owners_only = Sentence(ja="ボットの管理者だけが選べます。", en="Only an owner of this bot can decide.")
    call_running = Sentence(ja="🔧 実行しています: {what}", en="🔧 In progress: {what}")
    call_done = Sentence(ja="🔧 実行しました: {what}", en="🔧 Done: {what}")
    call_failed = Sentence(ja="🔧 失敗しました: {what}", en="🔧 Failed: {what}")
    call_unknown = Sentence(ja="❓ 実行された可能性があります: {what}（途中で止まりました。繰り返す前に確かめてください）", en="❓ It may have been done: {what} (it was interrupted. Please check before you repeat it)")
    call_stopped = Sentence(ja="⏹️ 止めました: {what}（実行された可能性があります。繰り返す前に確かめてください）", en="⏹️ Stopped: {what} (it may have been done. Please check before you repeat it)")
    after_call = Sentence(ja="（「{what}」の実行が済みました。その結果をもとに、続きを答えてください。）", en="(“{what}” was used as you proposed. Please go on with what came of it.)")
    not_an_owner = Sentence(ja="これを決められるのは、ボットの管理者だけです。", en="Only an owner of this bot can decide this.")
    open_count = Sentence(ja="確認待ちを見る（{count}件）", en="See what to decide ({count})")
    all_in_file = Sentence(ja="長いので、全文は添付のファイルで確かめてください。", en="It is long. The attached file has the full text.")
    file_name = Sentence(ja="確認待ち.txt", en="to-decide.txt")
    declined = Sentence(ja="↩️ 実行しませんでした: {what}", en="↩️ Not done: {what}")
    none_open = Sentence(ja="この回答の提案は、もうすべて決まっています。", en="Everything that this answer proposed has been decided.")
    not_yours = Sentence(ja="これを決められるのは、質問した本人だけです。", en="Only the person who asked can decide this.")

    def reason(self, proposals: Sequence[Proposal]) -> str:
        """Say that nothing is done yet, and for how long proposals are open."""
        calls = [each.content.goes_on for each in proposals]
        if not any(calls):
            return self.nothing_changed
        return self.nothing_done if all(calls) else self.nothing_changed_or_done

    def outcome(self, state: CallState, what: str, *, stopped: bool = False) -> str:
        """`what` is formatted by the front end."""
        lines: Mapping[CallState, str] = {"claimed": self.call_running, "done": self.call_done, "failed": self.call_failed, "unknown": self.call_stopped if stopped else self.call_unknown}
        return lines[state].format(what=what)


# Arguments, one per line. No value may look like another argument: a line's first characters
# show its kind, and different objects never look the same.

_BAR: Final = "│ "  # before lines of a text below its name
_MAX_INLINE_CHARACTERS: Final = 60
_PLAIN_NAME: Final = re.compile(r"[\w.-]++")
# Characters that look like a spelled-out invisible one, or end a line outside of JSON.
_ESCAPED: Final = re.compile("⟨(?=U\\+)|[\u2028\u2029]")


def argument_lines(arguments: Mapping[str, Any]) -> str:
    """Write short values beside their names, texts below them, the rest as JSON."""
    return "\n".join(line for name, value in arguments.items() for line in _argument(name, value)) or "{}"


def _argument(name: str, value: Any) -> Iterator[str]:
    shown_name = name if _PLAIN_NAME.fullmatch(name) else _json(name)
    if not isinstance(value, str):
        yield f"{shown_name}: {_json(value, indent=2)}"
    elif value != value.strip() or "\r" in value or _ESCAPED.search(value):
        yield f"{shown_name}: {_json(value)}"
    elif "\n" in value or len(value) > _MAX_INLINE_CHARACTERS:
        yield f"{shown_name}:"
        yield from (f"{_BAR}{line}" for line in value.split("\n"))
    else:
        yield f"{shown_name}: {_json(value) if not value or _is_json(value) else value}"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _json(value: Any, indent: int | None = None) -> str:
    written = json.dumps(value, ensure_ascii=False, indent=indent)
    return _ESCAPED.sub(lambda each: f"\\u{ord(each[0]):04x}", written)
